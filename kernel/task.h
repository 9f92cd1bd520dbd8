/* SPDX-License-Identifier: MIT */
/* A thread of some process, by the kernel's numbers. */
#ifndef FX_KERNEL_TASK_H
#define FX_KERNEL_TASK_H

#include <stdint.h>

struct fx_task {
	uint32_t pid;
	uint32_t tid;
};

#endif
