/* SPDX-License-Identifier: MIT */
#include "manager/archive/kernel-tasks.h"

#include <stdlib.h>

/* Larger numbers there are none: PID_MAX_LIMIT of the kernel. */
#define TIDS (UINT32_C(1) << 22)

void fx_kernel_tasks_know(struct fx_kernel_tasks *tasks, uint64_t pid, uint64_t tid)
{
	if (pid >= TIDS || tid >= TIDS)
		return;
	/* Of the large array only the pages in use become resident. */
	if (!tasks->process)
		tasks->process = calloc(TIDS, sizeof(*tasks->process));
	if (!tasks->process)
		return;
	tasks->process[tid] = (uint32_t)pid;
	if (tid >= tasks->end)
		tasks->end = (uint32_t)tid + 1;
}

void fx_kernel_tasks_count(const struct fx_kernel_tasks *tasks, const struct fx_identities *ids,
			   uint64_t *ret_processes, uint64_t *ret_threads)
{
	*ret_processes = *ret_threads = 0;
	for (uint32_t tid = 0; tid < tasks->end; tid++) {
		uint32_t pid = tasks->process[tid];

		if (!pid || fx_identity_is_known(ids, pid))
			continue;
		*ret_threads += 1;
		*ret_processes += pid == tid;
	}
}

void fx_kernel_tasks_destroy(struct fx_kernel_tasks *tasks)
{
	free(tasks->process);
	*tasks = (struct fx_kernel_tasks){.process = NULL};
}
