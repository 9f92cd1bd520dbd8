/* SPDX-License-Identifier: MIT */
/* Where the kernel has what is read of a thread: places in its struct task_struct, by the kernel's own description of its types (BTF). */
#ifndef FX_KERNEL_TASK_LAYOUT_H
#define FX_KERNEL_TASK_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes from the begin of one. */
struct fx_task_layout {
	uint32_t tid;	/* 4 bytes */
	uint32_t cpu;	/* likewise: the processor that it has or is to have */
	uint32_t stack; /* the address of the kernel's stack that it has */
};

/* 0; -EBADMSG: that describes no types, or not these. */
int fx_task_layout_find(const uint8_t *types, size_t size, struct fx_task_layout *ret);

/* Of the kernel that runs. 0 or -errno. */
int fx_task_layout_read(struct fx_task_layout *ret);

#endif
