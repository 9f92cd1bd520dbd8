/* SPDX-License-Identifier: MIT */
/*
 * Programs of BPF that follow a process and what it starts, and write what tracepoints say of these threads into the rings. Events that
 * threads inherit would tell the same, but each fork and each end of a thread then waits for whoever else on the machine begins or ends
 * to use a tracepoint, which takes the kernel some 50 ms, and more on a busy machine: it has one lock for all of that. With them come the texts that
 * system calls are given, of which a tracepoint says where they lie alone: they are copied while the call begins, or at its end where the
 * page was not there before the kernel itself had read it.
 */
#ifndef FX_KERNEL_FOLLOW_H
#define FX_KERNEL_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/tracepoint.h"

struct fx_follow;

/* Switches and system calls, as far as they are among `sets' (bits of enum fx_kernel_set). *ret: NULL where neither is to be had. 0 or -errno,
 * of calls if these are among them: -EPERM where BPF is not permitted. */
int fx_follow_open(pid_t pid, const struct fx_tracepoints *points, uint32_t sets,
		   struct fx_follow **ret);
void fx_follow_close(struct fx_follow *follow);

/* Whether it tells what the tracepoint of that number says; NULL does of none. */
bool fx_follow_tells(const struct fx_follow *follow, uint32_t number);

/* Records of a processor go into the event `fd' (PERF_COUNT_SW_BPF_OUTPUT). 0 or -errno. */
int fx_follow_direct(const struct fx_follow *follow, uint32_t cpu, int fd);

#endif
