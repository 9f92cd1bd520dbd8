/* SPDX-License-Identifier: MIT */
/*
 * Who descends from whom, by the kernel's word.
 */
#ifndef FX_MANAGER_KIN_H
#define FX_MANAGER_KIN_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a process that is_head() knows is among the ancestors of `pid`. */
bool fx_kin_descends(pid_t pid, bool (*is_head)(void *opaque, pid_t pid), void *opaque);

#endif
