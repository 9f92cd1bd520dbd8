/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/align.h"

#include <errno.h>
#include <stdlib.h>

#include "archives/bounds.h"

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

/* A time and a distance, where that is one; else an end of all times. */
static uint64_t align_moved(uint64_t ns, int64_t by)
{
	if (by < 0)
		return ns > 0 - (uint64_t)by ? ns - (0 - (uint64_t)by) : 0;
	return ns < UINT64_MAX - (uint64_t)by ? ns + (uint64_t)by : UINT64_MAX;
}

/* --- One archive ------------------------------------------------------------------------------ */

static int align_by_offset(struct fx_aligned *a, int64_t offset, enum fx_alignment how)
{
	const struct fx_facts *facts = &a->facts;

	a->how = how;
	if (facts->first_ns == UINT64_MAX)
		return 0;
	if (fx_clockmap_add(&a->map, facts->first_ns, align_moved(facts->first_ns, offset)) < 0)
		return -ENOMEM;
	return fx_clockmap_add(&a->map, facts->last_ns, align_moved(facts->last_ns, offset));
}

/* The clock of another archive, but for what time namespaces add. */
static int align_by_machine(struct fx_aligned *a, struct fx_aligned *other)
{
	int64_t more = other->facts.clock.offset - a->facts.clock.offset;
	int r = 0;

	if (other->map.points.count == 0)
		return align_by_offset(a, more, FX_ALIGN_MACHINE);
	a->how = FX_ALIGN_MACHINE;
	for (size_t i = 0; i < other->map.points.count && r == 0; i++) {
		const struct fx_clockpoint *p = &other->map.points.items[i];

		r = fx_clockmap_add(&a->map, align_moved(p->from, -more), p->to);
	}
	return r;
}

static int align_date(struct fx_aligned *a, struct fx_aligned *other, uint64_t ns)
{
	uint64_t date = fx_clockmap_to(&a->facts.dates, ns);

	return fx_clockmap_add(
	    &a->map, ns, fx_clockmap_to(&other->map, fx_clockmap_from(&other->facts.dates, date)));
}

/* The two had the same date at the same time. */
static int align_by_dates(struct fx_aligned *a, struct fx_aligned *other)
{
	const struct fx_facts *facts = &a->facts;
	int r = 0;

	a->how = FX_ALIGN_DATES;
	if (facts->first_ns == UINT64_MAX)
		return 0;
	if (facts->first_ns < facts->dates.points.items[0].from)
		r = align_date(a, other, facts->first_ns);
	for (size_t i = 0; i < facts->dates.points.count && r == 0; i++)
		r = align_date(a, other, facts->dates.points.items[i].from);
	return r < 0 ? r : align_date(a, other, facts->last_ns);
}

/* --- Messages --------------------------------------------------------------------------------- */

/* What the messages between two archives say of the first one's clock. */
static int align_gather(struct fx_aligned *a, struct fx_aligned *other, struct fx_bounds *bounds)
{
	struct fx_stream_end *end, *next;
	int r = 0;

	HASH_ITER (hh, a->facts.messages.ends, end, next) {
		const struct fx_stream_end *peer =
		    fx_messages_find(&other->facts.messages, end->other_key);
		const fx_message_list *sent = &end->calls[FX_DIRECTION_SENT];
		const fx_message_list *received = &end->calls[FX_DIRECTION_RECEIVED];

		if (!peer || end->is_odd)
			continue;
		for (size_t i = 0; i < peer->calls[FX_DIRECTION_RECEIVED].count && r == 0; i++) {
			const struct fx_message *in = &peer->calls[FX_DIRECTION_RECEIVED].items[i];
			const struct fx_message *out = fx_messages_reach(sent, in->position);

			if (out)
				r = fx_bounds_add(bounds, false, fx_clockmap_to(&a->map, out->ns),
						  fx_clockmap_to(&other->map, in->ns));
		}
		for (size_t i = 0; i < received->count && r == 0; i++) {
			const struct fx_message *in = &received->items[i];
			const struct fx_message *out =
			    fx_messages_reach(&peer->calls[FX_DIRECTION_SENT], in->position);

			if (out)
				r = fx_bounds_add(bounds, true, fx_clockmap_to(&a->map, in->ns),
						  fx_clockmap_to(&other->map, out->ns));
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Moves what is known of an archive's clock so that its messages are in order; or makes it known. */
static int align_by_messages(struct fx_aligned *archives, size_t count, struct fx_aligned *a)
{
	struct fx_bounds bounds = {0};
	struct fx_line line;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		if (&archives[i] != a && archives[i].how != FX_ALIGN_NONE && !archives[i].leader)
			r = align_gather(a, &archives[i], &bounds);
	}
	if (r == 0 && bounds.count > 0) {
		a->is_contradicted = !fx_bounds_solve(&bounds, a->how != FX_ALIGN_NONE, &line);
		if (!a->is_contradicted && a->how == FX_ALIGN_NONE)
			r = align_by_offset(a, 0, FX_ALIGN_MESSAGES);
		else if (!a->is_contradicted && (line.constant != 0 || line.slope != 0))
			a->how = FX_ALIGN_BOTH;
		if (r == 0 && !a->is_contradicted)
			fx_clockmap_tilt(&a->map, line.constant, line.slope, line.at);
	}
	fx_bounds_free(&bounds);
	return r;
}

/* --- All -------------------------------------------------------------------------------------- */

static struct fx_aligned *align_leader(struct fx_aligned *archives, struct fx_aligned *a)
{
	for (struct fx_aligned *b = archives; b < a && !a->has_offset; b++) {
		if (!b->leader && fx_align_is_same_machine(&a->facts, &b->facts))
			return b;
	}
	return NULL;
}

/* What needs no other's clock but that of an archive with a date. */
static int align_alone(struct fx_aligned *archives, struct fx_aligned *a)
{
	if (a == archives)
		return align_by_offset(a, a->offset, FX_ALIGN_FIRST);
	if (a->has_offset)
		return align_by_offset(a, a->offset, FX_ALIGN_OFFSET);
	for (struct fx_aligned *b = archives; b < a && a->facts.has_clock; b++) {
		if (!b->leader && b->how != FX_ALIGN_NONE && b->facts.has_clock)
			return align_by_dates(a, b);
	}
	return 0;
}

/* Those that nothing else has aligned wait for one another. */
static int align_messages(struct fx_aligned *archives, size_t count)
{
	bool found = true;
	int r = 0;

	for (size_t i = 1; i < count && r == 0; i++) {
		if (archives[i].how == FX_ALIGN_DATES && !archives[i].leader)
			r = align_by_messages(archives, i, &archives[i]);
	}
	while (found && r == 0) {
		found = false;
		for (size_t i = 1; i < count && r == 0; i++) {
			if (archives[i].how != FX_ALIGN_NONE || archives[i].leader)
				continue;
			r = align_by_messages(archives, count, &archives[i]);
			found |= archives[i].how != FX_ALIGN_NONE;
		}
	}
	return r;
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

int fx_align(struct fx_aligned *archives, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		archives[i].leader = align_leader(archives, &archives[i]);
		if (!archives[i].leader)
			r = align_alone(archives, &archives[i]);
	}
	/* Once before messages, which shall be in order in the end. */
	align_spread(archives, count);
	if (r == 0)
		r = align_messages(archives, count);
	align_spread(archives, count);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (archives[i].leader && archives[i].leader->how != FX_ALIGN_NONE)
			r = align_by_machine(&archives[i], archives[i].leader);
	}
	return r;
}
