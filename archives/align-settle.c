/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "archives/align-internal.h"
#include "archives/settle.h"

/* The time between the first and the last of all, as maps have them now. */
struct align_span {
	uint64_t from;
	double length;
};

static struct align_span align_span(const struct fx_align_work *work)
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

static int align_settle_pair(struct fx_align_work *work, struct fx_settle *settle,
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
int fx_align_settle(struct fx_align_work *work)
{
	struct align_span span = align_span(work);
	struct fx_settle settle = {.count = work->count};
	const struct fx_between_pair *pair;
	int r = 0;

	settle.clocks = calloc(work->count, sizeof(*settle.clocks));
	if (!settle.clocks)
		return -ENOMEM;
	for (size_t i = 1; i < work->count; i++)
		settle.clocks[i].moves = fx_align_may_move(&work->archives[i]);
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
