/* SPDX-License-Identifier: MIT */
/*
 * What `fxtrace attach' (attach/) and libfxtrace.so agree upon, in a process that the library comes into while that runs.
 *
 * The dynamic linker loads it by a path that has FX_LATE_MARK before the last name, by which its constructor knows that nobody
 * asks for anything yet. Then one thread is made to call, with all its signals blocked, on a stack of its own:
 *
 *	int fxtrace_late_begin(struct fx_late *)	the process registers, and calls lead to the wrappers
 *	int fxtrace_late_end(struct fx_late *)		they lead to where they led before
 *
 * Both keep errno, and may be called again and again. Releases of any age may meet: of struct fx_late all stays as it is.
 */
#ifndef FX_BASE_LATE_H
#define FX_BASE_LATE_H

#include <stdint.h>

#define FX_LATE_MARK   "/./"
#define FX_LATE_BEGIN  "fxtrace_late_begin"
#define FX_LATE_END    "fxtrace_late_end"
#define FX_LATE_SOCKET 108u

struct fx_late {
	uint32_t size;		     /* of this struct; the caller's */
	int32_t result;		     /* 0, or -errno; the caller sets it to FX_LATE_PENDING */
	uint32_t words;		     /* so many lead to wrappers now, or were put back */
	uint32_t left;		     /* so many could not be put back, or be changed */
	char socket[FX_LATE_SOCKET]; /* where the manager listens */
};

/* Until the call is over. */
#define FX_LATE_PENDING 1

#endif
