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
 *	 63                    17 16          10 9      7 6    2    1       0
 *	+------------------------+--------------+--------+------+---------+-----+
 *	|        address         | low of epoch |        | NEWS | counted | out |
 *	+------------------------+--------------+--------+------+---------+-----+
 *
 * (What an epoch has more changes the address: no function begins as near to another one.)
 */
extern uint64_t fx_choices[1u << FX_CHOICES_LOG2] __attribute__((visibility("hidden")));

#define FX_CHOICE_OUT	  1ull
#define FX_CHOICE_COUNTED 2ull /* besides: one of FX_SUPPRESSED_PERIOD calls is recorded */
#define FX_CHOICE_SCOPED  2ull /* alone: left out where it lies in no other's call, see below */

fx_hot uint64_t fx_choice_word(uint64_t function, uint64_t state)
{
	return function << 17 ^ (state >> 24) * 4;
}

fx_hot uint32_t fx_choice_slot(uint64_t function)
{
	return (uint32_t)(function >> 4) & ((1u << FX_CHOICES_LOG2) - 1);
}

/* FX_CHOICE_OUT, with or without FX_CHOICE_COUNTED: it is left out; FX_CHOICE_SCOPED; 0: its calls are recorded; anything else: nobody has looked as yet. */
fx_hot uint64_t fx_choice_of(uint64_t function, uint64_t state)
{
	/* relaxed: the word is all there is */
	return fx_load_relaxed(&fx_choices[fx_choice_slot(function)]) ^
	       fx_choice_word(function, state);
}

/* A thread adopts a state: looks for what the manager has to tell. */
void fx_choices_look(void);

/* The same, of the thread's state, asked of what the manager has told; remembers that. */
uint64_t fx_choice_ask(const struct fx_thread *t, uint64_t function);

/* Whether a function is left out wherever it is called; remembered for an address in it instead of its first. */
bool fx_choice_is_out_at(const struct fx_thread *t, uint64_t place, uint64_t function);

/*
 * In a thread's `skips': of the calls of such functions, how many it takes until one is recorded; that the one that is about to begin
 * is; and the last number that was drawn, of a sequence.
 *
 *	 31              12 11   10        0
 *	+------------------+-----+----------+
 *	|       drawn      | due | calls    |
 *	+------------------+-----+----------+
 */
#define FX_SKIPS_CALLS 0x7ffu
#define FX_SKIPS_DUE   0x800u
#define FX_SKIPS_DRAWN 12

/* Draws which call of such a function the thread records next. Whether it is the one that begins now. */
fx_cold bool fx_choice_draw(struct fx_thread *t);

/* A call of one that is left out and counted begins: whether it is just counted. */
fx_hot bool fx_choice_skips(struct fx_thread *t)
{
	if (fx_unlikely((t->skips & FX_SKIPS_CALLS) <= 1))
		return false;
	t->skips--;
	return true;
}

/* The same: whether it is to be recorded. */
fx_hot bool fx_choice_is_due(struct fx_thread *t)
{
	return !fx_choice_skips(t) && fx_choice_draw(t);
}

/*
 * --when: calls of scoped functions are recorded only in calls of others, which the program knows to be meant, or does not know. Of a thread
 * the outermost of these that is open is remembered as it begins, before its frame is taken: what is found there later is
 * that call, unless its stack address is another, or nothing. (What left others behind is found so, too: they are closed at an entry.)
 */
fx_hot bool fx_scope_is_within(const struct fx_thread *t)
{
	return t->scope < t->top && t->scope->sp == t->scope_sp;
}

/* A call begins that others are recorded in; `f' will be its frame. */
fx_hot void fx_scope_enter(struct fx_thread *t, struct fx_frame *f, uint64_t sp)
{
	if (fx_scope_is_within(t))
		return;
	t->scope_sp = sp;
	t->scope = f;
}

#endif
