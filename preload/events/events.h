/* SPDX-License-Identifier: MIT */
/*
 * The program's own events: what the macros of include/fxtrace/event.h call.
 *
 * A duration is an open call like any other (engine/provider/frame.h), so that a process that is killed inside it shows it.
 * Its stack address is that of the scope's variable, and the variables of one function lie in any order:
 *
 *	its caller's stack frame
 *	-------------------------
 *	  scope of the inner block	may lie above the outer one's
 *	  scope of the outer block
 *	------------------------- the address of the function's own call, if it is hooked; and below it those of its callees
 *
 * So what is open above the address from which a scope is opened goes on, but for another of the same variable: that one was
 * left by a jump.
 */
#ifndef FX_PRELOAD_EVENTS_H
#define FX_PRELOAD_EVENTS_H

#ifdef NTRACE
#error "the library has the events"
#endif
#define NTRACE /* it has none of its own */
#include <fxtrace/event.h>
#undef NTRACE

/* This library's own, whichever the dynamic linker finds by the name of it, which is __fxtrace_events. */
extern const struct fxtrace_events fx_events_table __attribute__((visibility("hidden")));

#endif
