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
#include "client/server-archives.h"
#include "client/tables.h"
#include "client/usage.h"
#include "convert/indexer.h"
#include "convert/timeline.h"
#include "manager/settings/report.h"
#include "report/ask.h"
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
	OPTION_LOCK,
	OPTION_FD,
	OPTION_FILE,
	OPTION_PEER,
	OPTION_SECTIONS, /* and one for each of them */
};

struct report_options {
	const char *program;
	const char *file;
	struct fx_report_order order;
	struct fx_filters filters;
	const char *functions[FX_FILTER_PATTERNS_MAX];
	struct fx_wanted objects[FX_WANTED_MAX];
	struct fx_server_archives server;
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
    {"lock", OPTION_LOCK, "[PID:]ADDR|NAME", 0,
     "The history of a lock, condition or semaphore: who used it when, who waited for whom; may be "
     "repeated, as the next three",
     1},
    {"fd", OPTION_FD, "[PID:]N", 0, "The history of a descriptor, of each thing that it was", 1},
    {"file", OPTION_FILE, "GLOB", 0,
     "The history of a file, by its path, or by its last part if there is no slash", 1},
    {"peer", OPTION_PEER, "GLOB", 0,
     "The history of a socket or pipe, by an address, :PORT, or pipe:[INODE]", 1},
    FX_TABLES_TOP_OPTION(2),
    {"sort", OPTION_SORT, "KEY", 0, "Sort by the column of this key; --csv shows the keys", 2},
    {"max-paths", OPTION_MAX_PATHS, "N", 0,
     "Of the tree: tell this many paths of calls apart, and merge further ones (500000)", 2},
    FX_FILTER_OPTIONS(3),
    FX_TABLES_OPTIONS(4),
    FX_SERVER_OPTIONS(5),
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

static void report_add_object(struct report_options *options, enum fx_wanted_kind kind,
			      const char *text)
{
	static const char *const wrong[] = {
	    [FX_WANTED_LOCK] = "not the address or name of a lock, such as 0x55e4b48960b0",
	    [FX_WANTED_FD] = "not a descriptor, such as 3 or 1234:3",
	    [FX_WANTED_FILE] = "not a path",
	    [FX_WANTED_PEER] = "not a peer, such as 127.0.0.1:80",
	};
	size_t count = options->order.objects.count;

	if (count == FX_WANTED_MAX)
		fx_usage_error(options->program, "more than 64 objects", text);
	if (!fx_wanted_parse(&options->objects[count], kind, text))
		fx_usage_error(options->program, wrong[kind], text);
	options->order.objects.items = options->objects;
	options->order.objects.count++;
}

/* What is counted there costs little: that is what is told unless more is asked for. Filters are a walk's. */
static void report_order_of_server(struct report_options *options)
{
	struct fx_report_order *order = &options->order;
	bool any = order->objects.count > 0;

	order->is_asked = !any && order->functions.count == 0 && !fx_filters_any(&options->filters);
	for (size_t i = 0; i < FX_SECTION_COUNT; i++)
		any |= order->sections[i];
	for (size_t i = 0; i < FX_SECTION_COUNT && !any; i++)
		order->sections[i] = fx_report_can_ask(i);
}

static void report_check_options(struct report_options *options)
{
	fx_filters_check(&options->filters, options->program);
	options->order.filter = options->filters.filter;
	options->order.top = options->tables.top;
	if (options->order.functions.count > 0 && !options->order.sections[FX_SECTION_tree])
		options->order.sections[FX_SECTION_functions] = true;
	if (fx_server_check(&options->server, options->program, options->file))
		report_order_of_server(options);
	else if (!options->file)
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
	    fx_tables_option(&options->tables, options->program, key, arg) ||
	    fx_server_option(&options->server, key, arg))
		return 0;
	switch (key) {
	case OPTION_SORT:
		options->order.sort = arg;
		return 0;
	case OPTION_FUNCTION:
		report_add_function(options, arg);
		return 0;
	case OPTION_LOCK:
	case OPTION_FD:
	case OPTION_FILE:
	case OPTION_PEER:
		report_add_object(options, (enum fx_wanted_kind)(key - OPTION_LOCK), arg);
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

/* --- What is not there ------------------------------------------------------------------------ */

static size_t report_complain_of_missing(const struct report_options *options,
					 const struct fx_report *report)
{
	const char *line;
	size_t count = 0;

	while ((line = fx_report_missing(report, count))) {
		fx_report_as(options->program, "%s: %s",
			     options->file ? options->file : "--clickhouse", line);
		count++;
	}
	return count;
}

/* --- Printing --------------------------------------------------------------------------------- */

static void report_print(const struct report_options *options, const struct fx_report *report)
{
	struct fx_print print;

	fx_tables_begin(&options->tables, &print);
	for (size_t i = 0; i < fx_report_table_count(report); i++)
		fx_print_table(&print, fx_report_table(report, i));
	fx_print_end(&print);
}

static _Noreturn void report_no_column(const struct report_options *options)
{
	fx_usage_error(options->program, "no table has a column of this key (--csv shows them)",
		       options->order.sort);
}

static int report_of_timeline(const struct report_options *options, struct fx_timeline *timeline)
{
	struct fx_report *report;
	size_t missing;
	int r = fx_report_make(timeline, &options->order, NULL, NULL, &report);

	if (r == -ENOENT)
		report_no_column(options);
	if (r < 0)
		return fx_archive_complain(options->program, options->file, r, NULL);
	if (timeline->fault.kind != FXT_FAULT_NONE)
		fx_archive_complain_of(options->program, options->file, &timeline->fault,
				       "; the report is of what is whole");
	missing = report_complain_of_missing(options, report);
	if (missing == 0 || missing < options->order.objects.count)
		report_print(options, report);
	fx_report_free(report);
	return missing > 0 || timeline->fault.kind != FXT_FAULT_NONE ? FX_EXIT_FAILURE : FX_EXIT_OK;
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

static int report_of_server(const struct report_options *options)
{
	struct fx_timeline timeline;
	struct fx_report *report;
	size_t missing;
	int r = fx_server_report(&options->server, options->program, &options->order, &timeline,
				 &report);

	if (r == -ENOENT)
		report_no_column(options);
	if (r != 0)
		return FX_EXIT_FAILURE;
	missing = report_complain_of_missing(options, report);
	if (missing == 0 || missing < options->order.objects.count)
		report_print(options, report);
	fx_report_free(report);
	fx_timeline_close(&timeline);
	return missing > 0 ? FX_EXIT_FAILURE : FX_EXIT_OK;
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
	if (options.server.url) {
		signal(SIGPIPE, SIG_DFL);
		status = report_of_server(&options);
		fx_pager_end();
		return status;
	}
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
