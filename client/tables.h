/* SPDX-License-Identifier: MIT */
/* --top, --json, --csv, --color, --no-pager: how a command prints its tables (report/print.h). */
#ifndef FX_CLIENT_TABLES_H
#define FX_CLIENT_TABLES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/print.h"

struct fx_tables {
	enum fx_print_style style;
	const char *color;
	bool no_pager;
	size_t top; /* rows of a table; 0: all */
};

enum { FX_TABLES_TOP_DEFAULT = 20 };

#define FX_TABLES_INIT                                                                             \
	{                                                                                          \
		.color = "auto", .top = FX_TABLES_TOP_DEFAULT                                      \
	}

enum {
	FX_TABLES_TOP = 0x1100,
	FX_TABLES_JSON,
	FX_TABLES_CSV,
	FX_TABLES_NAMES,
	FX_TABLES_COLOR,
	FX_TABLES_NO_PAGER,
};

/* For a command's table, in the groups of these numbers. */
/* clang-format off */
#define FX_TABLES_TOP_OPTION(group)                                                                \
	{"top", FX_TABLES_TOP, "N", 0, "Show at most N rows of each table; 0 shows all (20)", group}
#define FX_TABLES_OPTIONS(group)                                                                   \
	{"json", FX_TABLES_JSON, NULL, 0, "Print JSON: an object of tables by name", group},       \
	{"csv", FX_TABLES_CSV, NULL, 0, "Print comma-separated values, with a line of keys first", \
	 group},                                                                                   \
	{"names", FX_TABLES_NAMES, NULL, 0, "Print the names alone, one a line, as patterns", group}, \
	{"color", FX_TABLES_COLOR, "WHEN", 0, "always, never, or auto: on a terminal (auto)", group}, \
	{"no-pager", FX_TABLES_NO_PAGER, NULL, 0, "Do not pass the text through a pager", group}
/* clang-format on */

/* Takes an option; false: it is none of these. Wrong usage ends the program, named by `command'. */
bool fx_tables_option(struct fx_tables *tables, const char *command, int key, const char *arg);

/* Begins to print to standard output, through a pager if it is a terminal (fx_pager_end() ends it). */
void fx_tables_begin(const struct fx_tables *tables, struct fx_print *ret);

#endif
