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

/* So many threads are followed at once. Others are counted. */
#define FX_FOLLOW_THREADS_MAX 65536u

struct fx_follow;

/*
 * Of a process and what it starts from now on, 0: of none. `manager', the path of its socket: others may come (fx_follow_process()), and those who
 * register there do; NULL: nobody. 0 or -errno: -EPERM where BPF is not permitted.
 */
int fx_follow_create(pid_t pid, const char *manager, const struct fx_tracepoints *points,
		     struct fx_follow **ret);
void fx_follow_destroy(struct fx_follow *follow);

/*
 * A process that runs, with all its threads, and what it starts from now on. Where BPF knows threads by other numbers than we do, it tells of
 * all that there are, once others may come.
 */
void fx_follow_process(struct fx_follow *follow, uint32_t pid);

/* Switches and system calls, as far as they are among `sets' (bits of enum fx_kernel_set) and can be had. 0 or -errno, of calls. */
int fx_follow_sets(struct fx_follow *follow, uint32_t sets);

/* A tracepoint by its number and names, whose records come as they are. 0 or -errno. */
int fx_follow_point(struct fx_follow *follow, uint32_t number, const char *group, const char *name);

/* Whether it tells of the tracepoint of that number by what is known of it (fx_tracepoint_is_followed()). */
bool fx_follow_tells(const struct fx_follow *follow, uint32_t number);

/* Records of a processor go into the event `fd' (PERF_COUNT_SW_BPF_OUTPUT). 0 or -errno. */
int fx_follow_direct(const struct fx_follow *follow, uint32_t cpu, int fd);

/* How often programs were not run, for whichever thread of the machine (fx_bpf_missed()): so many records may be missing, and may be none of ours. */
uint64_t fx_follow_missed(const struct fx_follow *follow);

/* Since it was asked last: records that found no way into a ring, and that no ring counts. */
uint64_t fx_follow_untold(struct fx_follow *follow);

/* Threads that it had no room for. */
uint64_t fx_follow_unfollowed(const struct fx_follow *follow);

#endif
