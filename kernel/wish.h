/* SPDX-License-Identifier: MIT */
/* What the kernel is asked to tell, and of whom. */
#ifndef FX_KERNEL_WISH_H
#define FX_KERNEL_WISH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fx_kernel_wish {
	pid_t pid;		     /* of which, and of what it starts from now on */
	uint32_t hz;		     /* samples a second of processor time; 0: none */
	bool switches;		     /* who is given a processor */
	const uint32_t *tracepoints; /* their numbers (kernel/tracepoint.h), */
	unsigned
	    tracepoint_count; /* and how many; they are left out where they are not permitted */
};

#endif
