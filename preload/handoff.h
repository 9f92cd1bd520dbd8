/* SPDX-License-Identifier: MIT */
/*
 * Where a thread that ends says so to the one who will join it: a small table by pthread_t, of the newest ends.
 *
 * Nobody waits here for long: a bucket that another thread (or the code that a signal interrupted) does not
 * leave is passed by. Then an arrow is missing.
 */
#ifndef FX_PRELOAD_HANDOFF_H
#define FX_PRELOAD_HANDOFF_H

#include <stdbool.h>
#include <stdint.h>

/* Thread `tid` has ended at `time`, in the place of an older one of this key. */
void fx_handoff_put(uint64_t key, uint32_t tid, uint64_t time);

/* Takes what was left for `key`; false if there is nothing. */
bool fx_handoff_take(uint64_t key, uint32_t *ret_tid, uint64_t *ret_time);

/* In a forked child: what its parent's threads left is not for it. */
void fx_handoff_reset(void);

#endif
