/* SPDX-License-Identifier: MIT */
/*
 * Slices by name: all of them once more, in order of name and time, in a file without a name. It is made when slices of
 * a name are looked for again and again, as a join does; to look through all slices each time would take hours.
 */
#ifndef FX_QUERY_NAMED_H
#define FX_QUERY_NAMED_H

#include "query/pages.h"

struct fx_query_named;

/* Where rows are that stand side by side: their numbers, from 0. */
struct fx_query_stretch {
	uint64_t at, end;
};

/* Looks at all pages. Returns 0 or -errno; `*ret' is to be freed, or NULL. */
int fx_query_named_make(struct fx_query_pages *pages, struct fx_query_named **ret);

/* NULL is allowed. */
void fx_query_named_free(struct fx_query_named *named);

/*
 * The slices of this name (the number of a text; 0: those whose name stands in their records alone) that begin at these
 * times. Returns 0 or -errno.
 */
int fx_query_named_find(const struct fx_query_named *named, uint32_t name, uint64_t from,
			uint64_t to, struct fx_query_stretch *ret);

int fx_query_named_read(const struct fx_query_named *named, uint64_t at, size_t count,
			struct fx_query_row *rows);

/* --- Where rows come from --------------------------------------------------------------------- */

/* All zeros: nothing is filled yet. */
struct fx_query_source {
	struct fx_query_pages *pages;
	struct fx_query_named *named; /* NULL: not made */
	unsigned searches;	      /* for slices of a name */
	bool has_no_names;	      /* they could not be put in order */
};

/* Slices by name, if it pays to have them so: NULL, look through the pages. */
const struct fx_query_named *fx_query_source_named(struct fx_query_source *source);

void fx_query_source_close(struct fx_query_source *source);

#endif
