/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "lists/runs.h"

enum {
	POOL_LIMIT = 64 << 20,
	BLOCK_BYTES = 64 << 10, /* stays in a processor's cache while it is sorted */
	SLAB_BYTES = 2 << 20,	/* of so many blocks, which is a large page */
	SLABS_FROM = 4 << 20,	/* bytes in memory, below which each block is one of its own */
	LEAST_ITEMS = 8,	/* of a whole block, however little memory there is */
	FIRST_ITEMS = 2,	/* in the first block of a list, which may stay that small */
	READ_BYTES = 64 << 10,
	WRITE_BYTES = 256 << 10,
	RUNS_MAX = 512, /* so many are merged into one */
};

void fx_runs_pool_init(struct fx_runs_pool *pool)
{
	const char *limit = getenv("FXTRACE_CONVERT_MEMORY");

	*pool = (struct fx_runs_pool){.limit = POOL_LIMIT, .spill = FX_SPILL_EMPTY};
	if (limit && *limit)
		pool->limit = strtoull(limit, NULL, 10);
}

static void *take_spare(struct fx_runs_pool *pool)
{
	void *block = pool->spare;

	if (block)
		memcpy(&pool->spare, block, sizeof(pool->spare));
	return block;
}

/*
 * Makes memory for blocks. The kernel clears a large page at one fault, where small ones would cost as much as what is
 * done with them.
 */
static int add_slab(struct fx_runs_pool *pool)
{
	size_t size = pool->used < SLABS_FROM ? BLOCK_BYTES : SLAB_BYTES;
	char *slab;

	if (fx_vector_reserve(&pool->slabs, 1) < 0)
		return -ENOMEM;
	slab = size == SLAB_BYTES ? aligned_alloc(SLAB_BYTES, SLAB_BYTES) : malloc(size);
	if (!slab)
		return -ENOMEM;
	if (size == SLAB_BYTES)
		madvise(slab, size, MADV_HUGEPAGE);
	pool->slabs.items[pool->slabs.count++] = slab;
	pool->slab = slab;
	pool->slab_left = size;
	return 0;
}

/* A whole block; NULL: no memory. */
static void *take_whole_block(struct fx_runs_pool *pool)
{
	void *block = take_spare(pool);

	if (block || (pool->slab_left == 0 && add_slab(pool) < 0))
		return block;
	block = pool->slab;
	pool->slab += BLOCK_BYTES;
	pool->slab_left -= BLOCK_BYTES;
	return block;
}

/* The kernel would have to clear the memory again if it were freed and wanted soon after. */
static void free_block(struct fx_runs_pool *pool, void *block, size_t room)
{
	if (room <= BLOCK_BYTES / 2) {
		free(block);
		return;
	}
	memcpy(block, &pool->spare, sizeof(pool->spare));
	pool->spare = block;
}

void fx_runs_pool_release(struct fx_runs_pool *pool)
{
	for (size_t i = 0; i < pool->slabs.count; i++)
		free(pool->slabs.items[i]);
	fx_vector_free(&pool->slabs);
	pool->spare = NULL;
	pool->slab_left = 0;
	fx_spill_close(&pool->spill);
}

void fx_runs_init(struct fx_runs *runs, struct fx_runs_pool *pool, const struct fx_runs_kind *kind)
{
	*runs = (struct fx_runs){.kind = kind, .pool = pool, .link = &pool->lists};
	runs->next = pool->lists;
	if (runs->next)
		runs->next->link = &runs->next;
	pool->lists = runs;
}

static void drop_blocks(struct fx_runs *runs)
{
	struct fx_runs_sorted *sorted = runs->sorted;

	for (size_t i = 0; i < sorted->blocks.count; i++)
		free_block(runs->pool, sorted->blocks.items[i].items, sorted->blocks.items[i].room);
	fx_vector_free(&sorted->blocks);
	runs->pool->used -= sorted->held;
	sorted->held = 0;
}

static void drop_block_in_work(struct fx_runs *runs)
{
	if (runs->block)
		free_block(runs->pool, runs->block, runs->room);
	runs->pool->used -= runs->room;
	runs->block = NULL;
	runs->used = runs->room = 0;
}

void fx_runs_release(struct fx_runs *runs)
{
	if (!runs->pool)
		return;
	if (runs->sorted) {
		drop_blocks(runs);
		fx_vector_free(&runs->sorted->runs);
		free(runs->sorted);
	}
	drop_block_in_work(runs);
	*runs->link = runs->next;
	if (runs->next)
		runs->next->link = runs->link;
	*runs = (struct fx_runs){0};
}

/* --- Blocks ----------------------------------------------------------------------------------- */

/* As what one thread has done is: most blocks, and libc would make a copy of each to sort it. */
static bool block_is_in_order(const struct fx_runs *runs)
{
	const size_t size = runs->kind->size;

	for (size_t at = size; at < runs->used; at += size) {
		if (runs->kind->compare(runs->block + at - size, runs->block + at) > 0)
			return false;
	}
	return true;
}

static int sort_block(const struct fx_runs *runs)
{
	size_t count = runs->used / runs->kind->size;

	if (runs->kind->sort)
		return runs->kind->sort(runs->block, count);
	if (!block_is_in_order(runs))
		qsort(runs->block, count, runs->kind->size, runs->kind->compare);
	return 0;
}

/* Puts the block in work to the others. Returns 0 or -ENOMEM. */
static int close_block(struct fx_runs *runs)
{
	struct fx_runs_sorted *sorted;
	int r;

	if (runs->used == 0)
		return 0;
	if (!runs->sorted)
		runs->sorted = calloc(1, sizeof(*runs->sorted));
	sorted = runs->sorted;
	if (!sorted || fx_vector_reserve(&sorted->blocks, 1) < 0)
		return -ENOMEM;
	r = sort_block(runs);
	if (r < 0)
		return r;
	sorted->blocks.items[sorted->blocks.count++] =
	    (struct fx_runs_block){runs->block, runs->used, runs->room};
	sorted->held += runs->room;
	runs->block = NULL;
	runs->used = runs->room = 0;
	return 0;
}

/* The bytes of a whole block: fewer where the limit is small. */
static size_t block_bytes(const struct fx_runs *runs)
{
	size_t size = runs->kind->size, bytes = runs->pool->limit / 16;

	if (bytes > BLOCK_BYTES)
		bytes = BLOCK_BYTES;
	return bytes / size >= LEAST_ITEMS ? bytes / size * size : LEAST_ITEMS * size;
}

static int grow_block(struct fx_runs *runs, size_t room)
{
	/* All blocks that are kept for others have the same size, whatever is in them. */
	bool is_whole = room > BLOCK_BYTES / 2, was_whole = runs->room > BLOCK_BYTES / 2;
	char *block = runs->block;

	if (!was_whole)
		block = is_whole ? take_whole_block(runs->pool) : realloc(runs->block, room);
	if (!block)
		return -ENOMEM;
	if (is_whole && !was_whole && runs->block) {
		memcpy(block, runs->block, runs->used);
		free(runs->block);
	}
	runs->pool->used += room - runs->room;
	runs->block = block;
	runs->room = (uint32_t)room;
	return 0;
}

/* --- Merging ---------------------------------------------------------------------------------- */

static bool stands_before(const struct fx_merge *merge, const struct fx_runs_source *left,
			  const struct fx_runs_source *right)
{
	int order = 0;

	if (left->key != right->key)
		return left->key < right->key;
	if (merge->runs->kind->compare && left->at && right->at)
		order = merge->runs->kind->compare(left->at, right->at);
	return order != 0 ? order < 0 : left->number < right->number;
}

static void sift_down(struct fx_merge *merge, size_t at)
{
	struct fx_runs_source **heap = merge->heap, *moved = heap[at];
	size_t child;

	while ((child = 2 * at + 1) < merge->count) {
		if (child + 1 < merge->count && stands_before(merge, heap[child + 1], heap[child]))
			child++;
		if (!stands_before(merge, heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void set_limit(struct fx_merge *merge)
{
	merge->limit = UINT64_MAX;
	for (size_t i = 1; i < merge->count && i <= 2; i++) {
		if (merge->heap[i]->key < merge->limit)
			merge->limit = merge->heap[i]->key;
	}
}

static size_t piece_bytes(const struct fx_merge *merge)
{
	return merge->size < READ_BYTES ? READ_BYTES / merge->size * merge->size : merge->size;
}

/* Reads the next piece of a run. Returns 1, 0 at its end, or -errno. */
static int read_piece(struct fx_merge *merge, struct fx_runs_source *source)
{
	size_t bytes = piece_bytes(merge);
	int r;

	if (source->left == 0)
		return 0;
	if (bytes > source->left)
		bytes = (size_t)source->left;
	if (!source->buffer)
		source->buffer = malloc(bytes);
	if (!source->buffer)
		return -ENOMEM;
	r = fx_spill_read(&merge->runs->pool->spill, source->offset, source->buffer, bytes);
	if (r < 0)
		return r;
	source->offset += bytes;
	source->left -= bytes;
	source->at = source->buffer;
	source->end = source->buffer + bytes;
	return 1;
}

/* Sees to it that the first of the heap stands before all others, and can be looked at. */
static const void *merge_settle(struct fx_merge *merge)
{
	while (merge->count > 0) {
		struct fx_runs_source *first = merge->heap[0];
		int r;

		if (first->at < first->end) {
			set_limit(merge);
			return first->at;
		}
		r = read_piece(merge, first);
		if (r < 0) {
			merge->error = r;
			return NULL;
		}
		if (r > 0) {
			memcpy(&first->key, first->at, sizeof(first->key));
		} else {
			free(first->buffer);
			first->buffer = NULL;
			merge->heap[0] = merge->heap[--merge->count];
		}
		if (merge->count > 0)
			sift_down(merge, 0);
	}
	return NULL;
}

const void *fx_merge_next_slow_(struct fx_merge *merge)
{
	struct fx_runs_source *first = merge->heap[0];

	if (first->at < first->end) {
		memcpy(&first->key, first->at, sizeof(first->key));
		sift_down(merge, 0);
	}
	return merge_settle(merge);
}

static void open_run(struct fx_runs_source *source, const struct fx_run *run)
{
	source->key = run->first_key;
	source->offset = run->offset;
	source->left = run->bytes;
}

static void open_block(struct fx_runs_source *source, const struct fx_runs_block *block)
{
	source->at = block->items;
	source->end = block->items + block->bytes;
	memcpy(&source->key, source->at, sizeof(source->key));
}

/* --- Beginning at a key ------------------------------------------------------------------------ */

static uint64_t key_at(const char *items, size_t size, uint64_t number)
{
	uint64_t key;

	memcpy(&key, items + number * size, sizeof(key));
	return key;
}

static void skip_in_block(const struct fx_merge *merge, struct fx_runs_source *source, uint64_t key)
{
	size_t low = 0, high = (size_t)(source->end - source->at) / merge->size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (key_at(source->at, merge->size, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	source->at += low * merge->size;
	if (source->at < source->end)
		source->key = key_at(source->at, merge->size, 0);
}

static int skip_in_run(const struct fx_merge *merge, struct fx_runs_source *source,
		       const struct fx_run *run, uint64_t key)
{
	const struct fx_spill *spill = &merge->runs->pool->spill;
	uint64_t low = 0, high = run->bytes / merge->size, found = run->first_key;

	if (run->first_key >= key)
		return 0;
	if (run->last_key < key)
		low = high;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, at;
		int r = fx_spill_read(spill, run->offset + middle * merge->size, &at, sizeof(at));

		if (r < 0)
			return r;
		if (at < key) {
			low = middle + 1;
		} else {
			high = middle;
			found = at;
		}
	}
	source->offset += low * merge->size;
	source->left -= low * merge->size;
	source->key = found;
	return 0;
}

/*
 * Opens what is sorted: of the runs, and behind them the blocks, those from @from on, @count of them. Where
 * a key alone does not tell what stands first, there has to be an item to look at. What has a smaller key
 * than @key is passed over.
 */
static int open_sources(struct fx_merge *merge, size_t from, size_t count, uint64_t key)
{
	const struct fx_runs_sorted *sorted = merge->runs->sorted;

	for (size_t i = 0; i < count; i++) {
		struct fx_runs_source *source = &merge->sources[i];
		int r = 0;

		source->number = i;
		if (from + i < sorted->runs.count) {
			open_run(source, &sorted->runs.items[from + i]);
			r = skip_in_run(merge, source, &sorted->runs.items[from + i], key);
		} else {
			open_block(source, &sorted->blocks.items[from + i - sorted->runs.count]);
			skip_in_block(merge, source, key);
		}
		if (r == 0 && merge->runs->kind->compare && !source->at && source->left > 0)
			r = read_piece(merge, source);
		if (r < 0)
			return r;
		if (source->at < source->end || source->left > 0)
			merge->heap[merge->count++] = source;
	}
	return 0;
}

static int merge_open(struct fx_merge *merge, struct fx_runs *runs, size_t from, size_t count,
		      uint64_t key)
{
	int r = -ENOMEM;

	*merge = (struct fx_merge){.runs = runs, .size = runs->kind->size};
	merge->sources = calloc(count + 1, sizeof(*merge->sources));
	merge->heap = calloc(count + 1, sizeof(*merge->heap));
	runs->readers++;
	merge->opened = count;
	if (merge->sources && merge->heap)
		r = open_sources(merge, from, count, key);
	if (r < 0) {
		fx_merge_end(merge);
		return r;
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	return 0;
}

int fx_merge_begin(struct fx_merge *merge, struct fx_runs *runs)
{
	return fx_merge_begin_at(merge, runs, 0);
}

int fx_merge_begin_at(struct fx_merge *merge, struct fx_runs *runs, uint64_t key)
{
	size_t count;
	int r;

	*merge = (struct fx_merge){0};
	if (!runs->pool)
		return 0;
	r = close_block(runs);
	count = runs->sorted ? runs->sorted->runs.count + runs->sorted->blocks.count : 0;
	return r < 0 ? r : merge_open(merge, runs, 0, count, key);
}

const void *fx_merge_first(struct fx_merge *merge)
{
	return merge_settle(merge);
}

void fx_merge_end(struct fx_merge *merge)
{
	if (!merge->runs)
		return;
	for (size_t i = 0; merge->sources && i < merge->opened; i++)
		free(merge->sources[i].buffer);
	free(merge->sources);
	free(merge->heap);
	merge->runs->readers--;
	*merge = (struct fx_merge){.error = merge->error};
}

/* --- Writing runs ----------------------------------------------------------------------------- */

/* Writes what @merge yields behind what is in the file. Returns 0 or -errno. */
static int write_merged(struct fx_merge *merge, struct fx_run *ret)
{
	struct fx_spill *spill = &merge->runs->pool->spill;
	char *buffer = malloc(WRITE_BYTES);
	const void *item = fx_merge_first(merge);
	size_t used = 0;
	int r = buffer ? 0 : -ENOMEM;

	*ret = (struct fx_run){.offset = spill->size};
	if (item)
		memcpy(&ret->first_key, item, sizeof(ret->first_key));
	for (; item && r == 0; item = fx_merge_next(merge)) {
		if (used + merge->size > WRITE_BYTES) {
			r = fx_spill_append(spill, buffer, used);
			used = 0;
		}
		memcpy(&ret->last_key, item, sizeof(ret->last_key));
		memcpy(buffer + used, item, merge->size);
		used += merge->size;
	}
	if (r == 0)
		r = merge->error;
	if (r == 0)
		r = fx_spill_append(spill, buffer, used);
	free(buffer);
	ret->bytes = spill->size - ret->offset;
	return r;
}

/* Merges some of what is sorted, as merge_open() says, into one run. */
static int merge_into_run(struct fx_runs *runs, size_t from, size_t count, struct fx_run *ret)
{
	struct fx_merge merge;
	int r = merge_open(&merge, runs, from, count, 0);

	if (r < 0)
		return r;
	r = write_merged(&merge, ret);
	fx_merge_end(&merge);
	return r;
}

/* Writes what a list has in memory to the file. Returns 0 or -errno, and then it has it still. */
static int write_list(struct fx_runs *runs)
{
	struct fx_runs_sorted *sorted;
	struct fx_run run;
	int r = close_block(runs);

	sorted = runs->sorted;
	if (r == 0 && sorted && sorted->runs.count >= RUNS_MAX) {
		r = merge_into_run(runs, 0, sorted->runs.count, &run);
		if (r < 0)
			return r;
		sorted->runs.items[0] = run;
		sorted->runs.count = 1;
	}
	if (r < 0 || !sorted || sorted->blocks.count == 0)
		return r;
	if (fx_vector_reserve(&sorted->runs, 1) < 0)
		return -ENOMEM;
	r = merge_into_run(runs, sorted->runs.count, sorted->blocks.count, &run);
	if (r < 0)
		return r;
	sorted->runs.items[sorted->runs.count++] = run;
	drop_blocks(runs);
	return 0;
}

static size_t bytes_in_memory(const struct fx_runs *runs)
{
	return (runs->sorted ? runs->sorted->held : 0) + runs->room;
}

/*
 * Writes those lists to the file that have at least half of what lists have on average: together they
 * have more than half of it all.
 */
static void relieve(struct fx_runs_pool *pool)
{
	size_t count = 0, least;

	for (const struct fx_runs *runs = pool->lists; runs; runs = runs->next)
		count += bytes_in_memory(runs) > 0 && runs->readers == 0;
	least = pool->used / 2 / (count + 1);
	for (struct fx_runs *runs = pool->lists; runs && !pool->failed; runs = runs->next) {
		if (runs->readers == 0 && bytes_in_memory(runs) > least)
			pool->failed = write_list(runs) < 0;
	}
}

void *fx_runs_add_slow_(struct fx_runs *runs)
{
	size_t size = runs->kind->size, whole = block_bytes(runs);
	size_t room = 2 * (size_t)runs->room;
	int r = 0;

	if (room < FIRST_ITEMS * size)
		room = FIRST_ITEMS * size;
	if (runs->room == whole) {
		r = close_block(runs);
		room = whole;
	}
	if (r == 0 && runs->pool->used > runs->pool->limit && !runs->pool->failed)
		relieve(runs->pool);
	if (r < 0 || grow_block(runs, room < whole ? room : whole) < 0)
		return NULL;
	return fx_runs_add(runs);
}
