/* SPDX-License-Identifier: MIT */
/* What the parts of pages.h share: pages.c opens and is asked, pages-rows.c takes rows, pages-make.c makes pages, also again. */
#ifndef FX_QUERY_PAGES_INTERNAL_H
#define FX_QUERY_PAGES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/convert.h"
#include "convert/sqlite/tables.h"
#include "convert/stepper.h"
#include "lists/vector.h"
#include "query/pages.h"

/* Numbers given out so far. */
struct fx_pages_numbers {
	int64_t first[FX_QUERY_NUMBERS]; /* the last that was given out */
	int64_t args;
};

/* What is remembered of a page. */
struct fx_pages_note {
	uint32_t thread;
	bool at_start; /* of the thread */
	size_t rows;
	uint64_t first_ts, last_ts;
	int64_t track; /* of all rows; 0: of several */
	struct fx_pages_numbers numbers;
	struct fx_walk_place place;
	int64_t *open;		    /* ids of the slices that are open there */
	struct fx_query_page *page; /* NULL: not kept */
};

struct fx_query_pages {
	struct fx_sql_taker taker;
	struct fx_sql_tables tables;
	struct fx_flows *flows;
	struct fx_stepper frontier; /* makes pages for the first time */
	bool in_thread;
	size_t thread; /* at the frontier */
	bool all;      /* pages are known */
	struct fx_pages_numbers numbers;
	FX_VECTOR(struct fx_pages_note) notes;
	FX_VECTOR(struct fx_query_page *) kept;
	uint64_t used;
	struct fx_query_page *filling;
	struct fx_query_page *last; /* what belongs to no thread */
	FX_VECTOR(struct fx_query_group) groups;
	int error;
};

/* The pages take what the tables make of events. */
void fx_pages_take_rows(struct fx_query_pages *pages);

/* Makes the next page, or the last one. 0 or -errno. */
int fx_pages_go_on(struct fx_query_pages *pages);

/* Makes a page whose rows are not kept any more, by its note. 0 or -errno. */
int fx_pages_make_again(struct fx_query_pages *pages, size_t number);

/* Frees what a note has of a page's beginning. */
void fx_pages_forget_start(struct fx_pages_note *note);

#endif
