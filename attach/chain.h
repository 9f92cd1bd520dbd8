/* SPDX-License-Identifier: MIT */
/*
 * Calls that a thread of another process makes, and after which it is what it was, whether this process still lives or not.
 *
 * Not one register is put back by us. Before the thread is touched, all lies in its memory: for each call what the kernel leaves for a
 * handler of a signal to return with (the frame of rt_sigreturn(2)), with the registers that the call begins with, and one more with
 * those that the thread had. Then its registers are set once, to where handlers return to:
 *
 *	       rt_sigreturn          call 1 returns to         call 2 returns to
 *	set ->  [ frame 1 ]  call 1 -> [ frame 2 ]  call 2 -> [ last frame ]  -> goes on
 *
 * Each frame blocks all signals but the last, which has the thread's own mask. No code is written anywhere.
 */
#ifndef FX_ATTACH_CHAIN_H
#define FX_ATTACH_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/target.h"
#include "attach/thread.h"

#define FX_CHAIN_CALLS	3u
#define FX_CHAIN_XSTATE (16u << 10)

/* What a thread is to be again. */
struct fx_chain_state {
	struct user_regs_struct registers; /* as it goes on with; in no system call */
	uint64_t blocked;		   /* signals */
	uint32_t xstate_size;		   /* of what follows */
	uint8_t xstate[FX_CHAIN_XSTATE] __attribute__((aligned(64)));
};

/* A function, or the instruction `syscall'; `number' is the system call's. */
struct fx_chain_call {
	uint64_t at;
	uint64_t number;
	uint64_t args[6];
};

/* Of a thread that is stopped, the registers apart. 0; -EAGAIN: it has what cannot be put back; or -errno. */
int fx_chain_keep(const struct fx_held *held, struct fx_chain_state *ret);

/* Bytes that a chain takes, at most. */
uint64_t fx_chain_bytes(const struct fx_chain_state *state, unsigned calls);

/*
 * Has the thread make the calls, with what it takes in memory that ends at `end`; what calls need of a stack lies below. *ret: what the first
 * of them returned, if it is a system call. 0; -ETIMEDOUT: it is at it still, and will be as it was; or -errno.
 */
int fx_chain_make(const struct fx_target *target, struct fx_held *held,
		  const struct fx_chain_state *state, uint64_t end,
		  const struct fx_chain_call *calls, unsigned count, unsigned ms, int64_t *ret);

#endif
