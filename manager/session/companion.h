/* SPDX-License-Identifier: MIT */
/*
 * The kernel provider of a session of `fxtrace run': a process beside the manager, which lives from before the program begins
 * until all that the kernel said of it is recorded.
 */
#ifndef FX_MANAGER_COMPANION_H
#define FX_MANAGER_COMPANION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/kernel-ready.h"

#define FX_COMPANION_NAME    "fxtrace-kernel"
#define FX_COMPANION_SESSION "--session" /* it ends when tracing is stopped */

struct fx_companion {
	/* What is asked for; all zero: nothing. */
	uint32_t hz;   /* samples a second of processor time */
	bool switches; /* who has a processor, and when */
	bool
	    calls; /* system calls of processes in which nothing is preloaded, as far as that is permitted */
	bool everyone;		/* of all programs that are traced, beside `program' */
	bool machine;		/* switches of all threads, as far as that is permitted */
	const char *categories; /* a list, of which those of the kernel count; NULL: none */
	bool alone;		/* of the program alone, without its children */
	const char *probes; /* a list of categories that asks for probes (sdt:); NULL: none does, */
	char *const *
	    command; /* and the program that may have some from its begin on, with its arguments; NULL: none */
	bool stays; /* until tracing is stopped, also when its maker has ended */
	const char *socket;
	/* What there is. */
	pid_t pid;		      /* 0: none */
	int said;		      /* is closed when all is recorded; valid while there is one */
	bool began;		      /* it records */
	struct fx_kernel_ready ready; /* what, if it does */
};

/* Whether anything is asked for. */
bool fx_companion_is_wanted(const struct fx_companion *c);

/* Starts it for a program that has not begun; 0: for none. Where it cannot be, one line says why, and what would help. */
void fx_companion_start(struct fx_companion *c, pid_t program);

/* Tells it that the program has ended. */
void fx_companion_finish(const struct fx_companion *c);

/* Whether it has ended, and then there is none. */
bool fx_companion_is_over(struct fx_companion *c);

/* Says what it did not see, and what would help; nothing if it saw all. After it has ended. */
void fx_companion_report(const struct fx_companion *c);

/* Ends it now. */
void fx_companion_kill(struct fx_companion *c);

#endif
