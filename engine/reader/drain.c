/* SPDX-License-Identifier: MIT */
/* Draining the rolling halves: chunks are watched from their claim on, and copied as far as their records are committed; what
 * is saved of a half is told to the provider. The durable area is in durable.c, the threads are in slots.c. */
#include "engine/reader/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/fault.h"
#include "engine/reader/drain-internal.h"

int fx_drain_broken(struct fx_drain *d, const char *how)
{
	d->broken = how;
	return -EBADMSG;
}

int fx_drain_init(struct fx_drain *ret, const struct fx_layout *layout, const void *buffer,
		  struct fx_control *control)
{
	struct fx_drain d = {
	    .buffer = buffer,
	    .control = control,
	    .layout = *layout,
	    .chunk_count = layout->halves * layout->chunks_per_half,
	    .share = layout->chunks_per_half,
	};

	d.watch = calloc(d.chunk_count, sizeof(*d.watch));
	d.chunks = calloc(d.chunk_count, sizeof(*d.chunks));
	if (!d.watch || !d.chunks) {
		fx_drain_destroy(&d);
		return -ENOMEM;
	}
	*ret = d;
	return 0;
}

void fx_drain_destroy(struct fx_drain *d)
{
	free(d->watch);
	free(d->chunks);
	free(d->holes);
	free(d->slots);
	free(d->history);
	free(d->baseline);
	memset(d, 0, sizeof(*d));
}

bool fx_drain_is_attached(const struct fx_drain *d)
{
	return fx_load_acquire(&header_of(d)->magic) == FX_BUFFER_MAGIC;
}

bool fx_drain_has_news(const struct fx_drain *d)
{
	return fx_load_acquire(&header_of(d)->rolling_state) != d->state;
}

uint32_t fx_drain_fill(const struct fx_drain *d)
{
	return (uint32_t)fx_load_relaxed(&header_of(d)->rolling_state);
}

/* Whether a claim took the chunk. One whose newest word was not published when its half was used
 * again has been passed over, for saved[] does not change while claims are made in a half. */
static bool claim_took(const struct fx_drain *d, uint32_t number)
{
	return d->chunks[number].done == d->control->saved[number];
}

int fx_drain_watch_new(struct fx_drain *d, uint64_t state)
{
	uint64_t from = d->limit, limit = serial_of(d, state);

	if (limit < from)
		return fx_drain_broken(d, "the count of claimed chunks went back");
	if (limit - from > d->chunk_count)
		from = limit - d->chunk_count;
	for (uint64_t serial = from; serial < limit; serial++) {
		uint32_t number = chunk_number(d, serial);

		if (!was_claimed(d, serial, state))
			continue;
		d->claimed++;
		if (d->chunks[number].watched || !claim_took(d, number))
			continue;
		d->chunks[number].watched = 1;
		d->watch[d->watch_count++] = number;
	}
	d->limit = limit;
	return 0;
}

/* Loads rolling_state and watches what it says was claimed. */
static int observe_claims(struct fx_drain *d)
{
	/* acquire, and before the table is read: chunks claimed later are left for the next pass, so
	 * that a thread's newer chunk is never taken before its older one. */
	uint64_t state = fx_load_acquire(&header_of(d)->rolling_state);
	uint64_t wrap = state >> 32, claimed = (uint32_t)state;
	int r;

	if (claimed > d->layout.chunks_per_half)
		return fx_drain_broken(d, "more chunks are claimed than there are");
	if (wrap * d->layout.chunks_per_half + claimed > FX_CHUNK_SERIAL_MAX)
		return fx_drain_broken(d, FX_BROKEN_WORN);
	if (d->layout.halves == 1 && wrap != 0)
		return fx_drain_broken(d, "a oneshot buffer wrapped");
	if (wrap > (uint64_t)d->control->wraps_saved + 1)
		return fx_drain_broken(d, "a half was reused before it was saved");
	r = fx_drain_watch_new(d, state);
	if (r == 0)
		d->state = state;
	return r;
}

/* Whether a word of the table can be true. */
static bool word_is_sound(const struct fx_drain *d, uint32_t number, uint64_t word)
{
	const struct fx_drain_chunk *c = &d->chunks[number];
	bool held = word & FX_CHUNK_HELD, released = word & FX_CHUNK_RELEASED;
	uint64_t serial = FX_CHUNK_SERIAL(word);
	uint32_t end = FX_CHUNK_END(word);

	if (held == released || chunk_number(d, serial) != number)
		return false;
	if (c->done && serial <= FX_CHUNK_SERIAL(c->done))
		return false;
	if (c->pos && serial != c->serial)
		return false;
	if (held)
		return end == 0;
	return end <= d->layout.chunk_size && end % FXT_WORD_SIZE == 0 && end >= c->pos;
}

/* The watched chunks whose word has moved and lies below the limit, oldest first. */
static int gather(struct fx_drain *d, struct candidate *ret, uint32_t *ret_count)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->watch_count; i++) {
		uint32_t number = d->watch[i];
		/* acquire: what a released chunk holds stands. Pairs with chunk.c. */
		uint64_t word = fx_load_acquire(&table_of(d)[number]);

		if (word == d->chunks[number].done)
			continue; /* claimed, but its owner has not said so yet */
		if (is_opening(word) && FX_CHUNK_SERIAL(word) < d->floor)
			continue; /* the same, in a circular session before */
		if (!word_is_sound(d, number, word))
			return fx_drain_broken(d, "a word of the chunk table makes no sense");
		if (FX_CHUNK_SERIAL(word) >= d->limit)
			continue;
		ret[count++] = (struct candidate){word, FX_CHUNK_SERIAL(word), number};
	}
	qsort(ret, count, sizeof(*ret), by_serial);
	*ret_count = count;
	return 0;
}

/* Copies `bytes` of a chunk behind what was copied before. 0, or 1 if the block is full. */
static int copy_chunk(struct fx_drain *d, const struct candidate *candidate, uint64_t bytes,
		      struct fx_drain_block *block)
{
	const struct fx_drain_chunk *c = &d->chunks[candidate->number];
	bool released = candidate->word & FX_CHUNK_RELEASED;
	void *to = piece_begin(
	    block, (struct fx_piece){
		       .kind = FX_PIECE_CHUNK,
		       .flags = (c->pos ? 0 : FX_PIECE_FIRST) | (released ? FX_PIECE_LAST : 0),
		       .bytes = (uint32_t)bytes,
		       .index = candidate->number,
		       .serial = candidate->serial,
		   });
	if (!to)
		return 1;
	memcpy(to, chunk_address(d, candidate->number) + c->pos, bytes);
	return 0;
}

/* Takes what is new in one chunk. 0, or 1 if the block is full. */
static int take_chunk(struct fx_drain *d, const struct candidate *candidate,
		      struct fx_drain_block *block)
{
	struct fx_drain_chunk *c = &d->chunks[candidate->number];
	const uint8_t *data = chunk_address(d, candidate->number);
	bool released = candidate->word & FX_CHUNK_RELEASED;
	uint64_t bytes;

	if (released)
		bytes = FX_CHUNK_END(candidate->word) - c->pos;
	else
		bytes = committed_bytes(data, c->pos, d->layout.chunk_size, UINT64_MAX);
	if (candidate->serial >= d->floor && (bytes || (released && c->pos)) &&
	    copy_chunk(d, candidate, bytes, block))
		return 1;
	if (released) {
		c->done = candidate->word;
		c->pos = 0;
		c->watched = 0;
	} else {
		c->serial = candidate->serial;
		c->pos += (uint32_t)bytes;
	}
	return 0;
}

/* Takes the chunks that are no longer watched off the list. */
static void watch_compact(struct fx_drain *d)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->watch_count; i++) {
		if (d->chunks[d->watch[i]].watched)
			d->watch[kept++] = d->watch[i];
	}
	d->watch_count = kept;
}

static int take_chunks(struct fx_drain *d, bool held, const struct candidate *candidates,
		       uint32_t count, struct fx_drain_block *block)
{
	int r = 0;

	d->held = false;
	for (uint32_t i = 0; i < count && r == 0; i++) {
		if (candidates[i].word & FX_CHUNK_HELD)
			d->held = true;
		if (held || (candidates[i].word & FX_CHUNK_RELEASED))
			r = take_chunk(d, &candidates[i], block);
	}
	watch_compact(d);
	return r;
}

int fx_drain_chunks(struct fx_drain *d, bool held, struct fx_drain_block *block)
{
	struct candidate few[64], *candidates = few;
	uint32_t count = 0;
	int r;

	if (d->broken)
		return -EBADMSG;
	r = observe_claims(d);
	if (r < 0)
		return r;
	if (d->watch_count > FX_ARRAY_LEN(few)) {
		candidates = calloc(d->watch_count, sizeof(*candidates));
		if (!candidates)
			return -ENOMEM;
	}
	r = gather(d, candidates, &count);
	if (r == 0)
		r = take_chunks(d, held, candidates, count, block);
	if (candidates != few)
		free(candidates);
	return r;
}

bool fx_drain_must_acknowledge(const struct fx_drain *d)
{
	uint64_t wrap = fx_load_relaxed(&header_of(d)->rolling_state) >> 32;

	return !d->broken && wrap > d->control->wraps_saved;
}

/* Publishes what is saved of a half that nobody can claim in. */
static void half_publish(struct fx_drain *d, uint32_t half)
{
	uint32_t first = half * d->layout.chunks_per_half;

	for (uint32_t i = first; i < first + d->layout.chunks_per_half; i++) {
		struct fx_drain_chunk *c = &d->chunks[i];
		uint64_t saved = d->control->saved[i];

		/* Claimed, but not said so yet, or held: nobody else may have it. */
		if (c->watched)
			saved = FX_SAVED_NEVER;
		else if (i - first >= d->share)
			saved = FX_SAVED_BEYOND;
		else if (c->done)
			saved = c->done;
		if (saved != d->control->saved[i])
			/* release: our copy is made. Pairs with the load before zeroing in chunk.c. */
			fx_store_release(&d->control->saved[i], saved);
	}
}

bool fx_drain_acknowledge(struct fx_drain *d)
{
	uint32_t wrap = (uint32_t)(d->state >> 32);
	uint32_t saved = d->control->wraps_saved;

	if (d->broken || wrap <= saved)
		return false;
	half_publish(d, saved & 1);
	FX_FAULT(half_saved);
	/* release: saved[] stands. Pairs with half_switch() in chunk.c. */
	fx_store_release(&d->control->wraps_saved, saved + 1);
	return true;
}
