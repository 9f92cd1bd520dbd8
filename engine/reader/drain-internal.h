/* SPDX-License-Identifier: MIT */
/*
 * What the files of the drain share: addresses in a buffer that is not trusted, pieces, the walk over
 * committed records, and chunks in the order of their claims.
 */
#ifndef FX_ENGINE_DRAIN_INTERNAL_H
#define FX_ENGINE_DRAIN_INTERNAL_H

#include <string.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "engine/reader/drain.h"

static inline const struct fx_buffer_header *header_of(const struct fx_drain *d)
{
	return (const struct fx_buffer_header *)d->buffer;
}

static inline const uint64_t *table_of(const struct fx_drain *d)
{
	return (const uint64_t *)(d->buffer + d->layout.table_offset);
}

static inline const uint8_t *chunk_address(const struct fx_drain *d, uint32_t number)
{
	uint32_t half = number / d->layout.chunks_per_half;
	uint32_t index = number % d->layout.chunks_per_half;

	return d->buffer + d->layout.rolling_offset[half] + (uint64_t)index * d->layout.chunk_size;
}

static inline uint32_t chunk_number(const struct fx_drain *d, uint64_t serial)
{
	uint32_t n = d->layout.chunks_per_half;

	return (uint32_t)(serial / n % d->layout.halves * n + serial % n);
}

/* The builtin strings of the provider: in its buffer, or, if it has the same as the manager, the manager's own. */
const uint8_t *fx_drain_builtin(const struct fx_drain *d, uint64_t *ret_size);

/* The serial of the chunk that is claimed next. */
static inline uint64_t serial_of(const struct fx_drain *d, uint64_t state)
{
	return (state >> 32) * d->layout.chunks_per_half + (uint32_t)state;
}

/* Whether a serial below that was claimed: not if the provider has left its half before. What it says of a half that
 * it is still in counts for nothing. */
static inline bool was_claimed(const struct fx_drain *d, uint64_t serial, uint64_t state)
{
	uint64_t wrap = serial / d->layout.chunks_per_half;
	/* Pairs with half_end_tell() in chunk.c: `state` was loaded before, with acquire. */
	uint64_t ended = fx_load_relaxed(&header_of(d)->half_ended[wrap & 1]);

	return wrap >= state >> 32 || ended >> 32 != (uint32_t)(wrap + 1) ||
	       serial % d->layout.chunks_per_half < (uint32_t)ended;
}

/* Room for a piece with `bytes` of payload, its head filled in; NULL: the block is full. */
static inline void *piece_begin(struct fx_drain_block *block, struct fx_piece head)
{
	uint8_t *at = block->data + block->used;

	if (block->capacity - block->used < sizeof(head) + head.bytes)
		return NULL;
	memcpy(at, &head, sizeof(head));
	block->used += sizeof(head) + head.bytes;
	return at + sizeof(head);
}

/* The newest piece, whose payload is at `payload', has fewer bytes than it was given. */
static inline void piece_shrink(struct fx_drain_block *block, void *payload, uint32_t bytes)
{
	struct fx_piece head;

	memcpy(&head, (uint8_t *)payload - sizeof(head), sizeof(head));
	block->used -= head.bytes - bytes;
	head.bytes = bytes;
	memcpy((uint8_t *)payload - sizeof(head), &head, sizeof(head));
}

/* The size in bytes that a header announces; 0 for one that announces none. */
static inline uint64_t record_bytes(uint64_t header)
{
	if (FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE)
		return FXT_GET(header, LARGE_SIZE) * FXT_WORD_SIZE;
	return FXT_GET(header, RECORD_SIZE) * FXT_WORD_SIZE;
}

/* Claimed space shows as a blob record; the engine stores no real blobs there. */
static inline bool is_claim(uint64_t header)
{
	return FXT_GET(header, RECORD_TYPE) == FXT_RECORD_BLOB;
}

/* Bytes of whole records between `from` and `end`, up to the first zero header, at most `max`. */
static inline uint64_t committed_bytes(const uint8_t *area, uint64_t from, uint64_t end,
				       uint64_t max)
{
	uint64_t at = from;

	while (at < end) {
		/* acquire: the payload stands. Pairs with the release in record.h and durable.c. */
		uint64_t header = fx_load_acquire((const uint64_t *)(area + at));
		uint64_t size = record_bytes(header);

		if (header == 0 || size == 0 || size > end - at || at + size - from > max)
			break;
		at += size;
	}
	return at - from;
}

static inline const struct fx_thread_slot *slot_at(const struct fx_drain *d, uint32_t i)
{
	return (const struct fx_thread_slot *)(d->buffer + d->layout.threads_offset) + i;
}

/* A slot that is being taken shows this for its thread. */
#define TID_TAKEN UINT32_MAX

/* Splits a count of losses up by cause: what `lost` does not account for is of cause `rest`. */
static inline void split_losses(uint64_t dropped, const uint64_t *lost, enum fx_loss rest,
				uint64_t ret[FX_LOSSES_ROOM])
{
	uint64_t left = dropped;

	for (unsigned i = 0; i < FX_LOSSES_ROOM; i++) {
		uint64_t n = i == (unsigned)rest ? 0 : fx_load_relaxed(&lost[i]);

		ret[i] = n < left ? n : left;
		left -= ret[i];
	}
	ret[rest] += left;
}

/* With `over`, what the thread owes is lost. */
static inline void read_facts(const struct fx_thread_slot *slot, bool over,
			      struct fx_thread_facts *ret)
{
	struct fx_thread_facts f = {0};

	/* Pairs with slot_take() in slot.c: before that, the name may be the next owner's. */
	if (fx_load_acquire(&slot->tid) != TID_TAKEN)
		memcpy(f.name, slot->name, sizeof(f.name) - 1);
	f.tid = fx_load_relaxed(&slot->last_tid);
	f.incarnation = fx_load_relaxed(&slot->incarnation);
	/* acquire: pairs with fx_record_resume(). Before the count, which is no less. */
	f.gap_total = fx_load_acquire(&slot->gap_total);
	f.gap_first = fx_load_relaxed(&slot->gap_first);
	f.gap_last = fx_load_relaxed(&slot->gap_last);
	/* acquire: the causes were counted before. Pairs with fx_record_drop(). */
	f.dropped = fx_load_acquire(&slot->dropped);
	split_losses(f.dropped, slot->lost, FX_LOSS_FULL, f.lost);
	if (over) {
		uint32_t owed = fx_load_relaxed(&slot->owed);

		if (f.dropped <= UINT64_MAX - owed) {
			f.dropped += owed;
			f.lost[FX_LOSS_FULL] += owed;
		}
	}
	f.dropped_first = fx_load_relaxed(&slot->dropped_first);
	f.dropped_last = fx_load_relaxed(&slot->dropped_last);
	f.too_deep = fx_load_relaxed(&slot->too_deep);
	f.too_short = fx_load_relaxed(&slot->too_short);
	f.unwound = fx_load_relaxed(&slot->unwound);
	*ret = f;
}

/* Whether a chunk's owner has not told yet that it is its owner. */
static inline bool is_opening(uint64_t word)
{
	return (word & FX_CHUNK_OPENING) == FX_CHUNK_OPENING;
}

struct candidate {
	uint64_t word;
	uint64_t serial;
	uint32_t number;
};

static inline int by_serial(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Notes that the provider broke the rules, and how. -EBADMSG. */
int fx_drain_broken(struct fx_drain *d, const char *how);

/* No provider goes so far: see is_worn() in chunk.c. */
#define FX_BROKEN_WORN "its chunks have been used over more often than can be counted"

/* Puts the chunks that were claimed since the last pass on the watch list, as rolling_state says. 0 or -EBADMSG. */
int fx_drain_watch_new(struct fx_drain *d, uint64_t state);

#endif
