/* SPDX-License-Identifier: MIT */
/* What processes do is of interest of some: of the program with what it starts, of those that are registered with a manager, or of all. */
#ifndef FX_KERNEL_INTEREST_H
#define FX_KERNEL_INTEREST_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/follow.h"
#include "kernel/space.h"
#include "kernel/wish.h"

struct fx_interest {
	struct fx_spaces *spaces;
	struct fx_follow *follow; /* is told of those who are; NULL: nobody is */
	const char *manager;
	bool machine;	/* of all threads */
	bool everyone;	/* records come of all, and are of interest for some */
	uint32_t alone; /* the process that is of interest; 0: all are */
	void (*see)(void *opaque, uint32_t pid); /* is called for each that is from now on */
	void *opaque;
	uint64_t asked_ns, /* CLOCK_MONOTONIC: the manager was asked who is registered, */
	    ask_until; /* and is asked again until then: a process registers when it has mapped the library */
};

/* Whether what a process does is of interest; of switches and what has to do with them, more may be. */
bool fx_interest_has(const struct fx_interest *interest, uint32_t pid);
bool fx_interest_has_switches(const struct fx_interest *interest, uint32_t pid);

/* The program's process is one. */
void fx_interest_begin(struct fx_interest *interest, uint32_t pid);

/* A process has mapped the library, and may register soon. */
void fx_interest_await(struct fx_interest *interest, uint32_t pid);

/* A process that has mapped the library connects to the manager: it registers. */
void fx_interest_arrive(struct fx_interest *interest, uint32_t pid);

/* The manager is asked who is registered: now, or if it is time to. */
void fx_interest_ask(struct fx_interest *interest);
void fx_interest_ask_in_time(struct fx_interest *interest);

/* A process was made, at a time of CLOCK_BOOTTIME; it is known to the spaces. */
void fx_interest_fork(struct fx_interest *interest, uint32_t pid, uint64_t ns);

#endif
