/* SPDX-License-Identifier: MIT */
/*
 * The records that this provider writes, but for those of calls: samples, who has a processor, names, losses. They are of threads of
 * other processes, which they name by the kernel's numbers; times are CLOCK_BOOTTIME in nanoseconds. Nothing is written while
 * tracing does not run.
 */
#ifndef FX_KERNEL_RECORDS_H
#define FX_KERNEL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/task.h"

/* A thread was found in this stack: functions in lines, the innermost first. It stands for `period' ns. */
void fx_kernel_sample(struct fx_task thread, uint64_t ns, uint32_t period, const char *stack,
		      size_t length);

/* The thread was given the processor, or had it taken away. */
enum fx_kernel_switch {
	FX_SWITCH_IN,
	FX_SWITCH_WAITS, /* it gave it up */
	FX_SWITCH_WAITS_DEEP, /* the same, and no signal wakes it: it waits for a disk, or a lock of the kernel's */
	FX_SWITCH_STOPPED, /* by a signal or a debugger */
	FX_SWITCH_ENDS,
	FX_SWITCH_PREEMPTED, /* it would have gone on */
};
void fx_kernel_switch(struct fx_task thread, uint64_t ns, uint32_t cpu, enum fx_kernel_switch what);

/* A thread has woken another one, or an interrupt on its processor has (waker 0), which is to run on that processor. */
void fx_kernel_wakeup(uint32_t tid, uint64_t ns, uint32_t cpu, uint32_t waker);

/* The name of a thread; of a process, if it is that one's first thread and `is_new_program`. */
void fx_kernel_name(struct fx_task thread, const char *name, bool is_new_program);

/* So many of the kernel's records did not come. */
void fx_kernel_lost(uint64_t count);

#endif
