/* SPDX-License-Identifier: MIT */
/*
 * One row after another of slices, of counts or of arguments, through the pages. Filters may let more through than they
 * say; sqlite looks at each row again.
 */
#ifndef FX_QUERY_CURSOR_H
#define FX_QUERY_CURSOR_H

#include "convert/sqlite/arguments.h"
#include "query/named.h"

enum fx_query_of { FX_QUERY_OF_SLICES, FX_QUERY_OF_COUNTS, FX_QUERY_OF_ARGS };

struct fx_query_filter {
	bool none; /* there can be no such row */
	int64_t first_id, last_id;
	uint64_t from, to; /* time */
	int64_t track;	   /* 0: any, as in the next two */
	int64_t parent;
	int64_t set;
	const char *name; /* of a slice, or the key of an argument; NULL: any */
	size_t name_length;
};

#define FX_QUERY_ALL                                                                               \
	(struct fx_query_filter)                                                                   \
	{                                                                                          \
		.first_id = INT64_MIN, .last_id = INT64_MAX, .to = UINT64_MAX                      \
	}

enum { FX_QUERY_NAMED_READ = 32 };

struct fx_query_cursor {
	struct fx_query_source *source;
	struct fx_query_pages *pages;
	enum fx_query_of of;
	struct fx_query_filter filter;
	bool takes_slices; /* all of them */
	bool at_end;
	size_t number; /* of the page */
	struct fx_query_page *page;
	size_t next; /* row of the page */
	const struct fx_query_row *row;
	struct fx_query_row parent; /* with a filter for one */
	/* Slices by name; NULL: they are looked for on the pages. First those of the name, then those that say theirs in
	 * their records. */
	const struct fx_query_named *named;
	struct fx_query_stretch stretches[2];
	struct fx_query_row named_rows[FX_QUERY_NAMED_READ];
	size_t next_named, named_count;
	/* Arguments: */
	const struct fx_query_group *group; /* NULL: of the row */
	size_t next_group;
	int64_t set;
	int64_t first_arg;
	uint32_t next_arg;
	struct fx_event event;
	struct fx_sql_arg arg;
	struct fxt_record record;
	struct fxt_record end_record;
};

/* These go to the first row, and to the next. Return 0 or -errno. */
int fx_query_cursor_start(struct fx_query_cursor *cursor, const struct fx_query_filter *filter);
int fx_query_cursor_next(struct fx_query_cursor *cursor);

void fx_query_cursor_stop(struct fx_query_cursor *cursor);

/* What a message says that has no number of a text. Returns 0 or -errno. */
int fx_query_cursor_message(struct fx_query_cursor *cursor, const struct fxt_string **ret);

#endif
