/* SPDX-License-Identifier: MIT */
/*
 * Points at which tests let a fault happen, by name: fault.def has them all. In the product they are
 * nothing. Built with -DFX_FAULTS, a process looks at its environment:
 *
 *	FXTRACE_FAULT=NAME[@N]:ACTION     at the Nth passing of NAME in this process (1):
 *		kill        ends with SIGKILL
 *		stop        stops, until somebody sends SIGCONT
 *		sleep=MS    the thread sleeps
 *		spin=MS     the thread is busy
 *		raise=SIG   sends itself a signal, whose handler runs at the point; passings
 *		            count from when there is a handler
 *		every=SIG   the same at each Nth passing
 *		fail=ERRNO  goes on as if -ERRNO had been the result, where the point has one
 *		forward=MS  from then on the point's clock is ahead by so much
 *		back=MS     or behind
 *	FXTRACE_FAULT_MARK=FILE           made before the action, with the pid in it; where it exists,
 *	                                  the fault has happened, and nothing happens again
 *
 * Only raw system calls are made, so a point may stand anywhere, in a signal handler too.
 */
#ifndef FX_BASE_FAULT_H
#define FX_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fx_fault_point {
#define FX_FAULT_POINT(name, run, passing, where) FX_FAULT_##name,
#include "base/fault.def"
#undef FX_FAULT_POINT
	FX_FAULT_COUNT,
};

/* FX_FAULT(name): passes the point. 0, or what `fail' says, a negative errno.
 * FX_FAULT_SHIFT(name): passes the point. Nanoseconds to be added to a clock.
 * FX_FAULT_IS_SET(name): the environment names this point. */
#ifdef FX_FAULTS

/* The environment, for as long as libc has not set `environ`. */
void fx_fault_begin(char **envp);

int fx_fault_pass(enum fx_fault_point point);
int64_t fx_fault_shift(enum fx_fault_point point);
bool fx_fault_is_set(enum fx_fault_point point);

#define FX_FAULT(name)	      fx_fault_pass(FX_FAULT_##name)
#define FX_FAULT_SHIFT(name)  fx_fault_shift(FX_FAULT_##name)
#define FX_FAULT_IS_SET(name) fx_fault_is_set(FX_FAULT_##name)

#else

static inline void fx_fault_begin(char **envp)
{
	(void)envp;
}

static inline int fx_fault_none(enum fx_fault_point point)
{
	(void)point;
	return 0;
}

#define FX_FAULT(name)	      fx_fault_none(FX_FAULT_##name)
#define FX_FAULT_SHIFT(name)  fx_fault_none(FX_FAULT_##name)
#define FX_FAULT_IS_SET(name) (fx_fault_none(FX_FAULT_##name) != 0)

#endif

#endif
