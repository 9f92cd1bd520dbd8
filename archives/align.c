/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/align.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "archives/between.h"
#include "archives/bounds.h"
#include "archives/settle.h"

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
	a->how = how;
	if (a->first_ns == UINT64_MAX)
		return 0;
	if (fx_clockmap_add(&a->map, a->first_ns, align_moved(a->first_ns, offset)) < 0)
		return -ENOMEM;
	return fx_clockmap_add(&a->map, a->last_ns, align_moved(a->last_ns, offset));
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

/* Dates are known at some times; before and behind them clocks drift as they do there. */
static int align_date(struct fx_aligned *a, struct fx_aligned *other, uint64_t ns)
{
	uint64_t date = fx_clockmap_beyond(&a->facts.dates, ns);

	return fx_clockmap_add(
	    &a->map, ns,
	    fx_clockmap_to(&other->map, fx_clockmap_from_beyond(&other->facts.dates, date)));
}

/* The two had the same date at the same time. */
static int align_by_dates(struct fx_aligned *a, struct fx_aligned *other)
{
	const struct fx_facts *facts = &a->facts;
	int r = 0;

	a->how = FX_ALIGN_DATES;
	if (a->first_ns == UINT64_MAX)
		return 0;
	if (a->first_ns < facts->dates.points.items[0].from)
		r = align_date(a, other, a->first_ns);
	for (size_t i = 0; i < facts->dates.points.count && r == 0; i++)
		r = align_date(a, other, facts->dates.points.items[i].from);
	return r < 0 ? r : align_date(a, other, a->last_ns);
}

/* --- Messages --------------------------------------------------------------------------------- */

struct align_work {
	struct fx_aligned *archives;
	size_t count;
	struct fx_links *links;
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

bool fx_align_is_backwards(struct fx_aligned *archives, const struct fx_link *link)
{
	return fx_clockmap_to(&archives[link->from].map, link->sent) >
	       fx_clockmap_to(&archives[link->to].map, link->received);
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

/* Those of a connection, from its one end to the other. */
static int align_see_stream(struct align_work *work, size_t from, const struct fx_stream_end *end,
			    size_t to, const struct fx_stream_end *peer)
{
	const fx_message_list *received = &peer->calls[FX_DIRECTION_RECEIVED];
	int r = 0;

	for (size_t i = 0; i < received->count && r == 0; i++) {
		const struct fx_message *in = &received->items[i];
		const struct fx_message *out =
		    fx_messages_reach(&end->calls[FX_DIRECTION_SENT], in->position);
		struct fx_link link = {.from = from, .to = to, .received = in->ns};

		if (!out)
			continue;
		link.sent = out->ns;
		r = align_see(work, &link);
	}
	return r;
}

static int align_see_streams(struct align_work *work, size_t from, size_t to)
{
	const struct fx_stream_end *end, *next, *peer;
	int r = 0;

	HASH_ITER (hh, work->archives[from].facts.messages.ends, end, next) {
		peer = fx_messages_find(&work->archives[to].facts.messages, end->other_key);
		if (peer && !end->is_odd && r == 0)
			r = align_see_stream(work, from, end, to, peer);
	}
	return r;
}

/* All messages that there are between archives. */
static int align_see_all(struct align_work *work)
{
	int r = fx_links_walk(work->links, align_see, NULL, work);

	for (size_t i = 0; i < work->count && r == 0; i++) {
		for (size_t j = 0; j < work->count && r == 0; j++) {
			if (i != j && work->archives[i].facts.messages.ends)
				r = align_see_streams(work, i, j);
		}
	}
	return r;
}

/* --- Lines between them ----------------------------------------------------------------------- */

/* What the messages of a direction between two archives say of the first one's clock. */
static int align_gather_pair(struct fx_aligned *a, struct fx_aligned *other,
			     const struct fx_between_pair *pair, bool is_sent, double error,
			     struct fx_bounds *bounds)
{
	size_t count = pair ? pair->shortest.count + pair->kept.count : 0;

	for (size_t i = 0; i < count; i++) {
		const struct fx_between_message *message =
		    i < pair->shortest.count ? &pair->shortest.items[i]
					     : &pair->kept.items[i - pair->shortest.count];
		uint64_t own = is_sent ? message->sent : message->received;
		uint64_t theirs = is_sent ? message->received : message->sent;

		if (fx_bounds_add(bounds, !is_sent, fx_clockmap_to(&a->map, own),
				  fx_clockmap_to(&other->map, theirs), error) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Of all whose clocks are known by now. `errors': with what these may be wrong by, if that is known, and with what the map is no line
 * by. */
static int align_gather(const struct align_work *work, struct fx_aligned *a, bool errors,
			struct fx_bounds *bounds)
{
	size_t own = (size_t)(a - work->archives);
	double bend = errors ? fx_clockmap_bend(&a->map) : 0;
	int r = 0;

	*bounds = (struct fx_bounds){.is_known = a->how != FX_ALIGN_NONE};
	bounds->tilt = fx_clockmap_slope(&a->map) / fx_clockmap_slope(&work->archives[0].map) - 1;
	bounds->from = fx_clockmap_to(&a->map, a->first_ns);
	bounds->to = fx_clockmap_to(&a->map, a->last_ns);
	for (size_t i = 0; i < work->count && r == 0; i++) {
		struct fx_aligned *other = &work->archives[i];
		double error = errors && other->error > 0 ? other->error : 0;

		error += bend;
		if (i == own || other->how == FX_ALIGN_NONE || other->leader || isinf(error))
			continue;
		r = align_gather_pair(a, other, fx_between_find(&work->between, own, i), true,
				      error, bounds);
		if (r == 0)
			r = align_gather_pair(a, other, fx_between_find(&work->between, i, own),
					      false, error, bounds);
	}
	return r;
}

/* Makes an archive's clock known. */
static int align_first(const struct align_work *work, struct fx_aligned *a)
{
	struct fx_bounds bounds;
	struct fx_line line;
	int r = align_gather(work, a, false, &bounds);

	if (r == 0 && bounds.count > 0) {
		fx_bounds_solve(&bounds, &line);
		r = align_by_offset(a, line.base, FX_ALIGN_MESSAGES);
		/* The line was found by times that have not been moved yet. */
		if (r == 0)
			fx_clockmap_tilt(&a->map, line.constant, line.slope,
					 align_moved(line.at, line.base));
	}
	fx_bounds_free(&bounds);
	return r;
}

/* Moves a clock that is nearly right so that its messages are in order, if they are not. */
static int align_move(const struct align_work *work, struct fx_aligned *a)
{
	struct fx_bounds bounds;
	struct fx_line line;
	int r = align_gather(work, a, false, &bounds);

	if (r == 0 && bounds.count > 0 && !fx_bounds_are_kept(&bounds)) {
		fx_bounds_solve(&bounds, &line);
		a->how = FX_ALIGN_BOTH;
		fx_clockmap_tilt(&a->map, line.constant, line.slope, line.at);
	}
	fx_bounds_free(&bounds);
	return r;
}

/* What a clock may be wrong by, as those may of which its messages tell. */
static int align_error(const struct align_work *work, struct fx_aligned *a, bool *improves)
{
	struct fx_bounds bounds;
	struct fx_line line = {0};
	int r = align_gather(work, a, true, &bounds);

	if (r == 0 && bounds.count > 0) {
		double error;

		line.at = bounds.items[0].at;
		error = fx_bounds_error(&bounds, &line) + fx_clockmap_bend(&a->map);
		*improves |= error < a->error * 0.99;
		if (error < a->error)
			a->error = error;
	}
	fx_bounds_free(&bounds);
	return r;
}

static bool align_may_move(const struct fx_aligned *a)
{
	return !a->leader &&
	       (a->how == FX_ALIGN_DATES || a->how == FX_ALIGN_BOTH || a->how == FX_ALIGN_MESSAGES);
}

/* --- All at once ------------------------------------------------------------------------------ */

/* The time between the first and the last of all, as maps have them now. */
struct align_span {
	uint64_t from;
	double length;
};

static struct align_span align_span(const struct align_work *work)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct fx_aligned *a = &work->archives[i];
		uint64_t first = fx_clockmap_to(&a->map, a->first_ns);
		uint64_t last = fx_clockmap_to(&a->map, a->last_ns);

		if (a->how == FX_ALIGN_NONE || a->leader || a->first_ns == UINT64_MAX)
			continue;
		from = first < from ? first : from;
		to = last > to ? last : to;
	}
	return (struct align_span){from, to > from ? (double)(to - from) : 1};
}

/* For what rounding takes, ns. */
#define ALIGN_MARGIN 4.0

static int align_settle_pair(struct align_work *work, struct fx_settle *settle,
			     const struct align_span *span, const struct fx_between_pair *pair)
{
	struct fx_aligned *from = &work->archives[pair->key.from];
	struct fx_aligned *to = &work->archives[pair->key.to];
	size_t count = pair->shortest.count + pair->kept.count;

	if (from->how == FX_ALIGN_NONE || to->how == FX_ALIGN_NONE)
		return 0;
	if (fx_vector_reserve(&settle->messages, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct fx_between_message *message =
		    i < pair->shortest.count ? &pair->shortest.items[i]
					     : &pair->kept.items[i - pair->shortest.count];
		uint64_t sent = fx_clockmap_to(&from->map, message->sent);
		uint64_t received = fx_clockmap_to(&to->map, message->received);

		settle->messages.items[settle->messages.count++] = (struct fx_settle_message){
		    .from = pair->key.from,
		    .to = pair->key.to,
		    .early = (double)(int64_t)(sent - received) + ALIGN_MARGIN,
		    .sent = (double)(int64_t)(sent - span->from) / span->length,
		    .received = (double)(int64_t)(received - span->from) / span->length};
	}
	return 0;
}

/* Moves all clocks that may so that all messages are in order. */
static int align_settle(struct align_work *work)
{
	struct align_span span = align_span(work);
	struct fx_settle settle = {.count = work->count};
	const struct fx_between_pair *pair;
	int r = 0;

	settle.clocks = calloc(work->count, sizeof(*settle.clocks));
	if (!settle.clocks)
		return -ENOMEM;
	for (size_t i = 1; i < work->count; i++)
		settle.clocks[i].moves = align_may_move(&work->archives[i]);
	for (pair = work->between.pairs; pair && r == 0; pair = pair->hh.next)
		r = align_settle_pair(work, &settle, &span, pair);
	if (r == 0)
		r = fx_settle_solve(&settle);
	for (size_t i = 0; i < work->count && r >= 0; i++) {
		struct fx_aligned *a = &work->archives[i];
		const struct fx_settle_clock *clock = &settle.clocks[i];

		if (!clock->moves || (clock->constant == 0 && clock->change == 0))
			continue;
		fx_clockmap_tilt(&a->map, clock->constant, clock->change / span.length, span.from);
		if (a->how == FX_ALIGN_DATES)
			a->how = FX_ALIGN_BOTH;
	}
	free(settle.clocks);
	fx_settle_free(&settle);
	return r < 0 ? r : 0;
}

/* Says of whom messages are out of order after all. */
static int align_contradict(struct align_work *work)
{
	int r = 0;

	for (size_t i = 1; i < work->count && r == 0; i++) {
		struct fx_aligned *a = &work->archives[i];
		struct fx_bounds bounds;

		if (!align_may_move(a))
			continue;
		r = align_gather(work, a, false, &bounds);
		a->is_contradicted = bounds.count > 0 && !fx_bounds_are_kept(&bounds);
		fx_bounds_free(&bounds);
	}
	return r;
}

/* So often what is found of one clock may tell more of its neighbours. */
#define ALIGN_TURNS 100

static int align_errors(const struct align_work *work)
{
	bool goes_on = true;
	int r = 0;

	for (int turn = 0; turn < ALIGN_TURNS && goes_on && r == 0; turn++) {
		goes_on = false;
		for (size_t i = 1; i < work->count && r == 0; i++) {
			if (align_may_move(&work->archives[i]))
				r = align_error(work, &work->archives[i], &goes_on);
		}
	}
	return r;
}

/* Those that nothing else has aligned wait for one another; then all are brought into order. */
static int align_messages(struct align_work *work)
{
	bool found = true;
	int r = 0;

	for (size_t i = 1; i < work->count && r == 0; i++) {
		if (work->archives[i].how == FX_ALIGN_DATES && !work->archives[i].leader)
			r = align_move(work, &work->archives[i]);
	}

	while (found && r == 0) {
		found = false;
		for (size_t i = 1; i < work->count && r == 0; i++) {
			struct fx_aligned *a = &work->archives[i];

			if (a->how != FX_ALIGN_NONE || a->leader)
				continue;
			r = align_first(work, a);
			found |= a->how != FX_ALIGN_NONE;
		}
	}
	if (r == 0)
		r = align_settle(work);
	if (r == 0)
		r = align_contradict(work);
	return r == 0 ? align_errors(work) : r;
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
		first = align_moved(first, more);
		last = align_moved(last, more);
		if (first < leader->first_ns)
			leader->first_ns = first;
		if (leader->last_ns == UINT64_MAX || last > leader->last_ns)
			leader->last_ns = last;
	}
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

static int align_once(struct align_work *work)
{
	struct fx_aligned *archives = work->archives;
	size_t count = work->count;
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
		r = align_messages(work);
	align_spread(archives, count);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (!archives[i].leader || archives[i].leader->how == FX_ALIGN_NONE)
			continue;
		archives[i].error = archives[i].leader->error;
		r = align_by_machine(&archives[i], archives[i].leader);
	}
	return r;
}

/* So often what is out of order after all is taken into account. */
#define ALIGN_ROUNDS 4

int fx_align(struct fx_aligned *archives, size_t count, struct fx_links *links)
{
	struct align_work work = {.archives = archives, .count = count, .links = links};
	int r;

	for (size_t i = 0; i < count; i++)
		archives[i].leader = align_leader(archives, &archives[i]);
	align_ranges(archives, count);
	fx_between_init(&work.between, count);
	r = align_see_all(&work);
	if (r == 0)
		r = align_once(&work);
	work.is_again = true;
	for (int round = 1; round < ALIGN_ROUNDS && r == 0; round++) {
		work.backwards = 0;
		r = align_see_all(&work);
		if (r < 0 || work.backwards == 0)
			break;
		r = align_once(&work);
	}
	fx_between_free(&work.between);
	return r;
}
