/* SPDX-License-Identifier: MIT */
/*
 * The one engine of a process. libfxtrace.so has one, and so has libfxtrace-provider, each copy of it that is linked into something;
 * they may be loaded in any order, and do not know of one another. Only one records: whichever claims the process first. The others'
 * tables of functions (struct fxtrace_events) become copies of its own, so that every macro leads to it, whichever table the dynamic
 * linker has found for its module.
 *
 * They find one another by notes (FXTRACE_NOTE_ENGINE). Releases of any age may meet, so of struct fx_engine_entry all stays as it is.
 */
#ifndef FX_PRELOAD_ENGINES_H
#define FX_PRELOAD_ENGINES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/events/events.h"

struct fx_engine_entry {
	uint32_t size; /* of this struct */
	uint32_t
	    claim; /* enum fx_engine_claim; of one that tries, which process it is: << FX_CLAIM_PID_SHIFT */
	const struct fxtrace_events *events;
	/* Hands categories and observers, which it has heard of so far, over to another. */
	void (*yield)(const struct fxtrace_events *to);
};

enum fx_engine_claim {
	FX_CLAIM_NONE = 0,
	FX_CLAIM_TRIES = 1,
	FX_CLAIM_HAS = 2,
};

#define FX_CLAIM_PID_SHIFT 2
#define FX_CLAIM_MASK	   ((1u << FX_CLAIM_PID_SHIFT) - 1)

/*
 * Claims the process. True: it is ours, since before or if it can be attached, which fx_engines_settle() or fx_engines_waive() says:
 * others wait for that. False: another engine has it, and our table is that one's from now on. `pid`: of the process, whose forked
 * child begins anew; 0: no thread can fork meanwhile. No system call, unless two threads are at it, or a table has to be changed.
 */
bool fx_engines_claim(int pid);

/* It is attached: from now on all other engines' macros are ours. */
void fx_engines_settle(void);

/* It could not be attached: another may claim it. */
void fx_engines_waive(void);

/* Whether it is ours. */
bool fx_engines_is_ours(void);

#endif
