/* SPDX-License-Identifier: MIT */
/* What the kernel provider can record, and whether this user may have it here. */
#ifndef FX_CLIENT_KERNEL_CATEGORIES_H
#define FX_CLIENT_KERNEL_CATEGORIES_H

#include <stdbool.h>
#include <stddef.h>

struct fx_kernel_category {
	const char *name, *help;
	unsigned bytes;	  /* of a usual record, */
	const char *when; /* and when one is written */
	const char *
	    cure; /* NULL: it is permitted; else why not, and what would help. Valid until the next is asked for */
};

/* By name. False: there are no more. */
bool fx_kernel_category(size_t index, struct fx_kernel_category *ret);

#endif
