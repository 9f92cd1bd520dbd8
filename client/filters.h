/* SPDX-License-Identifier: MIT */
/* --process, --thread, --category, --name, --from, --to: which events a command is about (report/filter.h). */
#ifndef FX_CLIENT_FILTERS_H
#define FX_CLIENT_FILTERS_H

#include <argp.h>
#include <stdbool.h>

#include "report/filter.h"

enum { FX_FILTER_PATTERNS_MAX = 64 }; /* of one kind */

/* The texts are the command line's. */
struct fx_filters {
	struct fx_filter filter;
	const char
	    *patterns[4][FX_FILTER_PATTERNS_MAX]; /* of processes, threads, categories, names */
};

/* Everything passes. */
#define FX_FILTERS_INIT                                                                            \
	{                                                                                          \
		.filter.to = UINT64_MAX                                                            \
	}

enum {
	FX_FILTER_PROCESS = 0x1000,
	FX_FILTER_THREAD,
	FX_FILTER_CATEGORY,
	FX_FILTER_NAME,
	FX_FILTER_FROM,
	FX_FILTER_TO,
};

/* For a command's table, in the group of this number. */
/* clang-format off */
#define FX_FILTER_OPTIONS(group)                                                                   \
	{"process", FX_FILTER_PROCESS, "GLOB", 0,                                                  \
	 "Only processes of this name or id; may be repeated, as the next three", group},          \
	{"thread", FX_FILTER_THREAD, "GLOB", 0, "Only threads of this name or id", group},         \
	{"category", FX_FILTER_CATEGORY, "GLOB", 0, "Only events of this category", group},        \
	{"name", FX_FILTER_NAME, "GLOB", 0, "Only events of this name", group},                    \
	{"from", FX_FILTER_FROM, "TIME", 0,                                                        \
	 "From this time after the first event, such as 1.5s", group},                             \
	{"to", FX_FILTER_TO, "TIME", 0, "Until this time after the first event", group}
/* clang-format on */

/* Takes an option; false: it is none of these. Wrong usage ends the program, named by `command'. */
bool fx_filters_option(struct fx_filters *filters, const char *command, int key, const char *arg);

/* Whether one of them was given. */
bool fx_filters_any(const struct fx_filters *filters);

/* What is said where nothing passes. */
#define FX_FILTERS_NONE                                                                            \
	"passes --process, --thread, --category, --name, --from and --to; fxtrace info says what " \
	"there is"

/* Looks at the whole, when all options are there. */
void fx_filters_check(const struct fx_filters *filters, const char *command);

#endif
