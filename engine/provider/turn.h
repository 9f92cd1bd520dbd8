/* SPDX-License-Identifier: MIT */
/*
 * A turn: one thread at a time, without libc's locks. One that a fork has copied from another thread of the parent's is
 * free; a thread that comes again, as in a signal handler, is told so.
 */
#ifndef FX_ENGINE_TURN_H
#define FX_ENGINE_TURN_H

#include <stdint.h>

struct fx_turn {
	uint64_t owner; /* pid << 32 | tid; 0 free */
};

/* 0; -EDEADLK: the caller has it; -EBUSY: another thread has. */
int fx_turn_try(struct fx_turn *turn);

/* Waits for it. 0 or -EDEADLK. */
int fx_turn_take(struct fx_turn *turn);

void fx_turn_give(struct fx_turn *turn);

#endif
