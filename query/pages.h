/* SPDX-License-Identifier: MIT */
/*
 * The rows of events, made from the archive when they are looked at.
 *
 * Slices, counters and arguments have their numbers in the order in which the threads' events are exported, one thread
 * behind the other, as in a database that was converted (convert/sqlite). A page is some rows of one thread that stand
 * side by side. When a page is made first, its place is noted: from there it can be made again at any time. A few pages
 * are kept, those that were used last. What belongs to no thread (asynchronous operations and fxtrace's notes) is the
 * last page, which always stays.
 */
#ifndef FX_QUERY_PAGES_H
#define FX_QUERY_PAGES_H

#include <sqlite3.h>

#include "convert/sqlite/database.h"
#include "convert/timeline.h"
#include "lists/vector.h"

enum fx_query_row_kind {
	FX_QUERY_SLICE,
	FX_QUERY_MESSAGE, /* a slice, whose name stands in its record alone */
	FX_QUERY_COUNT,	  /* a value of a counter */
};

struct fx_query_row {
	uint64_t ts;
	int64_t id; /* of slices, or of counts */
	union {
		int64_t length; /* of slices; -1: did not finish */
		double value;	/* of counts */
	};
	int64_t parent; /* 0: none */
	int64_t set;	/* of arguments; 0: none */
	int64_t arg;	/* id of the first of them */
	uint64_t word;	/* where its record stands */
	uint64_t end_word;
	uint64_t payload;
	uint32_t provider;
	uint32_t track;
	uint32_t category; /* numbers of texts; 0: none */
	uint32_t name;
	uint16_t depth;
	uint8_t kind;  /* enum fx_query_row_kind */
	uint8_t flags; /* FX_ENTRY_CUT, FX_ENTRY_UNFINISHED */
};

struct fx_query_page {
	size_t number;
	unsigned users;
	uint64_t used; /* when, counted in pages that were asked for */
	FX_VECTOR(struct fx_query_row) rows;
};

/* Arguments of what belongs to no thread, sorted by set and id. */
struct fx_query_group {
	int64_t set;
	int64_t arg; /* id of the first */
	uint64_t word;
	uint32_t provider;
};

/* What numbers a page begins with. */
enum fx_query_number { FX_QUERY_BY_SLICE, FX_QUERY_BY_SET, FX_QUERY_BY_COUNT, FX_QUERY_NUMBERS };

struct fx_query_pages;

/*
 * Puts what is no row of an event into the tables that are wanted; the timeline is borrowed. Returns 0 or -errno;
 * fx_query_pages_close() must follow either way, with what was opened or NULL.
 */
int fx_query_pages_open(sqlite3 *db, const struct fx_sql_wants *wants, struct fx_timeline *timeline,
			struct fx_query_pages **ret);
void fx_query_pages_close(struct fx_query_pages *pages);

struct fx_timeline *fx_query_pages_timeline(const struct fx_query_pages *pages);

/* The page of this number, from 0, which stays until it is put back. Returns 1, 0: there is none, or -errno. */
int fx_query_pages_take(struct fx_query_pages *pages, size_t number, struct fx_query_page **ret);
void fx_query_pages_put(struct fx_query_page *page);

/* The thread of a page that was made, by number; UINT32_MAX: it is of none. */
uint32_t fx_query_pages_thread(const struct fx_query_pages *pages, size_t page);

/* Whether it has rows in this range of time, and of this track (0: any); true: it may have. It was made before. */
bool fx_query_pages_may_have(const struct fx_query_pages *pages, size_t page, uint64_t from,
			     uint64_t to, int64_t track);

/* The page in which a number is, if there is any such. Makes the pages before it. Returns 0 or -errno. */
int fx_query_pages_find(struct fx_query_pages *pages, enum fx_query_number by, int64_t number,
			size_t *ret_page);

/* How many pages are known, and whether these are all. */
size_t fx_query_pages_count(const struct fx_query_pages *pages, bool *ret_all);

/* The groups behind all pages. */
const struct fx_query_group *fx_query_pages_groups(const struct fx_query_pages *pages,
						   size_t *ret_count);

#endif
