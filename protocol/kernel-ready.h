/* SPDX-License-Identifier: MIT */
/* What fxtrace-kernel tells whoever has started it, once, over the descriptor that --ready names. It is closed when all is
 * recorded. */
#ifndef FX_PROTOCOL_KERNEL_READY_H
#define FX_PROTOCOL_KERNEL_READY_H

#include <stdint.h>

struct fx_kernel_ready {
	int32_t error; /* 0: the kernel records from now on; or -errno */
	int32_t
	    points; /* tracepoints are told as well: who woke whom, and what else was asked for */
	int32_t kernel; /* samples tell of time inside the kernel as well */
};

#endif
