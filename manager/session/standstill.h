/* SPDX-License-Identifier: MIT */
/*
 * Whether traced processes go on. One that has had a processor has: whatever it records, it needs one for. So their processor
 * time tells, which the kernel has to the nanosecond; and that of their descendants that are not traced, for whom they may wait.
 */
#ifndef FX_MANAGER_STANDSTILL_H
#define FX_MANAGER_STANDSTILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lists/vector.h"

struct fx_pids {
	pid_t *items;
	size_t count, capacity;
};

/* What some processes have done. */
struct fx_work {
	uint64_t ns;  /* processor time */
	uint64_t who; /* tells sets of processes apart */
};

struct fx_standstill {
	uint64_t limit_ns;  /* so long is a standstill; 0: none is looked for */
	uint64_t next;	    /* CLOCK_MONOTONIC ns: when it is looked again, */
	uint64_t looked;    /* was looked last, */
	uint64_t since;	    /* and something was last seen to go on; 0: not yet */
	uint64_t excuse_ns; /* processor time that was spent on being looked at */
	bool is_told;	    /* this standstill was */
	struct fx_work traced, others;
};

void fx_standstill_init(struct fx_standstill *ret, uint64_t limit_ns);

/* Looks at the traced processes, `pids`. True: they stand still, and it is time to say so, once; their descendants are added then. */
bool fx_standstill_look(struct fx_standstill *still, uint64_t now, struct fx_pids *pids);

/* So many threads were stopped since, for a look at them. */
void fx_standstill_excuse(struct fx_standstill *still, uint32_t stopped);

/* Adds the descendants of processes to them. 0 or -ENOMEM; without /proc there are none. */
int fx_pids_add_descendants(struct fx_pids *pids);

#endif
