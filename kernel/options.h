/* SPDX-License-Identifier: MIT */
/* The command line of fxtrace-kernel. */
#ifndef FX_KERNEL_OPTIONS_H
#define FX_KERNEL_OPTIONS_H

#include "kernel/wish.h"

#define FX_KERNEL_NAME "fxtrace-kernel"

struct fx_kernel_options {
	const char *socket;
	struct fx_kernel_wish wish;
	bool alone;		/* not of what it starts */
	bool calls;		/* system calls, too */
	const char *categories; /* those of the kernel count */
	const char *probes;	/* a list of categories; NULL: none, */
	char **
	    command; /* and the program that has probes from the begin on, with its arguments; empty: none has */
	int ready;    /* -1: nobody is told */
	bool session; /* until tracing is stopped */
};

/* Ends the program where they are wrong, or ask for help. */
void fx_kernel_options_take(int argc, char **argv, struct fx_kernel_options *ret);

/* What they ask for beside samples and switches: bits of enum fx_kernel_set. */
uint32_t fx_kernel_options_sets(const struct fx_kernel_options *options);

#endif
