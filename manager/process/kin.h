/* SPDX-License-Identifier: MIT */
/*
 * Which process descends from which, and which is ending, by the kernel's word.
 */
#ifndef FX_MANAGER_KIN_H
#define FX_MANAGER_KIN_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a process that is_head() knows is among the ancestors of `pid`. */
bool fx_kin_descends(pid_t pid, bool (*is_head)(void *opaque, pid_t pid), void *opaque);

/* The parent of a process; 0 unknown, or none. */
pid_t fx_kin_parent(pid_t pid);

/* The same, and when it was made, in clock ticks since the machine was started; 0: not known. */
pid_t fx_kin_born(pid_t pid, unsigned long long *ret_ticks);

/* Whether a process that has not ended acts as this user. */
bool fx_kin_has_user(pid_t pid, uid_t uid);

/* Whether a process has ended, or does so now: it closes its descriptors before it is known to be gone. */
bool fx_kin_is_ending(pid_t pid);

/* Whether it is gone, or dead and not yet waited for. */
bool fx_kin_is_over(pid_t pid);

/* Whether the process of a pidfd goes on; -1 is allowed: it is not known to. */
bool fx_kin_lives(int pidfd);

/* Whether two pidfds are of one process. Before Linux 6.9 only the ended and the living are told apart; of -1 nothing is known:
 * true. */
bool fx_kin_may_be_same(int pidfd, int other);

/* How a process ended, as of wait(), of whose end its parent has not heard. */
bool fx_kin_status(pid_t pid, int *ret);

#endif
