/* SPDX-License-Identifier: MIT */
/*
 * Stacks from a sample's registers and its copy of the stack, by the tables of the files that the code is of
 * (libunwind, with accessors on the copy).
 */
#ifndef FX_KERNEL_UNWIND_H
#define FX_KERNEL_UNWIND_H

#include <stdint.h>

#include "kernel/sample.h"
#include "kernel/space.h"

#define FX_UNWIND_MAX 192u

/* The code addresses of a sample, the innermost first; of callers the call's, so that each lies in the function that it is
 * of. How many; at least one. *ret_whole: they go up to where the thread began. */
unsigned fx_unwind(struct fx_space *space, const struct fx_caught *sample,
		   uint64_t ret[FX_UNWIND_MAX], bool *ret_whole);

#endif
