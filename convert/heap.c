/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/blocks.h"
#include "convert/heap.h"
#include "lists/runs.h"

/* In the order in which those of one time are told. */
enum change_kind {
	CHANGE_RESTART, /* the process becomes another program: nothing is in use */
	CHANGE_FREE,
	CHANGE_ALLOCATION,
};

struct change {
	uint64_t ts;
	uint64_t address;
	uint64_t size;
	uint32_t process; /* numbers */
	uint32_t thread;
	uint32_t place;
	uint32_t kind; /* enum change_kind */
};

struct fx_heap {
	struct fx_runs_pool pool;
	struct fx_runs changes;
};

#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))

static int heap_compare(const void *a, const void *b)
{
	const struct change *left = a, *right = b;
	int order = COMPARE(left->ts, right->ts);

	order = order ? order : COMPARE(left->kind, right->kind);
	order = order ? order : COMPARE(left->process, right->process);
	order = order ? order : COMPARE(left->address, right->address);
	return order ? order : COMPARE(left->thread, right->thread);
}

static const struct fx_runs_kind heap_changes_kind = {
    .size = sizeof(struct change),
    .compare = heap_compare,
};

struct fx_heap *fx_heap_new(void)
{
	struct fx_heap *heap = calloc(1, sizeof(*heap));

	if (heap) {
		fx_runs_pool_init(&heap->pool);
		fx_runs_init(&heap->changes, &heap->pool, &heap_changes_kind);
	}
	return heap;
}

void fx_heap_free(struct fx_heap *heap)
{
	if (!heap)
		return;
	fx_runs_release(&heap->changes);
	fx_runs_pool_release(&heap->pool);
	free(heap);
}

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

/* A value of an event, from its begin or its end. */
static uint64_t heap_arg(const struct fx_event *event, const char *name, uint64_t otherwise)
{
	otherwise = heap_look(event->args, event->nargs, name, otherwise);
	return heap_look(event->end_args, event->end_nargs, name, otherwise);
}

static int heap_add(struct fx_heap *heap, const struct fx_event *event, struct change change)
{
	struct change *added = fx_runs_add(&heap->changes);

	if (!added)
		return -ENOMEM;
	change.process = event->thread->process->number;
	change.thread = event->thread->number;
	*added = change;
	return 0;
}

static int heap_add_free(struct fx_heap *heap, const struct fx_event *event, uint64_t address)
{
	return heap_add(heap, event,
			(struct change){.ts = event->ts, .address = address, .kind = CHANGE_FREE});
}

static int heap_add_restart(struct fx_heap *heap, const struct fx_event *event)
{
	return heap_add(heap, event, (struct change){.ts = event->ts, .kind = CHANGE_RESTART});
}

bool fx_heap_is_call(const struct fx_event *event)
{
	return fxt_string_equals(event->category, "malloc") && event->end != UINT64_MAX &&
	       !(event->flags & FX_ENTRY_UNFINISHED);
}

/* An exec that did not return has made another program of the process. */
static bool heap_is_exec(const struct fx_event *event)
{
	if (!fxt_string_equals(event->category, "process") || event->name->length < 4 ||
	    memcmp(event->name->data, "exec", 4) != 0)
		return false;
	for (uint32_t i = 0; i < event->nargs; i++) {
		if (event->args[i].type == FXT_ARG_BOOL && event->args[i].boolean &&
		    fxt_string_equals(&event->args[i].name, "unfinished"))
			return true;
	}
	return event->end == UINT64_MAX;
}

/* posix_memalign() returns the block through its argument, and an error. */
static int heap_align(struct fx_heap *heap, const struct fx_event *event, struct change change)
{
	change.address = heap_arg(event, "ptr", 0);
	if (!change.address || heap_arg(event, "ret", 0))
		return 0;
	return heap_add(heap, event, change);
}

static int heap_add_call(struct fx_heap *heap, const struct fx_event *event, uint32_t place)
{
	uint64_t given = heap_arg(event, "ptr", 0);
	struct change change = {.ts = event->end,
				.address = heap_arg(event, "ret", 0),
				.size = heap_arg(event, "size", 0) * heap_arg(event, "count", 1),
				.place = place,
				.kind = CHANGE_ALLOCATION};
	int r = 0;

	if (fxt_string_equals(event->name, "posix_memalign"))
		return heap_align(heap, event, change);
	/* A realloc() that failed leaves the block as it was. */
	if (given && (change.address || change.size == 0))
		r = heap_add_free(heap, event, given);
	return r < 0 || !change.address ? r : heap_add(heap, event, change);
}

int fx_heap_call(struct fx_heap *heap, const struct fx_event *event, uint32_t place)
{
	if (heap_is_exec(event))
		return heap_add_restart(heap, event);
	return fx_heap_is_call(event) ? heap_add_call(heap, event, place) : 0;
}

int fx_heap_instant(struct fx_heap *heap, const struct fx_event *event)
{
	uint64_t given;

	if (fxt_string_equals(event->category, "process") &&
	    fxt_string_equals(event->name, "program starts"))
		return heap_add_restart(heap, event);
	if (!fxt_string_equals(event->category, "malloc"))
		return 0;
	given = heap_arg(event, "ptr", 0);
	return given ? heap_add_free(heap, event, given) : 0;
}

/* --- In order of time ------------------------------------------------------------------------- */

struct heap_run {
	void (*tell)(void *opaque, const struct fx_heap_step *step);
	void *opaque;
	uint64_t block_count;
	FX_VECTOR(struct fx_blocks) blocks; /* of each process */
	FX_VECTOR(uint64_t) newest;	    /* address of each thread's newest block */
};

/* Sees to it that both lists have those of the change. Returns 0 or -ENOMEM. */
static int heap_prepare(struct heap_run *run, const struct change *change)
{
	while (run->blocks.count <= change->process) {
		if (fx_vector_reserve(&run->blocks, 1) < 0)
			return -ENOMEM;
		run->blocks.items[run->blocks.count++] = (struct fx_blocks){0};
	}
	while (run->newest.count <= change->thread) {
		if (fx_vector_reserve(&run->newest, 1) < 0)
			return -ENOMEM;
		run->newest.items[run->newest.count++] = 0;
	}
	return 0;
}

static void heap_tell_end(const struct heap_run *run, const struct change *change,
			  const struct fx_block *block, bool is_temporary)
{
	struct fx_heap_step step = {.kind = block ? FX_HEAP_FREED : FX_HEAP_UNKNOWN,
				    .ts = change->ts,
				    .process = change->process,
				    .is_temporary = is_temporary};

	if (block) {
		step.size = block->size;
		step.place = block->place;
	}
	run->tell(run->opaque, &step);
}

static void heap_free(struct heap_run *run, const struct change *change)
{
	struct fx_blocks *blocks = &run->blocks.items[change->process];
	struct fx_block *block = fx_blocks_find(blocks, change->address);

	heap_tell_end(run, change, block,
		      block && block->thread == change->thread &&
			  run->newest.items[change->thread] == change->address);
	if (!block)
		return;
	fx_blocks_remove(blocks, block);
	run->block_count--;
}

static int heap_allocate(struct heap_run *run, const struct change *change)
{
	struct fx_blocks *blocks = &run->blocks.items[change->process];
	struct fx_block *block = fx_blocks_find(blocks, change->address);
	struct fx_heap_step step = {.kind = FX_HEAP_ALLOCATED,
				    .ts = change->ts,
				    .size = change->size,
				    .process = change->process,
				    .place = change->place};
	int r = 0;

	/* It was freed, and that was not recorded. */
	if (block) {
		heap_tell_end(run, change, block, false);
		fx_blocks_remove(blocks, block);
		run->block_count--;
	}
	run->newest.items[change->thread] = change->address;
	step.is_followed = run->block_count < FX_HEAP_BLOCKS_MAX;
	if (step.is_followed) {
		run->block_count++;
		r = fx_blocks_add(blocks, (struct fx_block){.address = change->address,
							    .size = change->size,
							    .place = change->place,
							    .thread = change->thread});
	}
	run->tell(run->opaque, &step);
	return r;
}

static void heap_restart(struct heap_run *run, const struct change *change)
{
	struct fx_blocks *blocks = &run->blocks.items[change->process];

	for (size_t i = 0; i < blocks->slot_count; i++) {
		if (blocks->slots[i].address)
			heap_tell_end(run, change, &blocks->slots[i], false);
	}
	run->block_count -= blocks->count;
	fx_blocks_free(blocks);
}

static int heap_change(struct heap_run *run, const struct change *change)
{
	int r = heap_prepare(run, change);

	if (r < 0)
		return r;
	if (change->kind == CHANGE_ALLOCATION)
		return heap_allocate(run, change);
	if (change->kind == CHANGE_FREE)
		heap_free(run, change);
	else
		heap_restart(run, change);
	return 0;
}

int fx_heap_run(struct fx_heap *heap, void (*tell)(void *opaque, const struct fx_heap_step *step),
		void *opaque)
{
	struct heap_run run = {.tell = tell, .opaque = opaque};
	struct fx_merge merge;
	int r = fx_merge_begin(&merge, &heap->changes);

	if (r < 0)
		return r;
	for (const struct change *change = fx_merge_first(&merge); change && r == 0;
	     change = fx_merge_next(&merge))
		r = heap_change(&run, change);
	if (r == 0)
		r = merge.error;
	fx_merge_end(&merge);
	for (size_t i = 0; i < run.blocks.count; i++)
		fx_blocks_free(&run.blocks.items[i]);
	fx_vector_free(&run.blocks);
	fx_vector_free(&run.newest);
	return r;
}
