/* SPDX-License-Identifier: MIT */
/*
 * Where a thread that ends says so to the thread that will join it: a table by pthread_t, of the newest ends. It has
 * room for as many as can be left unjoined (each keeps its stack: some 32000 mappings), and a little for chance.
 *
 * Nobody waits here, and a signal handler may do all of it in the middle of itself.
 */
#ifndef FX_PRELOAD_HANDOFF_H
#define FX_PRELOAD_HANDOFF_H

#include <stdbool.h>
#include <stdint.h>

/* Thread `tid` has ended at `time`, in the place of an older one of this key. */
void fx_handoff_put(uint64_t key, uint32_t tid, uint64_t time);

/* Takes what was left for `key`; false if there is nothing. */
bool fx_handoff_take(uint64_t key, uint32_t *ret_tid, uint64_t *ret_time);

/* When thread `tid` has ended, if that still stands here; slow. */
bool fx_handoff_time(uint32_t tid, uint64_t *ret_time);

/* A new thread has this key: what an older one left, which nobody has joined, is not for the thread that joins
 * this one. */
void fx_handoff_forget(uint64_t key);

/* In a forked child: what its parent's threads left is not for it. */
void fx_handoff_reset(void);

#endif
