/* SPDX-License-Identifier: MIT */
/* What the kernel is asked to tell, and of whom. */
#ifndef FX_KERNEL_WISH_H
#define FX_KERNEL_WISH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A tracepoint by its number, whether it is of interest while any thread runs, and when: an expression of the kernel's, NULL: always. */
struct fx_kernel_point {
	uint32_t number;
	bool is_wide;
	const char *filter; /* a literal */
	const char *group, *name;
	bool is_wanted_whole; /* by its name, with all fields */
	bool
	    is_followed; /* its records come from programs (kernel/follow.h), and it is not asked for */
};

struct fx_follow;

struct fx_kernel_wish {
	pid_t pid;	     /* of which, and of what it starts from now on; 0: of none */
	bool everyone;	     /* and of all that are registered with the manager, now or later */
	const char *manager; /* the path of its socket, if so */
	uint32_t hz;	     /* samples a second of processor time; 0: none */
	bool switches;	     /* who is given a processor */
	bool faults;	     /* page faults that wait for a disk, and what is mapped where */
	const struct fx_follow
	    *follow;  /* what tells of some tracepoints, and has texts; NULL: nothing */
	bool machine; /* switches of all threads that there are */
	const struct fx_kernel_point *points;
	bool late;	      /* tracepoints of all threads may come later (fx_rings_add_late()) */
	unsigned point_count; /* they are left out where they are not permitted */
};

#endif
