/* SPDX-License-Identifier: MIT */
/* Which processes are registered with the manager. */
#ifndef FX_KERNEL_MATES_H
#define FX_KERNEL_MATES_H

#include <stdint.h>

/* Asks the manager that listens at `path', and calls `see' for each, possibly twice; also for those of its session that have ended. 0 or -errno. */
int fx_mates_each(const char *path, void (*see)(void *opaque, uint32_t pid), void *opaque);

#endif
