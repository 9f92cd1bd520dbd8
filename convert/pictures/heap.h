/* SPDX-License-Identifier: MIT */
/*
 * What was allocated, and what of that is still there at the end. Threads are told one after another; blocks are
 * matched with those who freed them at the end, in order of time. A block whose allocation was not recorded counts
 * nowhere. What a process had is gone as it execs another program.
 */
#ifndef FX_CONVERT_PICTURES_HEAP_H
#define FX_CONVERT_PICTURES_HEAP_H

#include "convert/export.h"
#include "convert/pictures/paths.h"

struct fx_heap_step;

struct fx_heap {
	FX_VECTOR(struct fx_heap_step) steps;
};

/* Whether a call is one of the category malloc that takes or gives memory. */
bool fx_heap_is_call(const struct fx_event *event);

/* A call of the heap, made on @path. Counts what it allocated. Returns 0 or -ENOMEM. */
int fx_heap_call(struct fx_heap *heap, struct fx_paths *paths, const struct fx_event *event,
		 uint32_t path);

/* A process becomes another program. Returns 0 or -ENOMEM. */
int fx_heap_exec(struct fx_heap *heap, const struct fx_event *event);

/* Counts what is left, and frees all else. Returns 0 or -ENOMEM. */
int fx_heap_finish(struct fx_heap *heap, struct fx_paths *paths);

#endif
