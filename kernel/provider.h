/* SPDX-License-Identifier: MIT */
/*
 * This process as a provider: how it registers (doc/PROTOCOL.md), and leaves. What it writes, all by the one thread that has
 * registered, stands in kernel/records.h and kernel/call-record.h.
 */
#ifndef FX_KERNEL_PROVIDER_H
#define FX_KERNEL_PROVIDER_H

#include <stdbool.h>

/* A name of a category, and what it is; before registering. Both must be literals. */
void fx_kernel_knows(const char *category, const char *description);

/* Registers with the manager that listens at `path`. 0 or -errno. */
int fx_kernel_register(const char *path);

/* Nothing more will be recorded. */
void fx_kernel_leave(void);

/* Whether what is recorded now is kept: tracing runs, and the manager does. */
bool fx_kernel_is_on(void);

#endif
