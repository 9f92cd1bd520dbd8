/* SPDX-License-Identifier: MIT */
/*
 * Where the one who releases something leaves the id of a flow for the one who waits for it: a small
 * table by address.
 *
 * Nobody ever waits here: a bucket that another thread (or the code that a signal interrupted) is in
 * the middle of is passed by, and so is one that is full of newer ids. Then an arrow is missing.
 */
#ifndef FX_PRELOAD_HANDOFF_H
#define FX_PRELOAD_HANDOFF_H

#include <stdint.h>

/* Leaves `id` for whoever waits for `key`, in the place of what was left for it at another time. */
void fx_handoff_put(uint64_t key, uint64_t id, uint64_t time);

/* Takes an id that was left for `key` at `since` or later; 0 if there is none. */
uint64_t fx_handoff_take(uint64_t key, uint64_t since);

/* In a forked child: what its parent's threads left is not for it. */
void fx_handoff_reset(void);

#endif
