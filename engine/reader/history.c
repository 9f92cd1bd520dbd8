/* SPDX-License-Identifier: MIT */
/*
 * Circular mode, as the manager reads it: the buffer holds the newest chunks, and its owner may take any
 * of them anew while it is copied. So each is copied between two looks at its word in the chunk table,
 * and counts only if the second look finds the same owner.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "engine/reader/drain-internal.h"
#include "engine/reader/drain.h"

/* Lists what was claimed before this moment and stands. */
static int history_begin(struct fx_drain *d)
{
	/* acquire, and before the words: a thread's newer chunk is never listed if its older one is not
	 * complete. */
	uint64_t state = fx_load_acquire(&header_of(d)->rolling_state);
	uint64_t limit = (state >> 32) * d->layout.chunks_per_half + (uint32_t)state;
	uint32_t count = 0;

	if ((uint32_t)state > d->layout.chunks_per_half)
		return fx_drain_broken(d, "more chunks are claimed than there are");
	if (limit > FX_CHUNK_SERIAL_MAX)
		return fx_drain_broken(d, FX_BROKEN_WORN);
	d->history = calloc(d->chunk_count, sizeof(*d->history));
	if (!d->history)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->chunk_count; i++) {
		/* acquire: what the chunk holds stands. Pairs with chunk.c. */
		uint64_t word = fx_load_acquire(&table_of(d)[i]);
		uint64_t serial = FX_CHUNK_SERIAL(word);

		if (!word || is_opening(word) || serial < d->floor || serial >= limit ||
		    chunk_number(d, serial) != i)
			continue;
		d->history[count++] = (struct candidate){word, serial, i};
	}
	qsort(d->history, count, sizeof(*d->history), by_serial);
	d->history_count = count;
	d->history_next = 0;
	return 0;
}

/* Bytes of a chunk that may be copied. */
static uint64_t chunk_bytes(const struct fx_drain *d, const struct candidate *c)
{
	uint64_t end = FX_CHUNK_END(c->word);

	if (c->word & FX_CHUNK_RELEASED)
		return end <= d->layout.chunk_size ? FX_ALIGN_DOWN(end, (uint64_t)FXT_WORD_SIZE)
						   : 0;
	return committed_bytes(chunk_address(d, c->number), 0, d->layout.chunk_size, UINT64_MAX);
}

/* Whether the chunk still has the owner that it had when it was listed. */
static bool chunk_stands(const struct fx_drain *d, const struct candidate *c)
{
	uint64_t word;

	/* Our reads of the chunk come before this look. Pairs with the fence in chunk_claim_oldest(). */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	word = fx_load_relaxed(&table_of(d)[c->number]);
	return FX_CHUNK_SERIAL(word) == c->serial;
}

/* 0, or 1 if the block is full. */
static int history_take(struct fx_drain *d, const struct candidate *c, struct fx_drain_block *block)
{
	uint64_t bytes = chunk_bytes(d, c);
	size_t before = block->used;
	void *to;

	if (!bytes)
		return 0;
	to = piece_begin(block, (struct fx_piece){
				    .kind = FX_PIECE_CHUNK,
				    .flags = FX_PIECE_FIRST | FX_PIECE_LAST,
				    .bytes = (uint32_t)bytes,
				    .index = c->number,
				    .serial = c->serial,
				});
	if (!to)
		return 1;
	memcpy(to, chunk_address(d, c->number), bytes);
	if (!chunk_stands(d, c))
		block->used = before;
	return 0;
}

int fx_drain_history(struct fx_drain *d, struct fx_drain_block *block)
{
	int r = 0;

	if (d->broken)
		return -EBADMSG;
	if (!d->history)
		r = history_begin(d);
	while (r == 0 && d->history_next < d->history_count) {
		fx_race_begin(); /* with the chunk's next owner: chunk_stands() decides */
		r = history_take(d, &d->history[d->history_next], block);
		fx_race_end();
		if (r == 0)
			d->history_next++;
	}
	if (r == 0) {
		free(d->history);
		d->history = NULL;
	}
	return r;
}
