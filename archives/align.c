/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/align.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "archives/between.h"
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

/* The same of messages that an id tells. */
static int align_gather_pair(struct fx_aligned *a, struct fx_aligned *other,
			     const struct fx_between_pair *pair, bool is_sent,
			     struct fx_bounds *bounds)
{
	for (size_t i = 0; i < pair->shortest.count + pair->kept.count; i++) {
		const struct fx_between_message *message =
		    i < pair->shortest.count ? &pair->shortest.items[i]
					     : &pair->kept.items[i - pair->shortest.count];
		uint64_t own = is_sent ? message->sent : message->received;
		uint64_t theirs = is_sent ? message->received : message->sent;

		if (fx_bounds_add(bounds, !is_sent, fx_clockmap_to(&a->map, own),
				  fx_clockmap_to(&other->map, theirs)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int align_gather_links(struct fx_aligned *archives, struct fx_aligned *a,
			      struct fx_aligned *other, const struct fx_between *between,
			      struct fx_bounds *bounds)
{
	size_t own = (size_t)(a - archives), theirs = (size_t)(other - archives);
	const struct fx_between_pair *out = fx_between_find(between, own, theirs);
	const struct fx_between_pair *in = fx_between_find(between, theirs, own);
	int r = out ? align_gather_pair(a, other, out, true, bounds) : 0;

	return r == 0 && in ? align_gather_pair(a, other, in, false, bounds) : r;
}

/* Moves what is known of an archive's clock so that its messages are in order; or makes it known. */
static int align_by_messages(struct fx_aligned *archives, size_t count, struct fx_aligned *a,
			     const struct fx_between *between)
{
	struct fx_bounds bounds = {.is_known = a->how != FX_ALIGN_NONE};
	double error = 0; /* of the others */
	struct fx_line line;
	int r = 0;

	bounds.from = fx_clockmap_to(&a->map, a->facts.first_ns);
	bounds.to = fx_clockmap_to(&a->map, a->facts.last_ns);
	for (size_t i = 0; i < count && r == 0; i++) {
		size_t before = bounds.count;

		if (&archives[i] == a || archives[i].how == FX_ALIGN_NONE || archives[i].leader)
			continue;
		r = align_gather(a, &archives[i], &bounds);
		if (r == 0)
			r = align_gather_links(archives, a, &archives[i], between, &bounds);
		if (bounds.count > before && archives[i].error > error)
			error = archives[i].error;
	}
	if (r == 0 && bounds.count > 0) {
		a->is_contradicted = !fx_bounds_solve(&bounds, &line);
		if (!a->is_contradicted && a->how == FX_ALIGN_NONE)
			r = align_by_offset(a, line.base, FX_ALIGN_MESSAGES);
		else if (!a->is_contradicted && (line.constant != 0 || line.slope != 0))
			a->how = FX_ALIGN_BOTH;
		if (r == 0 && !a->is_contradicted) {
			/* The line was found by times that have not been moved yet. */
			if (a->how == FX_ALIGN_MESSAGES)
				line.at = align_moved(line.at, line.base);
			fx_clockmap_tilt(&a->map, line.constant, line.slope, line.at);
			a->error = line.error + error;
		}
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
	a->error = INFINITY;
	if (a == archives) {
		a->error = 0;
		return align_by_offset(a, a->offset, FX_ALIGN_FIRST);
	}
	if (a->has_offset) {
		a->error = -1;
		return align_by_offset(a, a->offset, FX_ALIGN_OFFSET);
	}
	for (struct fx_aligned *b = archives; b < a && a->facts.has_clock; b++) {
		if (!b->leader && b->how != FX_ALIGN_NONE && b->facts.has_clock)
			return align_by_dates(a, b);
	}
	return 0;
}

/* Those that nothing else has aligned wait for one another. */
static int align_messages(struct fx_aligned *archives, size_t count, const struct fx_between *between)
{
	bool found = true;
	int r = 0;

	for (size_t i = 1; i < count && r == 0; i++) {
		if (archives[i].how == FX_ALIGN_DATES && !archives[i].leader)
			r = align_by_messages(archives, i, &archives[i], between);
	}
	while (found && r == 0) {
		found = false;
		for (size_t i = 1; i < count && r == 0; i++) {
			if (archives[i].how != FX_ALIGN_NONE || archives[i].leader)
				continue;
			r = align_by_messages(archives, count, &archives[i], between);
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

static int align_once(struct fx_aligned *archives, size_t count, const struct fx_between *between)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		fx_clockmap_free(&archives[i].map);
		archives[i].how = FX_ALIGN_NONE;
		archives[i].is_contradicted = false;
		if (!archives[i].leader)
			r = align_alone(archives, &archives[i]);
	}
	/* Once before messages, which shall be in order in the end. */
	align_spread(archives, count);
	if (r == 0)
		r = align_messages(archives, count, between);
	align_spread(archives, count);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (!archives[i].leader || archives[i].leader->how == FX_ALIGN_NONE)
			continue;
		archives[i].error = archives[i].leader->error;
		r = align_by_machine(&archives[i], archives[i].leader);
	}
	return r;
}

bool fx_align_is_backwards(struct fx_aligned *archives, const struct fx_link *link)
{
	return fx_clockmap_to(&archives[link->from].map, link->sent) >
	       fx_clockmap_to(&archives[link->to].map, link->received);
}

struct align_work {
	struct fx_aligned *archives;
	struct fx_between between;
	bool is_again;
	uint64_t backwards;
};

/* The archive whose clock another one has, and a time of it. */
static size_t align_root(const struct align_work *work, size_t at, uint64_t *ns)
{
	const struct fx_aligned *a = &work->archives[at];

	if (!a->leader)
		return at;
	*ns = align_moved(*ns, a->leader->facts.clock.offset - a->facts.clock.offset);
	return (size_t)(a->leader - work->archives);
}

static int align_see(void *opaque, const struct fx_link *link)
{
	struct align_work *work = opaque;
	uint64_t sent = link->sent, received = link->received;
	size_t from = align_root(work, link->from, &sent);
	size_t to = align_root(work, link->to, &received);

	if (from == to)
		return 0;
	if (!work->is_again)
		return fx_between_add(&work->between, from, to, sent, received);
	if (!fx_align_is_backwards(work->archives, link))
		return 0;
	work->backwards++;
	return fx_between_keep(&work->between, from, to, sent, received);
}

/* So often what is out of order after all is taken into account. */
#define ALIGN_ROUNDS 4

int fx_align(struct fx_aligned *archives, size_t count, struct fx_links *links)
{
	struct align_work work = {.archives = archives};
	int r;

	for (size_t i = 0; i < count; i++)
		archives[i].leader = align_leader(archives, &archives[i]);
	fx_between_init(&work.between, count);
	r = fx_links_walk(links, align_see, NULL, &work);
	if (r == 0)
		r = align_once(archives, count, &work.between);
	work.is_again = true;
	for (int round = 1; round < ALIGN_ROUNDS && r == 0; round++) {
		work.backwards = 0;
		r = fx_links_walk(links, align_see, NULL, &work);
		if (r < 0 || work.backwards == 0)
			break;
		r = align_once(archives, count, &work.between);
	}
	fx_between_free(&work.between);
	return r;
}
