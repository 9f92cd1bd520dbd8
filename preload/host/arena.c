/* SPDX-License-Identifier: MIT */
#include "preload/host/arena.h"

#include <errno.h>

#include "base/atomic.h"

/* Before each block, its size, written as glibc marks a block that was mapped for itself: a program
 * that asks malloc_usable_size() about one is told the truth. */
struct block {
	size_t unused;
	size_t size_and_mark;
};

#define MARK_MAPPED 2u
#define MARK_BITS   7u

char fx_arena[FX_ARENA_SIZE] FX_LARGE;

static size_t used;

void *fx_arena_alloc(size_t alignment, size_t size)
{
	size_t room, start;
	struct block *b;

	if (alignment < 16)
		alignment = 16;
	size = FX_ALIGN_UP(size, (size_t)16);
	room = sizeof *b + size + alignment;
	if (size > FX_ARENA_SIZE || alignment > FX_ARENA_SIZE ||
	    fx_load_relaxed(&used) + room > FX_ARENA_SIZE ||
	    (start = fx_add_relaxed(&used, room)) + room > FX_ARENA_SIZE) {
		errno = ENOMEM;
		return NULL;
	}
	start = FX_ALIGN_UP((size_t)(fx_arena + start) + sizeof *b, alignment);
	b = (struct block *)start - 1;
	b->size_and_mark = (size + sizeof *b) | MARK_MAPPED;
	return (void *)start;
}

size_t fx_arena_usable(const void *p)
{
	const struct block *b = (const struct block *)p - 1;

	return (b->size_and_mark & ~(size_t)MARK_BITS) - sizeof *b;
}
