/* SPDX-License-Identifier: MIT */
/*
 * Threads that the kernel provider has named. Those of processes in which libfxtrace.so is count as its; of the others the kernel alone
 * tells, as of static programs.
 */
#ifndef FX_MANAGER_KERNEL_TASKS_H
#define FX_MANAGER_KERNEL_TASKS_H

#include <stdint.h>

#include "manager/process/identity.h"

struct fx_kernel_tasks {
	uint32_t *process; /* [tid]: whose thread it is, 0 none; NULL: there are none */
	uint32_t end;	   /* tids from here on are none */
};

/* A thread by its number and its process'; a number that is used again counts once. Without memory nothing is counted. */
void fx_kernel_tasks_know(struct fx_kernel_tasks *tasks, uint64_t pid, uint64_t tid);

/* How many processes, and threads in them, of which the kernel alone has told. */
void fx_kernel_tasks_count(const struct fx_kernel_tasks *tasks, const struct fx_identities *ids,
			   uint64_t *ret_processes, uint64_t *ret_threads);

void fx_kernel_tasks_destroy(struct fx_kernel_tasks *tasks);

#endif
