/* SPDX-License-Identifier: MIT */
/*
 * The live heap: bytes and blocks that malloc has given out and not got back.
 *
 * Every thread counts for itself, whether tracing runs or not, so that the sum is right whenever
 * tracing starts. A thread hands its share on when it has grown to 16 KiB or 256 blocks either way;
 * that is also when the counter `heap` shows a new value.
 */
#ifndef FX_PRELOAD_HEAP_H
#define FX_PRELOAD_HEAP_H

#include <stdint.h>

#include "base/compiler.h"

struct fx_heap_share {
	int64_t bytes, blocks;
	int64_t bytes_limit, blocks_limit; /* hand on at this, either way */
};

extern __thread struct fx_heap_share fx_heap_share
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Slow half of fx_heap_count(): adds the thread's share to the process's sum, and shows that. */
fx_cold void fx_heap_flush(void);

/* The thread ends: from here on each of its blocks is handed on at once, and not shown. */
void fx_heap_thread_exit(void);

/* 14 instructions, two tests. */
fx_hot void fx_heap_count(int64_t bytes, int64_t blocks)
{
	struct fx_heap_share *s = &fx_heap_share;

	s->bytes += bytes;
	s->blocks += blocks;
	if (fx_unlikely((uint64_t)(s->bytes + s->bytes_limit) > 2 * (uint64_t)s->bytes_limit ||
			(uint64_t)(s->blocks + s->blocks_limit) > 2 * (uint64_t)s->blocks_limit))
		fx_heap_flush();
}

#endif
