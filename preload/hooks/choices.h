/* SPDX-License-Identifier: MIT */
/*
 * Which functions are left out, where some are (FX_CAT_CHOSEN). What the manager tells of them is remembered by address, so
 * that a hook of one that is left out is a look into a table.
 */
#ifndef FX_PRELOAD_CHOICES_H
#define FX_PRELOAD_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "engine/provider/engine.h"
#include "preload/hooks/recipes.h"

#define FX_CHOICES_LOG2 14u

/*
 * Function address, the state that it holds for, whether the function is left out. Words of several threads may replace one
 * another: each is true by itself.
 *
 *	 63                    17 16           9 8      6 5    1  0
 *	+------------------------+--------------+--------+------+-----+
 *	|        address         | low of epoch |        | NEWS | out |
 *	+------------------------+--------------+--------+------+-----+
 *
 * (What an epoch has more changes the address: no function begins as near to another one.)
 */
extern uint64_t fx_choices[1u << FX_CHOICES_LOG2] __attribute__((visibility("hidden")));

#define FX_CHOICE_OUT 1ull

fx_hot uint64_t fx_choice_word(uint64_t function, uint64_t state)
{
	return function << 17 ^ (state >> 24) * 2;
}

fx_hot uint32_t fx_choice_slot(uint64_t function)
{
	return (uint32_t)(function >> 4 ^ function >> 17) & ((1u << FX_CHOICES_LOG2) - 1);
}

/* FX_CHOICE_OUT: it is left out; 0: its calls are recorded; anything else: nobody has looked as yet. */
fx_hot uint64_t fx_choice_of(uint64_t function, uint64_t state)
{
	/* relaxed: the word is all there is */
	return fx_load_relaxed(&fx_choices[fx_choice_slot(function)]) ^
	       fx_choice_word(function, state);
}

/* A thread adopts a state: looks for what the manager has to tell. */
void fx_choices_look(void);

/* Whether a function is left out in the thread's state; remembers that. */
bool fx_choice_is_out(const struct fx_thread *t, uint64_t function);

#endif
