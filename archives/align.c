/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/align.h"

#include <errno.h>

#include "archives/align-internal.h"

const char *fx_alignment_text(enum fx_alignment how)
{
	static const char *const texts[] = {"not at all",
#define FX_ALIGNMENT_TEXT_(name, text) text,
					    FX_ALIGNMENTS(FX_ALIGNMENT_TEXT_)
#undef FX_ALIGNMENT_TEXT_
	};

	return texts[how];
}

bool fx_align_is_same_machine(const struct fx_facts *a, const struct fx_facts *b)
{
	return a->has_clock && b->has_clock && (a->clock.boot[0] || a->clock.boot[1]) &&
	       a->clock.boot[0] == b->clock.boot[0] && a->clock.boot[1] == b->clock.boot[1];
}

bool fx_align_is_backwards(struct fx_aligned *archives, const struct fx_link *link)
{
	return fx_clockmap_to(&archives[link->from].map, link->sent) >
	       fx_clockmap_to(&archives[link->to].map, link->received);
}

static struct fx_aligned *align_leader(struct fx_aligned *archives, struct fx_aligned *a)
{
	for (struct fx_aligned *b = archives; b < a && !a->has_offset; b++) {
		if (!b->leader && fx_align_is_same_machine(&a->facts, &b->facts))
			return b;
	}
	return NULL;
}

/* The times that an archive's clock is for: those of all that have it. */
static void align_ranges(struct fx_aligned *archives, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fx_aligned *a = &archives[i], *leader = a->leader;
		uint64_t first = a->facts.first_ns, last = a->facts.last_ns;
		int64_t more = leader ? leader->facts.clock.offset - a->facts.clock.offset : 0;

		a->first_ns = first;
		a->last_ns = last;
		if (!leader || first == UINT64_MAX)
			continue;
		first = fx_align_moved(first, more);
		last = fx_align_moved(last, more);
		if (first < leader->first_ns)
			leader->first_ns = first;
		if (leader->last_ns == UINT64_MAX || last > leader->last_ns)
			leader->last_ns = last;
	}
}

/*
 * Times that differ in an archive have to do so in the new one, for two calls that begin at the same time do not nest.
 * So the clock that runs fastest is the one that all are told by.
 */
static void align_spread(struct fx_aligned *archives, size_t count)
{
	double slowest = 1;
	uint64_t at = archives[0].map.points.count > 0 ? archives[0].map.points.items[0].to : 0;

	for (size_t i = 0; i < count; i++) {
		double slope = fx_clockmap_slope(&archives[i].map);

		slowest = slope < slowest ? slope : slowest;
	}
	for (size_t i = 0; i < count; i++) {
		if (slowest < 1)
			fx_clockmap_tilt(&archives[i].map, 0, 1 / slowest - 1, at);
		fx_clockmap_spread(&archives[i].map);
	}
}

static int align_once(struct fx_align_work *work)
{
	struct fx_aligned *archives = work->archives;
	size_t count = work->count;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		fx_clockmap_free(&archives[i].map);
		archives[i].how = FX_ALIGN_NONE;
		archives[i].is_contradicted = false;
		if (!archives[i].leader)
			r = fx_align_alone(archives, &archives[i]);
	}
	/* Once before messages, which shall be in order in the end. */
	align_spread(archives, count);
	if (r == 0)
		r = fx_align_by_messages(work);
	align_spread(archives, count);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (!archives[i].leader || archives[i].leader->how == FX_ALIGN_NONE)
			continue;
		archives[i].error = archives[i].leader->error;
		r = fx_align_by_machine(&archives[i], archives[i].leader);
	}
	return r;
}

/* So often what is out of order after all is taken into account. */
#define ALIGN_ROUNDS 4

int fx_align(struct fx_aligned *archives, size_t count, struct fx_links *links)
{
	struct fx_align_work work = {.archives = archives, .count = count, .links = links};
	int r;

	for (size_t i = 0; i < count; i++)
		archives[i].leader = align_leader(archives, &archives[i]);
	align_ranges(archives, count);
	fx_between_init(&work.between, count);
	r = fx_align_see_all(&work);
	if (r == 0)
		r = align_once(&work);
	work.is_again = true;
	for (int round = 1; round < ALIGN_ROUNDS && r == 0; round++) {
		work.backwards = 0;
		r = fx_align_see_all(&work);
		if (r < 0 || work.backwards == 0)
			break;
		r = align_once(&work);
	}
	fx_between_free(&work.between);
	return r;
}
