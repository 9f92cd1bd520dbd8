/* SPDX-License-Identifier: MIT */
/*
 * The live heap: bytes and blocks that malloc has given out and not got back.
 *
 * Every thread counts for itself, whether tracing runs or not, so that the sum is right whenever
 * tracing starts. A thread hands its share on when it has grown to 16 KiB or 256 blocks either way;
 * that is also when the counter `heap` shows a new value. Until then the share stands in the thread's
 * slot: whenever the process ends or tracing stops, the manager adds them up.
 */
#ifndef FX_PRELOAD_HEAP_H
#define FX_PRELOAD_HEAP_H

#include <stdint.h>

#include "base/compiler.h"
#include "engine/provider/engine.h"

struct fx_heap_share {
	int64_t bytes, blocks;
	int64_t bytes_limit, blocks_limit; /* hand on at this, either way */
};

struct fx_heap_sum {
	int64_t bytes, blocks;
};

extern __thread struct fx_heap_share fx_heap_share
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Slow half of fx_heap_count(): adds the thread's share to the process's sum, and shows that. */
fx_cold void fx_heap_flush(void);

/* fx_real_init(). Blocks that the dynamic linker makes for that, and may keep, are not the program's: they do not count. */
bool fx_heap_find_real(void);

/* The thread ends: from here on each of its blocks is handed on at once, and not shown. */
void fx_heap_thread_exit(void);

/* The thread has got a slot, where its share is to stand. */
void fx_heap_thread_began(struct fx_thread *t);

/* Around fork(): the child has what the other threads held, but not their shares. */
void fx_heap_before_fork(struct fx_heap_sum *ret);
void fx_heap_after_fork(const struct fx_heap_sum *others);

/* The same for a thread whose storage is not known to be its own. */
fx_cold void fx_heap_count_elsewhere(int64_t bytes, int64_t blocks);

/* 21 instructions, four tests. */
fx_hot void fx_heap_count(int64_t bytes, int64_t blocks)
{
	struct fx_heap_share *s = &fx_heap_share;
	struct fx_thread_slot *slot;

	if (fx_unlikely(!fx_own_is_known())) {
		fx_heap_count_elsewhere(bytes, blocks);
		return;
	}
	s->bytes += bytes;
	s->blocks += blocks;
	slot = fx_load_relaxed(&fx_self->slot);
	if (fx_likely(slot != NULL)) {
		fx_store_relaxed(&slot->heap_bytes, s->bytes);
		fx_store_relaxed(&slot->heap_blocks, s->blocks);
	}
	if (fx_unlikely((uint64_t)(s->bytes + s->bytes_limit) > 2 * (uint64_t)s->bytes_limit ||
			(uint64_t)(s->blocks + s->blocks_limit) > 2 * (uint64_t)s->blocks_limit))
		fx_heap_flush();
}

#endif
