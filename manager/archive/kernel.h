/* SPDX-License-Identifier: MIT */
/*
 * What the kernel provider alone may say: records of other processes, which it names by the numbers that the kernel
 * has for them. The archive has them by its own numbers (manager/process/identity.h).
 */
#ifndef FX_MANAGER_KERNEL_H
#define FX_MANAGER_KERNEL_H

#include "manager/archive/rewriting.h"

/* The inline thread reference that comes next. 0 or -EINVAL. */
int fx_kernel_thread(struct fx_rewriting *w);

/* The thread, by its number alone, in the word that comes next; 0 is the idle one. 0 or -EINVAL. */
int fx_kernel_tid(struct fx_rewriting *w);

/* The name of a process or of a thread: all but its references is made right. False: it is neither. */
bool fx_kernel_object(struct fx_rewriting *w);

/* Whether it is the name of a process that is a provider itself, and has said its name. */
bool fx_kernel_is_provider(const struct fx_rewriting *w);

#endif
