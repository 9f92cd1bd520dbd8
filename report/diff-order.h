/* SPDX-License-Identifier: MIT */
/* What a comparison is asked for: which runs, and how their tables are shown. */
#ifndef FX_REPORT_DIFF_ORDER_H
#define FX_REPORT_DIFF_ORDER_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
