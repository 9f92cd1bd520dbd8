/* SPDX-License-Identifier: MIT */
/*
 * What of an archive `fxtrace run' would have recorded with other options: --categories, --filter, --no-trace, --when,
 * --min-duration, --max-depth, --last, --no-follow.
 */
#ifndef FX_CLIENT_CHOICE_H
#define FX_CLIENT_CHOICE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "lists/runs.h"
#include "protocol/messages.h"

/* All zeros: everything is chosen. */
struct fx_choice {
	bool has_categories;
	bool all_categories; /* that the words do not name */
	char words[FX_CATEGORY_LIST_MAX];
	char functions[FX_FUNCTION_LIST_MAX]; /* patterns of symbols/patterns.h */
	uint64_t min_duration;		      /* ns, of functions */
	uint64_t max_depth;		      /* 0: any */
	uint64_t last;			      /* ns before the last event; 0: all */
	bool no_follow;
	/* Calls that are not chosen, known by fx_choice_look(): struct choice_place. */
	struct fx_runs_pool pool;
	struct fx_runs left_out;
	struct fx_merge merge;
	const uint64_t *next;
	bool has_calls; /* there may be such */
	bool is_reading;
};

enum {
	FX_CHOICE_LAST = 0x1100,
	FX_CHOICE_NO_FOLLOW,
	FX_CHOICE_WHEN,
};

/* For a command's table, in the group of this number. */
/* clang-format off */
#define FX_CHOICE_OPTIONS(group)                                                                   \
	{"categories", 'c', "LIST", 0,                                                             \
	 "Only these categories: a list as fxtrace run takes it; one that begins by taking away "  \
	 "takes from all", group},                                                                 \
	{"filter", 'F', "GLOB", 0,                                                                 \
	 "Of functions, only those whose names match GLOB; may be repeated", group},               \
	{"no-trace", 'N', "GLOB", 0,                                                               \
	 "No functions whose names match GLOB; may be repeated", group},                           \
	{"when", FX_CHOICE_WHEN, "GLOB", 0,                                                        \
	 "Functions only inside calls of those whose names match GLOB, these included; "          \
	 "GLOB+depth=N: so many levels; may be repeated", group},                                 \
	{"min-duration", 't', "[GLOB=]TIME", 0,                                                    \
	 "No function calls shorter than TIME; GLOB=TIME: of functions whose names match; may be " \
	 "repeated", group},                                                                       \
	{"max-depth", 'D', "N", 0, "No calls nested deeper than N", group},     \
	{"last", FX_CHOICE_LAST, "TIME", 0, "Only the last TIME before the last event", group},    \
	{"no-follow", FX_CHOICE_NO_FOLLOW, NULL, 0, "Only the first process", group}
/* clang-format on */

/* Takes an option; false: it is none of these. Wrong usage ends the program, named by `command'. */
bool fx_choice_option(struct fx_choice *choice, const char *command, int key, const char *arg);

/* Whether events of this category are chosen, in a process of this name (NULL: not known). Not terminated. */
bool fx_choice_category(const struct fx_choice *choice, const char *process,
			const struct fxt_string *category);

/* Finds the calls of the archive that are not chosen. Returns 0 or -errno. */
int fx_choice_look(struct fx_choice *choice, const char *file);

/* Whether a record is one of a call that is not chosen. Records are asked for in rising order; fx_choice_rewind() begins anew,
 * and returns 0 or -errno. */
bool fx_choice_leaves_out(struct fx_choice *choice, const struct fxt_record *record);
int fx_choice_rewind(struct fx_choice *choice);

/* 0 or -errno: what went wrong since fx_choice_rewind(). */
int fx_choice_error(const struct fx_choice *choice);

void fx_choice_free(struct fx_choice *choice);

#endif
