/* SPDX-License-Identifier: MIT */
/*
 * Heaps, from calls of category malloc: each block matched with the call that frees it. Threads are told one after
 * another, but a block may be freed by another thread than its owner: so all changes are kept, beyond some memory in a
 * file without a name (runs.h), and gone through in order of time at the end. Only blocks in use at one time take memory
 * then (blocks.h), and no more of them than FX_HEAP_BLOCKS_MAX are followed.
 */
#ifndef FX_CONVERT_HEAP_H
#define FX_CONVERT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/export.h"

enum { FX_HEAP_BLOCKS_MAX = 7 << 19 };

struct fx_heap;

/* NULL: no memory. */
struct fx_heap *fx_heap_new(void);

/* NULL is allowed. */
void fx_heap_free(struct fx_heap *heap);

/* Whether a slice is a call that takes or gives memory, and has ended. */
bool fx_heap_is_call(const struct fx_event *event);

/*
 * A slice: such a call, made at @place, which is the caller's to choose; an exec that did not return; or anything else,
 * which is nothing to it. Returns 0 or -ENOMEM.
 */
int fx_heap_call(struct fx_heap *heap, const struct fx_event *event, uint32_t place);

/* An instant: free(), where it was recorded so; a program that starts; or anything else. Returns 0 or -ENOMEM. */
int fx_heap_instant(struct fx_heap *heap, const struct fx_event *event);

enum fx_heap_step_kind {
	FX_HEAP_ALLOCATED,
	FX_HEAP_FREED,	 /* also when its process becomes another program */
	FX_HEAP_UNKNOWN, /* freed, but not allocated within the archive; size and place are 0 */
};

/* What became of a block. */
struct fx_heap_step {
	enum fx_heap_step_kind kind;
	uint64_t ts;
	uint64_t size;	   /* that was asked for */
	uint32_t process;  /* number */
	uint32_t place;	   /* where it was allocated */
	bool is_temporary; /* FREED: by its thread, before that allocated another */
	bool
	    is_followed; /* ALLOCATED: if not, it was one too many, and its end is FX_HEAP_UNKNOWN */
};

/*
 * Tells all of it in order of time. What was allocated and is never told to be freed is in use at the end. Call it
 * once. Returns 0, -ENOMEM, or what reading the file said.
 */
int fx_heap_run(struct fx_heap *heap, void (*tell)(void *opaque, const struct fx_heap_step *step),
		void *opaque);

#endif
