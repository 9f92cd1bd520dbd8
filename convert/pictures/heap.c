/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include <uthash.h>

#include "convert/pictures/heap.h"

/* One block taken or given back. */
struct fx_heap_step {
	uint64_t ts;
	uint64_t address; /* 0: all of the process are given back */
	uint64_t size;
	uint32_t path; /* FX_PATH_NONE: given back */
	uint32_t process;
};

struct block_key {
	uint64_t address;
	uint64_t process;
};

struct block {
	struct block_key key;
	uint64_t size;
	uint32_t path;
	UT_hash_handle hh;
};

/* --- Calls ------------------------------------------------------------------------------------ */

static uint64_t heap_value(const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		return arg->int32 > 0 ? (uint64_t)arg->int32 : 0;
	case FXT_ARG_UINT32:
		return arg->uint32;
	case FXT_ARG_INT64:
		return arg->int64 > 0 ? (uint64_t)arg->int64 : 0;
	case FXT_ARG_UINT64:
		return arg->uint64;
	case FXT_ARG_POINTER:
		return arg->pointer;
	default:
		return 0;
	}
}

static uint64_t heap_look(const struct fxt_arg *args, uint32_t count, const char *name,
			  uint64_t otherwise)
{
	for (uint32_t i = 0; i < count; i++) {
		if (args[i].type <= FXT_ARG_BLOB && fxt_string_equals(&args[i].name, name))
			return heap_value(&args[i]);
	}
	return otherwise;
}

/* A value of a call, from its begin or its end. */
static uint64_t heap_arg(const struct fx_event *event, const char *name, uint64_t otherwise)
{
	otherwise = heap_look(event->args, event->nargs, name, otherwise);
	return heap_look(event->end_args, event->end_nargs, name, otherwise);
}

bool fx_heap_is_call(const struct fx_event *event)
{
	return fxt_string_equals(event->category, "malloc") && event->end != UINT64_MAX &&
	       !(event->flags & FX_ENTRY_UNFINISHED);
}

static int heap_add(struct fx_heap *heap, struct fx_heap_step step)
{
	if (fx_vector_reserve(&heap->steps, 1) < 0)
		return -ENOMEM;
	heap->steps.items[heap->steps.count++] = step;
	return 0;
}

static int heap_take(struct fx_heap *heap, struct fx_paths *paths, struct fx_heap_step step)
{
	uint64_t *self = paths->list.items[step.path].self;

	if (step.address == 0)
		return 0;
	self[FX_MEASURE_ALLOC_OBJECTS]++;
	self[FX_MEASURE_ALLOC_SPACE] += step.size;
	return heap_add(heap, step);
}

int fx_heap_call(struct fx_heap *heap, struct fx_paths *paths, const struct fx_event *event,
		 uint32_t path)
{
	bool aligned = fxt_string_equals(event->name, "posix_memalign");
	uint64_t given = heap_arg(event, "ptr", 0);
	uint64_t size = heap_arg(event, "size", 0) * heap_arg(event, "count", 1);
	struct fx_heap_step take = {.ts = event->end,
				    .address = aligned ? given : heap_arg(event, "ret", 0),
				    .size = size,
				    .path = path,
				    .process = event->thread->process->number};
	struct fx_heap_step give = {
	    .ts = event->ts, .address = given, .path = FX_PATH_NONE, .process = take.process};
	int r = 0;

	/* A realloc() that failed leaves the block as it was. */
	if (given && !aligned && (take.address || size == 0))
		r = heap_add(heap, give);
	return r < 0 ? r : heap_take(heap, paths, take);
}

int fx_heap_exec(struct fx_heap *heap, const struct fx_event *event)
{
	return heap_add(heap, (struct fx_heap_step){.ts = event->ts,
						    .path = FX_PATH_NONE,
						    .process = event->thread->process->number});
}

/* --- What is left ----------------------------------------------------------------------------- */

static int heap_compare(const void *a, const void *b)
{
	const struct fx_heap_step *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	/* Who takes at the very time at which another one gives may have got that block. */
	return (left->path != FX_PATH_NONE) - (right->path != FX_PATH_NONE);
}

static void heap_forget(struct block **blocks, struct block *block)
{
	HASH_DEL(*blocks, block);
	free(block);
}

static void heap_forget_all(struct block **blocks)
{
	struct block *block = NULL, *next;

	HASH_ITER (hh, *blocks, block, next)
		heap_forget(blocks, block);
}

static int heap_replay(struct block **blocks, const struct fx_heap_step *step)
{
	struct block_key key = {step->address, step->process};
	struct block *block;

	if (step->address == 0) {
		heap_forget_all(blocks);
		return 0;
	}
	HASH_FIND(hh, *blocks, &key, sizeof(key), block);
	if (step->path == FX_PATH_NONE) {
		if (block)
			heap_forget(blocks, block);
		return 0;
	}
	if (!block) {
		block = calloc(1, sizeof(*block));
		if (!block)
			return -ENOMEM;
		block->key = key;
		HASH_ADD(hh, *blocks, key, sizeof(key), block);
	}
	block->size = step->size;
	block->path = step->path;
	return 0;
}

static void heap_count(struct fx_paths *paths, struct block **blocks)
{
	struct block *block = NULL, *next;

	HASH_ITER (hh, *blocks, block, next) {
		uint64_t *self = paths->list.items[block->path].self;

		self[FX_MEASURE_INUSE_OBJECTS]++;
		self[FX_MEASURE_INUSE_SPACE] += block->size;
		heap_forget(blocks, block);
	}
}

int fx_heap_finish(struct fx_heap *heap, struct fx_paths *paths)
{
	struct block *blocks = NULL;
	int r = 0;

	if (heap->steps.count > 0)
		qsort(heap->steps.items, heap->steps.count, sizeof(struct fx_heap_step),
		      heap_compare);
	for (size_t i = 0; i < heap->steps.count && r == 0; i++) {
		const struct fx_heap_step *step = &heap->steps.items[i];

		if (i > 0 && step[-1].process != step->process)
			heap_count(paths, &blocks);
		r = heap_replay(&blocks, step);
	}
	heap_count(paths, &blocks);
	fx_vector_free(&heap->steps);
	return r;
}
