/* SPDX-License-Identifier: MIT */
/* fxtrace report [FILE]: what an archive says, in tables. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/filters.h"
#include "client/pager.h"
#include "client/tables.h"
#include "client/usage.h"
#include "convert/indexer.h"
#include "convert/timeline.h"
#include "report/print.h"
#include "report/report.h"

enum {
	DEFAULT_PATHS = 500000,
	MOST_PATHS = 100000000,
};

enum {
	OPTION_SORT = FX_USAGE_KEYS,
	OPTION_FUNCTION,
	OPTION_MAX_PATHS,
	OPTION_SECTIONS, /* and one for each of them */
};

struct report_options {
	const char *program;
	const char *file;
	struct fx_report_order order;
	struct fx_filters filters;
	const char *functions[FX_FILTER_PATTERNS_MAX];
	struct fx_tables tables;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
#define FX_SECTION(name, is_usual, help)                                                           \
	{#name, OPTION_SECTIONS + FX_SECTION_##name, NULL, 0, help, 1},
#include "report/sections.def"
#undef FX_SECTION
    {"function", OPTION_FUNCTION, "GLOB", 0,
     "Functions of this name: who calls them, and whom they call; may be repeated", 1},
    FX_TABLES_TOP_OPTION(2),
    {"sort", OPTION_SORT, "KEY", 0, "Sort by the column of this key; --csv shows the keys", 2},
    {"max-paths", OPTION_MAX_PATHS, "N", 0,
     "Of the tree: tell this many paths of calls apart, and merge further ones (500000)", 2},
    FX_FILTER_OPTIONS(3),
    FX_TABLES_OPTIONS(4),
    FX_USAGE_OPTIONS,
    {0},
};

static size_t report_parse_count(const struct report_options *options, const char *what,
				 size_t least, size_t most, const char *text)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	if (*end || end == text || *text == '-' || count < least || count > most)
		fx_usage_error(options->program, what, text);
	return count;
}

/* The functions are asked for with it. */
static void report_add_function(struct report_options *options, const char *pattern)
{
	struct fx_patterns *functions = &options->order.functions;

	if (functions->count == FX_FILTER_PATTERNS_MAX)
		fx_usage_error(options->program, "more than 64 patterns of one kind", pattern);
	options->functions[functions->count++] = pattern;
	functions->items = options->functions;
}

static void report_check_options(struct report_options *options)
{
	fx_filters_check(&options->filters, options->program);
	options->order.filter = options->filters.filter;
	options->order.top = options->tables.top;
	if (options->order.functions.count > 0 && !options->order.sections[FX_SECTION_tree])
		options->order.sections[FX_SECTION_functions] = true;
	if (!options->file)
		options->file = FX_ARCHIVE_USUAL;
}

static error_t report_parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_options *options = state->input;

	if (key >= OPTION_SECTIONS && key < OPTION_SECTIONS + FX_SECTION_COUNT) {
		options->order.sections[key - OPTION_SECTIONS] = true;
		return 0;
	}
	if (fx_filters_option(&options->filters, options->program, key, arg) ||
	    fx_tables_option(&options->tables, options->program, key, arg))
		return 0;
	switch (key) {
	case OPTION_SORT:
		options->order.sort = arg;
		return 0;
	case OPTION_FUNCTION:
		report_add_function(options, arg);
		return 0;
	case OPTION_MAX_PATHS:
		options->order.paths = report_parse_count(
		    options, "not a number of paths from 1 to 100000000", 1, MOST_PATHS, arg);
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(options->program, &options->file, arg);
		return 0;
	case ARGP_KEY_END:
		report_check_options(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp report_parser = {
    .options = option_table,
    .parser = report_parse_option,
    .args_doc = "[FILE]",
    .doc = "Prints what the trace archive FILE (fxtrace.fxt; `-' is standard input) says, in "
	   "tables. Each section can be asked for alone.",
};

/* --- Printing --------------------------------------------------------------------------------- */

static void report_print(const struct report_options *options, const struct fx_report *report)
{
	struct fx_print print;

	fx_tables_begin(&options->tables, &print);
	for (size_t i = 0; i < fx_report_table_count(report); i++)
		fx_print_table(&print, fx_report_table(report, i));
	fx_print_end(&print);
}

static int report_of_timeline(const struct report_options *options, struct fx_timeline *timeline)
{
	struct fx_report *report;
	int r = fx_report_make(timeline, &options->order, NULL, NULL, &report);

	if (r == -ENOENT)
		fx_usage_error(options->program,
			       "no table has a column of this key (--csv shows them)",
			       options->order.sort);
	if (r < 0)
		return fx_archive_complain(options->program, options->file, r, NULL);
	if (timeline->fault.kind != FXT_FAULT_NONE)
		fx_archive_complain_of(options->program, options->file, &timeline->fault,
				       "; the report is of what is whole");
	report_print(options, report);
	fx_report_free(report);
	return timeline->fault.kind != FXT_FAULT_NONE ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

static int report_from(const struct report_options *options, int fd)
{
	struct fx_timeline timeline;
	int status, r = fx_timeline_open(&timeline, fd, NULL, NULL);

	if (r == 0)
		status = report_of_timeline(options, &timeline);
	else
		status = fx_archive_complain(options->program, options->file, r, &timeline.fault);
	fx_timeline_close(&timeline);
	return status;
}

int fx_cmd_report(int argc, char **argv)
{
	struct report_options options = {
	    .program = argv[0],
	    .order.paths = DEFAULT_PATHS,
	    .filters = FX_FILTERS_INIT,
	    .tables = FX_TABLES_INIT,
	};
	int status, fd;

	fx_usage_parse(argv[0], &report_parser, argc, argv, 0, &options);
	fd = fx_archive_open_fd(options.file);
	if (fd < 0)
		return fx_archive_complain(options.program, options.file, fd, NULL);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	status = report_from(&options, fd);
	fx_archive_close_fd(fd);
	fx_pager_end();
	return status;
}
