/* SPDX-License-Identifier: MIT */
/*
 * Stacks as strings: the text of a stack's string is its return addresses (FX_STRING_STACK), which the
 * manager turns into names. Each distinct stack is written once.
 */
#ifndef FX_ENGINE_BACKTRACE_H
#define FX_ENGINE_BACKTRACE_H

#include "engine/provider/record.h"

/* The most frames of a stack. */
#define FX_BACKTRACE_MAX 64u

struct fx_backtrace {
	uint32_t string; /* its index; 0: lost */
	uint32_t level;	 /* of one that a chunk alone knows: the chunk that holds it */
	uint64_t serial;
};

/* The string of a stack of `count` frames, defined now if it is new. Takes no reservation that is still
 * open; so it comes before the event's own, for which `words` of room are left in a chunk that alone
 * knows the string. */
struct fx_backtrace fx_backtrace_string(struct fx_thread *t, const uint64_t *frames, unsigned count,
					unsigned words);

/* A module is gone: the same return addresses are another stack from now on. */
void fx_backtrace_forget(void);

/* The index for a record in the reservation `r`: 0 if its chunk does not know the string. */
fx_hot uint32_t fx_backtrace_ref(const struct fx_thread *t, const struct fx_backtrace *b,
				 const struct fx_reservation *r)
{
	if (b->string < FX_STRING_LOCAL)
		return b->string;
	return b->level == r->level && t->cursor[r->level].serial == b->serial ? b->string : 0;
}

#endif
