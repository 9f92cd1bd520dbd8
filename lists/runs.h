/* SPDX-License-Identifier: MIT */
/*
 * Items put in order, with little memory however many they are.
 *
 * What is added is sorted block by block. When all blocks of a pool come to more than its limit, the
 * larger lists merge theirs into a run each, in a file without a name. To read a list in order is to
 * merge its runs and what it still has in memory; that can be done any number of times. Events of a
 * thread come almost in order, so a merge takes most items one by one from the same place.
 *
 * Where there is no room for such a file, everything stays in memory.
 */
#ifndef FX_LISTS_RUNS_H
#define FX_LISTS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/spill.h"
#include "lists/vector.h"

/* What a list holds. Each item begins with its key, a uint64_t. */
struct fx_runs_kind {
	size_t size;
	/*
	 * The order of two items, by their keys first; total. NULL: those of one key stay as they
	 * were added, and @sort must be stable.
	 */
	int (*compare)(const void *left, const void *right);
	/* Returns 0 or -ENOMEM. NULL: by @compare. */
	int (*sort)(void *items, size_t count);
};

struct fx_runs;

/* What lists have in common. */
struct fx_runs_pool {
	struct fx_runs *lists;
	size_t used;  /* bytes in memory */
	size_t limit; /* beyond it, lists are written to the file */
	void *spare;  /* whole blocks that nobody has, each beginning with where the next is */
	/* All whole blocks lie in these; of the last one, @slab_left bytes at @slab are in no block. */
	FX_VECTOR(void *) slabs;
	char *slab;
	size_t slab_left;
	struct fx_spill spill;
	bool failed; /* it could not be written to */
};

struct fx_runs_block {
	char *items;
	size_t bytes;
	size_t room;
};

struct fx_run {
	uint64_t first_key;
	uint64_t last_key;
	uint64_t offset;
	uint64_t bytes;
};

/* What is sorted. */
struct fx_runs_sorted {
	/* Blocks that are full, or were read; in the order in which they were filled. */
	FX_VECTOR(struct fx_runs_block) blocks;
	size_t held; /* bytes in @blocks */
	FX_VECTOR(struct fx_run) runs;
};

/* Small, since there may be one for each of a million threads. */
struct fx_runs {
	const struct fx_runs_kind *kind;
	struct fx_runs_pool *pool;
	struct fx_runs *next, **link;
	uint64_t count;
	/* The block in work, not sorted. */
	char *block;
	uint32_t used; /* bytes */
	uint32_t room;
	uint32_t readers;
	struct fx_runs_sorted *sorted; /* NULL: nothing is */
};

void fx_runs_pool_init(struct fx_runs_pool *pool);

/* Behind the last of its lists. */
void fx_runs_pool_release(struct fx_runs_pool *pool);

void fx_runs_init(struct fx_runs *runs, struct fx_runs_pool *pool, const struct fx_runs_kind *kind);

/* What was never initialized, and is all zeros, is allowed. */
void fx_runs_release(struct fx_runs *runs);

void *fx_runs_add_slow_(struct fx_runs *runs);

/* Room for one more item, to be filled before the next call; NULL: no memory. */
static inline void *fx_runs_add(struct fx_runs *runs)
{
	char *item;

	if (runs->used + runs->kind->size > runs->room)
		return fx_runs_add_slow_(runs);
	item = runs->block + runs->used;
	runs->used += (uint32_t)runs->kind->size;
	runs->count++;
	return item;
}

/* --- Reading in order ------------------------------------------------------------------------- */

struct fx_runs_source {
	uint64_t key; /* of the item at @at */
	const char *at, *end;
	char *buffer;	 /* runs: a piece of it; NULL: not read yet */
	uint64_t offset; /* runs: of what is to be read next */
	uint64_t left;	 /* bytes to be read */
	size_t number;
};

struct fx_merge {
	struct fx_runs *runs;
	size_t size; /* of an item */
	struct fx_runs_source *sources;
	struct fx_runs_source **heap;
	size_t count;	/* of them, not at their end */
	size_t opened;	/* sources */
	uint64_t limit; /* what has a smaller key comes from the same source as what was before */
	int error;	/* 0 or -errno: why it ended */
};

/*
 * Begins to read a list, which may be empty or all zeros and must not be added to until fx_merge_end().
 * Returns 0 or -ENOMEM.
 */
int fx_merge_begin(struct fx_merge *merge, struct fx_runs *runs);

/* The same, from the first item on whose key is not smaller than @key. */
int fx_merge_begin_at(struct fx_merge *merge, struct fx_runs *runs, uint64_t key);

/* The first item; NULL: there is none, or @error is set. Call it once. */
const void *fx_merge_first(struct fx_merge *merge);

const void *fx_merge_next_slow_(struct fx_merge *merge);

/* The item behind the one yielded last, which is gone; NULL: none, or @error is set. */
static inline const void *fx_merge_next(struct fx_merge *merge)
{
	struct fx_runs_source *source = merge->heap[0];
	const char *at = source->at + merge->size;

	source->at = at;
	if (at < source->end && *(const uint64_t *)at < merge->limit)
		return at;
	return fx_merge_next_slow_(merge);
}

/* May be called twice. */
void fx_merge_end(struct fx_merge *merge);

#endif
