/* SPDX-License-Identifier: MIT */
/*
 * What changed between runs: the tables of their reports (report.h), compared row by row. A table has columns that say
 * which row it is, and columns to measure; by unit, unless compare.def says otherwise, so that a new section is
 * compared by itself. Each table is compared by one measure, the leading one, and by a count beside it.
 */
#ifndef FX_REPORT_DIFF_H
#define FX_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"
#include "report/table.h"

/* X(NAME, "word"): by what rows are sorted, the largest first, names rising. */
#define FX_DIFF_SORTS(X)                                                                           \
	X(CHANGE, "change")                                                                        \
	X(SHARE, "share")                                                                          \
	X(BEFORE, "before")                                                                        \
	X(AFTER, "after")                                                                          \
	X(NAME, "name")

#define FX_ENUM_DIFF_SORT_(name, word) FX_DIFF_BY_##name,
enum fx_diff_sort { FX_DIFF_SORTS(FX_ENUM_DIFF_SORT_) FX_DIFF_SORT_COUNT };

struct fx_diff_order {
	size_t before; /* runs */
	size_t after;  /* runs; they stand behind the former */
	const char
	    *by; /* key of the leading measure, where a table has it; NULL: what it is sorted by */
	double threshold; /* times that differ by a smaller share are taken as equal */
	enum fx_diff_sort sort;
	bool all;   /* rows that did not change, too */
	size_t top; /* rows of a table; 0: all */
};

struct fx_diff;

/* The order is borrowed. NULL: no memory. */
struct fx_diff *fx_diff_new(const struct fx_diff_order *order);

/* NULL is allowed. */
void fx_diff_free(struct fx_diff *diff);

/* Takes what the report of a run says, once for each; `file' names it. The report may go then. Returns 0 or -ENOMEM. */
int fx_diff_add(struct fx_diff *diff, size_t run, const char *file, const struct fx_report *report);

/* Compares. Returns 0 or -errno: -ENOENT if no table has the measure of the order, -ENOMEM. */
int fx_diff_finish(struct fx_diff *diff);

/* The first table is of the runs themselves. */
size_t fx_diff_table_count(const struct fx_diff *diff);
const struct fx_table *fx_diff_table(const struct fx_diff *diff, size_t number);

#endif
