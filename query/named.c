/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lists/runs.h"
#include "query/named.h"

enum {
	ROWS_AT_ONCE = 256,	/* in the file */
	SORT_MEMORY = 32 << 20, /* bytes */
	SEARCHES_BEFORE_SORT =
	    3, /* each of them looks through all slices, which is less than to sort them */
};

struct fx_query_named {
	struct fx_spill file;	    /* struct fx_query_row */
	FX_VECTOR(uint64_t) behind; /* by name: the number of the row behind its last one */
};

/* --- Making it -------------------------------------------------------------------------------- */

struct named_item {
	uint64_t name;
	struct fx_query_row row;
};

static int named_compare(const void *left, const void *right)
{
	const struct named_item *first = left, *second = right;
	const struct fx_query_row *a = &first->row, *b = &second->row;

	if (first->name != second->name)
		return first->name < second->name ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static const struct fx_runs_kind named_kind = {.size = sizeof(struct named_item),
					       .compare = named_compare};

static int named_take_page(const struct fx_query_page *page, struct fx_runs *runs)
{
	for (size_t i = 0; i < page->rows.count; i++) {
		const struct fx_query_row *row = &page->rows.items[i];
		struct named_item *item;

		if (row->kind == FX_QUERY_COUNT || (row->kind == FX_QUERY_SLICE && !row->name))
			continue;
		item = fx_runs_add(runs);
		if (!item)
			return -ENOMEM;
		*item = (struct named_item){row->kind == FX_QUERY_MESSAGE ? 0 : row->name, *row};
	}
	return 0;
}

static int named_take_pages(struct fx_query_pages *pages, struct fx_runs *runs)
{
	struct fx_query_page *page;
	int r;

	for (size_t number = 0; (r = fx_query_pages_take(pages, number, &page)) > 0; number++) {
		r = named_take_page(page, runs);
		fx_query_pages_put(page);
		if (r < 0)
			break;
	}
	return r;
}

/* Notes that a row of this name is the next in the file. */
static int named_note(struct fx_query_named *named, uint64_t name)
{
	size_t count = named->behind.count;
	uint64_t before = count > 0 ? named->behind.items[count - 1] : 0;

	if (name >= count) {
		if (fx_vector_reserve(&named->behind, name + 1 - count) < 0)
			return -ENOMEM;
		while (named->behind.count <= name)
			named->behind.items[named->behind.count++] = before;
	}
	named->behind.items[name]++;
	return 0;
}

static int named_write(struct fx_query_named *named, struct fx_merge *merge)
{
	struct fx_query_row rows[ROWS_AT_ONCE];
	size_t count = 0;
	int r = 0;

	for (const struct named_item *item = fx_merge_first(merge); item && r == 0;
	     item = fx_merge_next(merge)) {
		r = named_note(named, item->name);
		rows[count++] = item->row;
		if (r == 0 && count == ROWS_AT_ONCE) {
			r = fx_spill_append(&named->file, rows, sizeof(rows));
			count = 0;
		}
	}
	if (r == 0)
		r = merge->error;
	if (r == 0 && count > 0)
		r = fx_spill_append(&named->file, rows, count * sizeof(*rows));
	return r;
}

int fx_query_named_make(struct fx_query_pages *pages, struct fx_query_named **ret)
{
	struct fx_query_named *named = calloc(1, sizeof(*named));
	struct fx_runs_pool pool;
	struct fx_runs runs;
	struct fx_merge merge;
	int r;

	*ret = named;
	if (!named)
		return -ENOMEM;
	named->file = (struct fx_spill)FX_SPILL_EMPTY;
	fx_runs_pool_init(&pool);
	if (pool.limit > SORT_MEMORY)
		pool.limit = SORT_MEMORY;
	fx_runs_init(&runs, &pool, &named_kind);
	r = named_take_pages(pages, &runs);
	if (r == 0) {
		r = fx_merge_begin(&merge, &runs);
		if (r == 0)
			r = named_write(named, &merge);
		fx_merge_end(&merge);
	}
	fx_runs_release(&runs);
	fx_runs_pool_release(&pool);
	return r;
}

void fx_query_named_free(struct fx_query_named *named)
{
	if (!named)
		return;
	fx_spill_close(&named->file);
	fx_vector_free(&named->behind);
	free(named);
}

/* --- Asking ----------------------------------------------------------------------------------- */

int fx_query_named_read(const struct fx_query_named *named, uint64_t at, size_t count,
			struct fx_query_row *rows)
{
	return fx_spill_read(&named->file, at * sizeof(*rows), rows, count * sizeof(*rows));
}

/* The first row of the stretch that begins at this time or later. */
static int named_first(const struct fx_query_named *named, const struct fx_query_stretch *of,
		       uint64_t from, uint64_t *ret)
{
	uint64_t low = of->at, high = of->end;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct fx_query_row row;
		int r = fx_query_named_read(named, middle, 1, &row);

		if (r < 0)
			return r;
		if (row.ts < from)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return 0;
}

int fx_query_named_find(const struct fx_query_named *named, uint32_t name, uint64_t from,
			uint64_t to, struct fx_query_stretch *ret)
{
	struct fx_query_stretch of = {0};
	int r = 0;

	*ret = of;
	if (name >= named->behind.count)
		return 0;
	of.at = name > 0 ? named->behind.items[name - 1] : 0;
	of.end = named->behind.items[name];
	*ret = of;
	if (from > 0)
		r = named_first(named, &of, from, &ret->at);
	if (r == 0 && to < UINT64_MAX)
		r = named_first(named, &of, to + 1, &ret->end);
	if (ret->end < ret->at)
		ret->end = ret->at;
	return r;
}

/* --- Where rows come from --------------------------------------------------------------------- */

const struct fx_query_named *fx_query_source_named(struct fx_query_source *source)
{
	if (source->named || source->has_no_names || ++source->searches <= SEARCHES_BEFORE_SORT)
		return source->named;
	if (fx_query_named_make(source->pages, &source->named) < 0) {
		fx_query_named_free(source->named);
		source->named = NULL;
		source->has_no_names = true;
	}
	return source->named;
}

void fx_query_source_close(struct fx_query_source *source)
{
	fx_query_named_free(source->named);
	fx_query_pages_close(source->pages);
	*source = (struct fx_query_source){0};
}
