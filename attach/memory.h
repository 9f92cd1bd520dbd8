/* SPDX-License-Identifier: MIT */
/* Memory of another process. */
#ifndef FX_ATTACH_MEMORY_H
#define FX_ATTACH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* False: not all of it. */
bool fx_memory_read(pid_t pid, uint64_t at, void *to, size_t size);
bool fx_memory_write(pid_t pid, uint64_t at, const void *from, size_t size);

#endif
