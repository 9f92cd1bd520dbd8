/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is among many that each go on in order: a heap of numbers by their times; of equal times, the smaller number is first.
 */
#ifndef FX_ARCHIVES_TURNS_H
#define FX_ARCHIVES_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

struct fx_turn {
	uint64_t time;
	size_t number;
};

/* All zero: nobody. */
struct fx_turns {
	FX_VECTOR(struct fx_turn) heap;
};

/* One more. 0 or -ENOMEM. */
int fx_turns_add(struct fx_turns *turns, size_t number, uint64_t time);

/* The first; NULL: nobody is left. */
const struct fx_turn *fx_turns_first(const struct fx_turns *turns);

/* The first has gone on to this time, or is over. */
void fx_turns_next(struct fx_turns *turns, uint64_t time);
void fx_turns_over(struct fx_turns *turns);

void fx_turns_release(struct fx_turns *turns);

#endif
