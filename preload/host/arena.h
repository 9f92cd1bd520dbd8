/* SPDX-License-Identifier: MIT */
/*
 * Memory for the moment in which the real malloc is being looked up: a fixed area, given out once
 * and never taken back. Thread-safe, async-signal-safe.
 */
#ifndef FX_PRELOAD_ARENA_H
#define FX_PRELOAD_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define FX_ARENA_SIZE (256u << 10)

extern char fx_arena[FX_ARENA_SIZE] __attribute__((visibility("hidden")));

/* Zeroed memory. `alignment` is a power of two. NULL and ENOMEM when the area is used up. */
void *fx_arena_alloc(size_t alignment, size_t size);

/* Bytes that were asked for at `p`, which is the arena's. */
size_t fx_arena_usable(const void *p);

fx_hot bool fx_arena_owns(const void *p)
{
	return (uintptr_t)p - (uintptr_t)fx_arena < FX_ARENA_SIZE;
}

#endif
