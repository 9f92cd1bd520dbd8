/* SPDX-License-Identifier: MIT */
/*
 * What the system allows a process of ours, and what it does when that is used up: the limits of descriptors and file
 * sizes are raised as far as they may be, and a file that becomes too large is an error instead of a signal. Programs
 * that are started from here get all of it as it was, with what libc's threads use of signals.
 */
#ifndef FX_MANAGER_LIMITS_H
#define FX_MANAGER_LIMITS_H

/* Before anything else; a second time does nothing. */
void fx_limits_take(void);

/* In a child, before it becomes another program. */
void fx_limits_give_back(void);

/* Whether `count` more descriptors can be had: 0, or -errno. */
int fx_limits_descriptors(unsigned count);

#endif
