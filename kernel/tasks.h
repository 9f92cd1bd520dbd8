/* SPDX-License-Identifier: MIT */
/* Which process a thread is of, as far as the kernel's records have said. */
#ifndef FX_KERNEL_TASKS_H
#define FX_KERNEL_TASKS_H

#include <stdint.h>

#include "kernel/task.h"

struct fx_tasks;

/* NULL without memory. */
struct fx_tasks *fx_tasks_create(void);
void fx_tasks_destroy(struct fx_tasks *tasks);

void fx_tasks_know(struct fx_tasks *tasks, struct fx_task task);
void fx_tasks_forget(struct fx_tasks *tasks, uint32_t tid);

/* 0: not known. */
uint32_t fx_tasks_process(const struct fx_tasks *tasks, uint32_t tid);

/* Calls `see' for the threads that a process has now. */
void fx_tasks_each_of(uint32_t pid, void (*see)(void *opaque, uint32_t tid), void *opaque);

/* Calls `see' for all threads that there are now, with their names. */
void fx_tasks_each_running(void (*see)(void *opaque, struct fx_task task, const char *name),
			   void *opaque);

#endif
