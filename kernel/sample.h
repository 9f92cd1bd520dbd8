/* SPDX-License-Identifier: MIT */
/* Where a thread was at one moment, as far as the unwinder has to know it: its registers, a part of its stack, and where it was in
 * the kernel. */
#ifndef FX_KERNEL_SAMPLE_H
#define FX_KERNEL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/* PERF_CONTEXT_MAX: no address. */
#define FX_KERNEL_MARK ((uint64_t)-4095)

struct fx_caught {
	uint64_t ip;
	const uint64_t
	    *kernel; /* addresses, the innermost first; among them marks from FX_KERNEL_MARK on */
	uint64_t kernel_count;
	const uint64_t *registers; /* in the order of kernel/registers.h; NULL: not known */
	uint64_t unknown;	   /* bits: those of them that are not */
	const uint8_t *stack;	   /* from the stack pointer on */
	uint64_t stack_size;
	bool in_kernel;
};

#endif
