/* SPDX-License-Identifier: MIT */
#include "engine/layout.h"

#include <errno.h>

#include "base/compiler.h"

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Large chunks amortise the claim; small buffers want at least eight chunks a half, so that a few
 * threads can write at a time. */
static uint32_t chunk_size_for(uint64_t half)
{
	uint32_t size = FX_CHUNK_MAX;

	while (size > FX_CHUNK_MIN && half / size < 8)
		size /= 2;
	return size;
}

/* The smallest buffers keep half of their size for rolling data. */
static uint64_t durable_size_for(uint64_t size)
{
	uint64_t durable = clamp(size / 16, FX_DURABLE_MIN, FX_DURABLE_MAX);

	return FX_ALIGN_DOWN(durable > size / 2 ? size / 2 : durable, 8u);
}

int fx_layout_compute(struct fx_layout *ret, uint64_t size, enum fx_buffering_mode mode)
{
	struct fx_layout l = {.thread_count = FX_THREADS_MAX};
	uint64_t durable, rolling, table;

	if (!fx_buffer_size_is_valid(size))
		return -EINVAL;
	if (mode < FX_MODE_ONESHOT || mode > FX_MODE_STREAMING)
		return -EINVAL;

	durable = durable_size_for(size);
	rolling = size - durable;

	l.halves = mode == FX_MODE_ONESHOT ? 1 : 2;
	l.chunk_size = chunk_size_for(rolling / 2);
	l.chunks_per_half = (uint32_t)(rolling / l.halves / l.chunk_size);
	l.durable_size = durable;

	l.builtin_offset = sizeof(struct fx_buffer_header);
	l.threads_offset = l.builtin_offset + FX_BUILTIN_SIZE;
	l.table_offset =
	    l.threads_offset + (uint64_t)l.thread_count * sizeof(struct fx_thread_slot);
	table = 8ull * l.halves * l.chunks_per_half;
	l.durable_offset = FX_ALIGN_UP(l.table_offset + table, (uint64_t)FX_PAGE);
	l.rolling_offset[0] = FX_ALIGN_UP(l.durable_offset + durable, (uint64_t)FX_CHUNK_MAX);
	rolling = (uint64_t)l.chunks_per_half * l.chunk_size;
	l.rolling_offset[1] = l.rolling_offset[0] + (l.halves == 2 ? rolling : 0);
	l.total_size = FX_ALIGN_UP(l.rolling_offset[0] + l.halves * rolling, (uint64_t)FX_PAGE);
	*ret = l;
	return 0;
}

uint64_t fx_layout_add_stash(struct fx_layout *l)
{
	uint64_t at = l->total_size;

	l->total_size += (uint64_t)l->thread_count * FX_STASH_SIZE;
	return at;
}

uint32_t fx_layout_share(const struct fx_layout *l, uint64_t size)
{
	uint64_t chunks = (size - durable_size_for(size)) / 2 / l->chunk_size;

	return (uint32_t)clamp(chunks < 2 ? 2 : chunks, 1, l->chunks_per_half);
}

/* Bytes: what fits into the cache of one core, with the other half. */
#define ENOUGH_MIN (384u << 10)

/* Serials are counted by whole halves, and must last. */
#define ENOUGH_SHARE 32u

uint32_t fx_layout_enough(const struct fx_layout *l)
{
	uint32_t least = ENOUGH_MIN / l->chunk_size, share = l->chunks_per_half / ENOUGH_SHARE;
	uint32_t enough = share > least ? share : least;

	return l->halves == 2 && enough < l->chunks_per_half ? enough : 0;
}
