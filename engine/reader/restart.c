/* SPDX-License-Identifier: MIT */
/*
 * A buffer that outlives a session, as the manager reads it. Nothing in it is ever reset: serials go on
 * growing, and a thread that was stopped in the middle of a record for a whole session still holds its
 * chunk when it wakes. A new session only moves the floor below which chunks are forgotten.
 *
 * The durable area is never emptied while its process lives, because the process keeps the indices of
 * its strings; another archive gets all of it again.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/reader/drain-internal.h"
#include "engine/reader/drain.h"

/* rolling_state, or 0 if it cannot be true. */
static uint64_t sound_state(const struct fx_drain *d)
{
	/* acquire: the words of chunks claimed so far are at least as new. Pairs with chunk.c. */
	uint64_t state = fx_load_acquire(&header_of(d)->rolling_state);

	return (uint32_t)state <= d->layout.chunks_per_half ? state : 0;
}

uint64_t fx_drain_next_serial(const struct fx_drain *d)
{
	return fx_drain_is_attached(d) && !d->broken ? serial_of(d, sound_state(d)) : 0;
}

void fx_drain_forget(struct fx_drain *d)
{
	uint64_t serial = fx_drain_next_serial(d);

	if (serial > d->floor)
		d->floor = serial;
}

void fx_drain_retell(struct fx_drain *d)
{
	d->builtin_pos = 0;
	d->builtin_done = false;
	d->durable_pos = 0;
	d->hole_count = 0;
	d->slots_used = 0;
}

static bool is_beyond(const struct fx_drain *d, uint32_t number)
{
	return number % d->layout.chunks_per_half >= d->share;
}

/* Before the provider has attached itself: nothing was claimed, and looking at the table would take
 * memory. */
static void share_first(struct fx_drain *d, uint32_t share)
{
	bool changes = share != d->share;

	d->share = share;
	for (uint32_t i = 0; changes && i < d->chunk_count; i++)
		fx_store_release(&d->control->saved[i], is_beyond(d, i) ? FX_SAVED_BEYOND : 0);
}

/* `saved` is FX_SAVED_NEVER, or, of a chunk whose owner is known, FX_SAVED_BEYOND. */
static void withhold(struct fx_drain *d, uint32_t number, uint64_t saved)
{
	d->chunks[number].watched = 1;
	d->watch[d->watch_count++] = number;
	fx_store_release(&d->control->saved[number], saved);
}

/* Sorts one chunk out: nobody's, or still somebody's. */
static void chunk_restart(struct fx_drain *d, uint32_t number)
{
	struct fx_drain_chunk *c = &d->chunks[number];
	/* acquire: its owner is done with a released chunk. Pairs with chunk.c. */
	uint64_t word = fx_load_acquire(&table_of(d)[number]);
	bool unclaimed = c->watched && word == c->done;

	if (!unclaimed && (word == 0 || (word & FX_CHUNK_OPENING) == FX_CHUNK_RELEASED)) {
		*c = (struct fx_drain_chunk){.done = word};
		fx_store_release(&d->control->saved[number],
				 is_beyond(d, number) ? FX_SAVED_BEYOND : word);
		return;
	}
	if (!unclaimed)
		c->done = 0;
	c->pos = 0;
	withhold(d, number, !unclaimed && is_beyond(d, number) ? FX_SAVED_BEYOND : FX_SAVED_NEVER);
}

/*
 * A thread that was about to claim when tracing stopped may do so at any time. What it has claimed by now
 * is withheld, whether it has taken the chunk or passed it over. Afterwards it finds saved[] as it is in
 * the new session.
 */
static void withhold_latecomers(struct fx_drain *d, uint64_t from)
{
	uint64_t state, limit;

	/* What we stored in saved[] comes before this look. Pairs with chunk_claim_saved(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	state = sound_state(d);
	limit = serial_of(d, state);
	for (uint64_t serial = from; serial < limit && serial - from < d->chunk_count; serial++) {
		if (was_claimed(d, serial, state) && !d->chunks[chunk_number(d, serial)].watched)
			withhold(d, chunk_number(d, serial), FX_SAVED_NEVER);
	}
	if (limit > from)
		d->floor = d->limit = limit;
}

static int baseline_take(struct fx_drain *d)
{
	uint32_t count = 0;
	struct fx_thread_facts *facts;

	while (count < d->layout.thread_count &&
	       fx_load_acquire(&slot_at(d, count)->incarnation) != 0)
		count++;
	facts = realloc(d->baseline, (count + 1) * sizeof(*facts));
	if (!facts)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		read_facts(slot_at(d, i), true, &facts[i]);
	d->baseline = facts;
	d->baseline_count = count;
	memset(d->unslotted, 0, sizeof(d->unslotted));
	fx_drain_unslotted(d, d->unslotted);
	d->unfollowed = fx_load_relaxed(&header_of(d)->unfollowed);
	return 0;
}

int fx_drain_restart(struct fx_drain *d, uint32_t share)
{
	uint64_t state;
	int r;

	fx_drain_retell(d);
	if (!fx_drain_is_attached(d)) {
		share_first(d, share);
		return 0;
	}
	r = baseline_take(d);
	if (r < 0)
		return r;
	state = sound_state(d);
	/* What was claimed since the last pass is somebody's. */
	if (d->control->buffering_mode != FX_MODE_CIRCULAR && serial_of(d, state) >= d->limit)
		r = fx_drain_watch_new(d, state);
	if (r < 0)
		return r;
	d->share = share;
	free(d->history);
	d->history = NULL;
	d->watch_count = 0;
	for (uint32_t i = 0; i < d->chunk_count; i++)
		chunk_restart(d, i);
	d->state = state;
	d->floor = d->limit = serial_of(d, state);
	withhold_latecomers(d, d->limit);
	/* release: saved[] stands. Pairs with half_switch() in chunk.c. */
	fx_store_release(&d->control->wraps_saved, (uint32_t)(state >> 32));
	return 0;
}

int fx_drain_inherit(struct fx_drain *d, const struct fx_drain *from)
{
	d->floor = from->floor;
	d->builtin = from->builtin;
	memcpy(d->unslotted, from->unslotted, sizeof(d->unslotted));
	d->unfollowed = from->unfollowed;
	if (!from->baseline_count)
		return 0;
	d->baseline = malloc(from->baseline_count * sizeof(*d->baseline));
	if (!d->baseline)
		return -ENOMEM;
	memcpy(d->baseline, from->baseline, from->baseline_count * sizeof(*d->baseline));
	d->baseline_count = from->baseline_count;
	return 0;
}

/* A provider may say anything. */
static void subtract(uint64_t *count, uint64_t before)
{
	*count -= before < *count ? before : *count;
}

void fx_drain_discount(const struct fx_drain *d, uint32_t index, struct fx_thread_facts *facts)
{
	const struct fx_thread_facts *base;

	if (index >= d->baseline_count)
		return;
	base = &d->baseline[index];
	/* What was owed then is counted as lost only when its thread goes on. */
	facts->dropped = 0;
	for (unsigned i = 0; i < FX_LOSSES_ROOM; i++) {
		subtract(&facts->lost[i], base->lost[i]);
		facts->dropped += facts->lost[i];
	}
	subtract(&facts->too_deep, base->too_deep);
	subtract(&facts->too_short, base->too_short);
	subtract(&facts->unwound, base->unwound);
	if (facts->dropped == 0)
		facts->dropped_last = 0;
	/* When a gap began is not known if it goes back to the session before. */
	if (base->dropped && facts->dropped_first == base->dropped_first)
		facts->dropped_first = 0;
	if (base->dropped &&
	    (facts->gap_first == base->dropped_first || facts->gap_first == base->gap_first))
		facts->gap_first = 0;
	subtract(&facts->gap_total, base->dropped);
}

uint64_t fx_drain_dropped(const struct fx_drain *d)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < d->layout.thread_count; i++) {
		struct fx_thread_facts facts;

		/* Slots are first used in their order. */
		if (fx_load_acquire(&slot_at(d, i)->incarnation) == 0)
			break;
		read_facts(slot_at(d, i), true, &facts);
		fx_drain_discount(d, i, &facts);
		count = facts.dropped > UINT64_MAX - count ? UINT64_MAX : count + facts.dropped;
	}
	return count;
}

/* What a provider says may be anything: as unsigned numbers, which wrap. */
void fx_drain_heap(const struct fx_drain *d, int64_t *ret_bytes, int64_t *ret_blocks)
{
	uint64_t bytes = (uint64_t)fx_load_relaxed(&header_of(d)->heap_bytes);
	uint64_t blocks = (uint64_t)fx_load_relaxed(&header_of(d)->heap_blocks);

	for (uint32_t i = 0; i < d->layout.thread_count; i++) {
		uint32_t tid;

		/* Slots are first used in their order. */
		if (fx_load_acquire(&slot_at(d, i)->incarnation) == 0)
			break;
		tid = fx_load_acquire(&slot_at(d, i)->tid);
		if (tid == 0 || tid == TID_TAKEN)
			continue;
		bytes += (uint64_t)fx_load_relaxed(&slot_at(d, i)->heap_bytes);
		blocks += (uint64_t)fx_load_relaxed(&slot_at(d, i)->heap_blocks);
	}
	*ret_bytes = (int64_t)bytes;
	*ret_blocks = (int64_t)blocks;
}

void fx_drain_unslotted(const struct fx_drain *d, uint64_t ret[FX_LOSSES_ROOM])
{
	/* acquire: as of a slot's. Pairs with drop_unslotted() in thread.c. */
	uint64_t dropped = fx_load_acquire(&header_of(d)->dropped_unslotted);

	split_losses(dropped, header_of(d)->lost_unslotted, FX_LOSS_THREADS, ret);
	for (unsigned i = 0; i < FX_LOSSES_ROOM; i++)
		subtract(&ret[i], d->unslotted[i]);
}

uint64_t fx_drain_unfollowed(const struct fx_drain *d)
{
	uint64_t count = fx_load_relaxed(&header_of(d)->unfollowed);

	subtract(&count, d->unfollowed);
	return count;
}

uint64_t fx_drain_given_up(const struct fx_drain *d)
{
	return fx_load_relaxed(&header_of(d)->given_up);
}
