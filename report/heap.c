/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include <uthash.h>

#include "report/heap.h"

struct block_key {
	uint64_t address;
	uint64_t process;
};

struct block {
	struct block_key key;
	uint64_t size;
	uint64_t order; /* of its allocation among those of its thread */
	uint32_t site, thread;
	UT_hash_handle hh;
};

struct run {
	uint64_t begin, end;
	struct fx_heap *heaps;
	size_t heap_count;
	struct fx_heap_site *sites;
	size_t site_count;
	struct block *blocks;
	FX_VECTOR(uint64_t) orders; /* allocations of each thread so far */
};

/* In order of time; of one time, what was freed first. */
static int heap_compare_changes(const void *a, const void *b)
{
	const struct fx_heap_change *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts > right->ts ? 1 : -1;
	return (left->kind > right->kind) - (left->kind < right->kind);
}

static uint64_t *heap_order_of(struct run *run, uint32_t thread)
{
	while (thread >= run->orders.count) {
		if (fx_vector_reserve(&run->orders, 1) < 0)
			return NULL;
		run->orders.items[run->orders.count++] = 0;
	}
	return &run->orders.items[thread];
}

static void heap_take_off(struct run *run, struct block *block)
{
	struct fx_heap *heap = &run->heaps[block->key.process];
	struct fx_heap_site *site = &run->sites[block->site];

	heap->live -= block->size;
	site->live_bytes -= block->size;
	site->live_blocks--;
	HASH_DEL(run->blocks, block);
	free(block);
}

static struct block *heap_find(const struct run *run, const struct fx_heap_change *change)
{
	const struct block_key key = {change->address, change->process};
	struct block *block;

	HASH_FIND(hh, run->blocks, &key, sizeof(key), block);
	return block;
}

static int heap_allocate(struct run *run, const struct fx_heap_change *change)
{
	struct fx_heap *heap = &run->heaps[change->process];
	struct fx_heap_site *site = &run->sites[change->site];
	uint64_t *order = heap_order_of(run, change->thread);
	struct block *block = heap_find(run, change);
	unsigned part = fx_heap_course_part(run->begin, run->end, change->ts);

	/* It was freed, and that was not recorded. */
	if (block)
		heap_take_off(run, block);
	block = malloc(sizeof(*block));
	if (!block || !order) {
		free(block);
		return -ENOMEM;
	}
	*block = (struct block){.key = {change->address, change->process},
				.size = change->size,
				.order = ++*order,
				.site = change->site,
				.thread = change->thread};
	HASH_ADD(hh, run->blocks, key, sizeof(block->key), block);
	heap->allocations++;
	heap->bytes += change->size;
	heap->live += change->size;
	if (heap->live > heap->peak) {
		heap->peak = heap->live;
		heap->peak_ts = change->ts;
	}
	if (heap->live > heap->course[part])
		heap->course[part] = heap->live;
	site->calls++;
	site->bytes += change->size;
	site->live_blocks++;
	site->live_bytes += change->size;
	return 0;
}

static void heap_free(struct run *run, const struct fx_heap_change *change)
{
	struct block *block = heap_find(run, change);

	if (!block) {
		run->heaps[change->process].unknown++;
		return;
	}
	if (block->thread == change->thread && change->thread < run->orders.count &&
	    block->order == run->orders.items[change->thread]) {
		run->heaps[change->process].temporary++;
		run->sites[block->site].temporary++;
	}
	heap_take_off(run, block);
}

static void heap_restart(struct run *run, uint32_t process)
{
	struct block *block, *next;

	HASH_ITER (hh, run->blocks, block, next) {
		if (block->key.process == process)
			heap_take_off(run, block);
	}
}

static int heap_change(struct run *run, const struct fx_heap_change *change)
{
	if (change->process >= run->heap_count || change->site >= run->site_count)
		return 0;
	switch (change->kind) {
	case FX_HEAP_RESTART:
		heap_restart(run, change->process);
		return 0;
	case FX_HEAP_FREE:
		heap_free(run, change);
		return 0;
	default:
		return heap_allocate(run, change);
	}
}

int fx_heap_run(struct fx_heap_changes *changes, uint64_t begin, uint64_t end,
		struct fx_heap *heaps, size_t heap_count, struct fx_heap_site *sites,
		size_t site_count)
{
	struct run run = {
	    .begin = begin,
	    .end = end,
	    .heaps = heaps,
	    .heap_count = heap_count,
	    .sites = sites,
	    .site_count = site_count,
	};
	struct block *block, *next;
	int r = 0;

	if (changes->changes.count > 0)
		qsort(changes->changes.items, changes->changes.count, sizeof(struct fx_heap_change),
		      heap_compare_changes);
	for (size_t i = 0; i < changes->changes.count && r == 0; i++)
		r = heap_change(&run, &changes->changes.items[i]);
	HASH_ITER (hh, run.blocks, block, next) {
		HASH_DEL(run.blocks, block);
		free(block);
	}
	fx_vector_free(&run.orders);
	return r;
}
