/* SPDX-License-Identifier: MIT */
/*
 * Records by which a process tells the manager something: which thread's a chunk is, what a thread is called, what it has done
 * to another process, what it is about to execute, which modules it has, what it starts that cannot be traced.
 */
#ifndef FX_MANAGER_TOLD_H
#define FX_MANAGER_TOLD_H

#include "manager/archive/rewriting.h"

/* Each 0, and it has served its purpose; or -errno, and nothing of it counts. */
int fx_told_thread(struct fx_rewriting *w);
int fx_told_kernel_object(struct fx_rewriting *w);
int fx_told_module(struct fx_rewriting *w);

/* An instant by which a process tells that what it starts cannot be traced; others pass. */
void fx_told_untraced(const struct fx_rewriting *w);

#endif
