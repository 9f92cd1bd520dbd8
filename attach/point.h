/* SPDX-License-Identifier: MIT */
/*
 * A thread at a point at which it may make calls of any kind, to the dynamic linker among them: it is in the middle of nothing that
 * holds a lock which those take.
 *
 *	where the thread is				may it?
 *	blocked in, or about to make, a system call
 *	  by a function of libc that waits or moves	yes (points.def)
 *	  data, called by the program
 *	the same with a time limit that counts on	no: it is run on until the call is over. (What ptrace(2) has taken it out
 *							of the kernel takes up only if nothing was called meanwhile.)
 *	any other place in libc, the dynamic linker,	no
 *	an allocator, this library
 *	in the program's own code, its stack known up	yes; not if the program has a malloc() of its own, nor inside a
 *	to its begin, without any of the above on it	restartable sequence (rseq(2))
 *
 * and in any case on a stack as threads are made with, with room below.
 */
#ifndef FX_ATTACH_POINT_H
#define FX_ATTACH_POINT_H

#include "attach/chain.h"
#include "attach/target.h"
#include "attach/thread.h"

struct fx_point {
	struct fx_held held;
	struct fx_chain_state state;
};

/* Looks for one for so long. 0 and a thread that is held; -EAGAIN: no thread came to one; or -errno. */
int fx_point_find(const struct fx_target *target, unsigned ms, struct fx_point *ret);

#endif
