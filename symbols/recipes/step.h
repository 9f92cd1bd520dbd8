/* SPDX-License-Identifier: MIT */
/*
 * One instruction: what it does to the state, and where the code goes on. Each machine has its own (x86.c).
 */
#ifndef FX_SYMBOLS_STEP_H
#define FX_SYMBOLS_STEP_H

#include <stddef.h>

#include "symbols/recipes/state.h"

enum fx_step_kind {
	FX_STEP_NEXT,	/* goes on behind it */
	FX_STEP_JUMP,	/* at `target' */
	FX_STEP_BRANCH, /* at either */
	FX_STEP_CALL,	/* calls `target', or what stands at `slot'; both 0: nobody knows what */
	FX_STEP_LEAVE,	/* jumps to what stands at `slot', or nobody knows where */
	FX_STEP_RETURN,
	FX_STEP_STUCK, /* an instruction that is not known here: so is what comes behind it */
};

struct fx_step {
	enum fx_step_kind kind;
	uint64_t next; /* the address behind the instruction */
	uint64_t target, slot;
};

/* Whether this machine's instructions are known at all. */
bool fx_step_is_known(void);

/* Goes over the instruction at `pc', of which `size' bytes of code are at hand. */
void fx_step(struct fx_state *s, const uint8_t *code, size_t size, uint64_t pc,
	     struct fx_step *ret);

/* A call has returned: what a called function need not keep is not known any more. */
void fx_step_call_over(struct fx_state *s);

/* Whether a hook finds the register as it was at the call of the hook. */
bool fx_step_is_kept(unsigned number);

/* Where the first function to be called has its values; -1: there are no more. */
int fx_step_argument(unsigned index);
int fx_step_vector_argument(unsigned index);
int fx_step_result(unsigned index);
int fx_step_vector_result(unsigned index);

/* The stack pointer, and the bytes from there to what the caller has put on the stack, as a function begins. */
unsigned fx_step_stack_register(void);
unsigned fx_step_frame_register(void);
int64_t fx_step_stack_above(void);

/* Whether there is a call at `pc', if an instruction begins there; and where it returns to, and what it calls, as above. */
bool fx_step_is_call(const uint8_t *code, size_t size, uint64_t pc, struct fx_step *ret);

/* Whether a called address is a stub of the link editor's, which jumps to what stands at a slot. */
bool fx_step_is_stub(const uint8_t *code, size_t size, uint64_t pc, uint64_t *ret_slot);

#endif
