/* SPDX-License-Identifier: MIT */
/*
 * The caller: whether the newest open call made the one that begins.
 *
 * A hook sees the stack below its function's own frame, and frames differ in size. So stack addresses alone do not
 * tell a call by the newest open one from a call by an older one, after the newest was left without its exit
 * (longjmp, an exception):
 *
 *	main          +-----------+               +-----------+
 *	small, left   |           | <- newest     |           |
 *	              +-----------+               |           |
 *	                                          |           |
 *	big                                       +-----------+ <- begins: below the newest, and not inside it
 *
 * What tells them apart never changes: from a call site to the function that is called there, it is always the same
 * distance on the stack, from the hook of the one to the hook of the other. Each triple of call site, hook and distance
 * that was found to be true is remembered, and an entry only looks whether it is known: one load, one comparison. What
 * is not known is looked up in the tables of the code (caller.c).
 *
 * (A caller that takes stack space while it runs, alloca(), has several distances, each true by itself. That of a call
 * which was left is smaller than any of them by the size of its own frame.)
 */
#ifndef FX_PRELOAD_CALLER_H
#define FX_PRELOAD_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "engine/provider/engine.h"

#define FX_CALLERS_LOG2 14u

/* By fx_caller_slot(). Words of several threads may replace one another: each is true by itself. */
extern uint64_t fx_callers[1u << FX_CALLERS_LOG2] __attribute__((visibility("hidden")));

/* A triple in one word. `key`: call site and place of the hook, see hooks.c. */
fx_hot uint64_t fx_caller_word(uint64_t key, uint64_t distance)
{
	return key + distance * (uint64_t)INT64_C(-0x61c88647);
}

/* `place`: the high half of the key. */
fx_hot uint32_t fx_caller_slot(uint64_t key, uint32_t place, uint64_t distance)
{
	return ((uint32_t)key + place + (uint32_t)distance) & ((1u << FX_CALLERS_LOG2) - 1);
}

fx_hot uint64_t fx_caller_word_look(uint64_t key, uint32_t place, uint64_t distance)
{
	/* relaxed: the word is all there is */
	return fx_load_relaxed(&fx_callers[fx_caller_slot(key, place, distance)]) ^
	       fx_caller_word(key, distance);
}

/* Whether `newest` is known to make the call of `key` whose stack address is `sp`, and so lies above: 0, or FX_CALLER_APART if
 * that call is none for the hooks' usual way. Anything else: it is not known. (The mark makes a word that of a call site beside
 * this one, nearer than calls are.) */
#define FX_CALLER_APART 1u

fx_hot uint64_t fx_caller_look(const struct fx_frame *newest, uint64_t key, uint32_t place,
			       uint64_t sp)
{
	return fx_caller_word_look(key, place, newest->sp - sp);
}

/* A call that begins; what is not known of its caller. */
struct fx_new_call {
	uint64_t function;
	uint64_t site;		/* its return address */
	uint64_t sp;		/* stack address at its hook, */
	uint64_t frame_pointer; /* and the register, if it is used as one */
	uint64_t place;		/* the hook's return address, as far as it is known */
	uint64_t key;		/* see hooks.c */
	uint64_t apart;		/* FX_CALLER_APART, or 0 */
	uint64_t choice;	/* the hooks' */
};

/* Says that a function's calls are not recorded; NULL: all are. It is set before the first is left out, and stays. */
extern bool (*fx_caller_leaves_out)(uint64_t function) __attribute__((visibility("hidden")));

/* Closes the calls that are over, as the one that begins shows; the newest open one is its caller then. */
fx_cold void fx_caller_settle(struct fx_thread *t, const struct fx_new_call *e);

/* A module is gone: another's code may come to lie at its addresses. */
void fx_callers_forget(void);

/* Grows with that, and with all else that makes what was learned of a function's address another's (fx_callers_renew()). */
extern uint32_t fx_callers_serial __attribute__((visibility("hidden")));
void fx_callers_renew(void);

#endif
