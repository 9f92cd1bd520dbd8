/* SPDX-License-Identifier: MIT */
/* fxtrace diff: what changed between runs. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
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
#include "report/diff.h"
#include "report/print.h"
#include "report/report.h"

enum {
	FILES_MAX = 100,    /* of a side */
	PATHS_MAX = 500000, /* of the tree */
};

static const double default_threshold = 0.05;

enum {
	OPTION_BASE = FX_USAGE_KEYS,
	OPTION_BY,
	OPTION_SORT,
	OPTION_THRESHOLD,
	OPTION_ALL,
	OPTION_SECTIONS, /* and one for each of them */
};

struct side {
	const char *files[FILES_MAX];
	size_t count;
};

struct diff_options {
	const char *program;
	struct side base, others;
	struct fx_diff_order diff;
	struct fx_report_order report;
	struct fx_filters filters;
	struct fx_tables tables;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"base", OPTION_BASE, "FILE", 0,
     "An archive of before; may be repeated, all FILEs are of after then", 1},
#define FX_SECTION(name, is_usual, help)                                                           \
	{#name, OPTION_SECTIONS + FX_SECTION_##name, NULL, 0, help, 2},
#include "report/sections.def"
#undef FX_SECTION
    FX_TABLES_TOP_OPTION(3),
    {"by", OPTION_BY, "KEY", 0, "Compare by this column of a report, such as calls or mean_ns", 3},
    {"sort", OPTION_SORT, "change|share|before|after|name", 0,
     "Sort by how much it changed, in numbers or in shares, by what it was or is, or by name "
     "(change)",
     3},
    {"threshold", OPTION_THRESHOLD, "PERCENT", 0,
     "Take times as equal that differ by less than this (5)", 3},
    {"all", OPTION_ALL, NULL, 0, "Show what did not change, too", 3},
    FX_FILTER_OPTIONS(4),
    FX_TABLES_OPTIONS(5),
    FX_USAGE_OPTIONS,
    {0},
};

static void diff_add_file(const struct diff_options *options, struct side *side, const char *file)
{
	if (side->count == FILES_MAX)
		fx_usage_error(options->program, "more than 100 archives of a side", file);
	side->files[side->count++] = file;
}

static enum fx_diff_sort diff_parse_sort(const struct diff_options *options, const char *text)
{
	static const char *const words[] = {
#define DIFF_SORT_WORD_(name, word) [FX_DIFF_BY_##name] = (word),
	    FX_DIFF_SORTS(DIFF_SORT_WORD_)};

	for (int i = 0; i < FX_DIFF_SORT_COUNT; i++) {
		if (strcmp(words[i], text) == 0)
			return (enum fx_diff_sort)i;
	}
	fx_usage_error(options->program, "not change, share, before, after or name", text);
}

static double diff_parse_threshold(const struct diff_options *options, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (*end == '%')
		end++;
	if (end == text || *end || !(value >= 0 && value <= 100))
		fx_usage_error(options->program, "not a percentage", text);
	return value / 100;
}

/* Without --base there are two archives, the one of before and the one of after. */
static void diff_check_options(struct diff_options *options)
{
	fx_filters_check(&options->filters, options->program);
	options->report.filter = options->filters.filter;
	if (options->base.count == 0) {
		if (options->others.count < 2)
			fx_usage_error(options->program, "two archives are to be given", NULL);
		if (options->others.count > 2)
			fx_usage_error(
			    options->program,
			    "more than two archives; those of before are given with --base",
			    options->others.files[2]);
		diff_add_file(options, &options->base, options->others.files[0]);
		options->others.files[0] = options->others.files[1];
		options->others.count = 1;
	}
	if (options->others.count == 0)
		fx_usage_error(options->program, "no archive of after given", NULL);
	options->diff.before = options->base.count;
	options->diff.after = options->others.count;
	options->diff.top = options->tables.top;
}

/* The summary tells what the archives hold, whatever else is asked for. */
static void diff_choose_sections(struct fx_report_order *report)
{
	for (size_t i = 0; i < FX_SECTION_COUNT; i++) {
		if (report->sections[i])
			report->sections[FX_SECTION_summary] = true;
	}
}

static error_t diff_parse_option(int key, char *arg, struct argp_state *state)
{
	struct diff_options *options = state->input;

	if (key >= OPTION_SECTIONS && key < OPTION_SECTIONS + FX_SECTION_COUNT) {
		options->report.sections[key - OPTION_SECTIONS] = true;
		return 0;
	}
	if (fx_filters_option(&options->filters, options->program, key, arg) ||
	    fx_tables_option(&options->tables, options->program, key, arg))
		return 0;
	switch (key) {
	case OPTION_BASE:
		diff_add_file(options, &options->base, arg);
		return 0;
	case OPTION_BY:
		options->diff.by = arg;
		return 0;
	case OPTION_SORT:
		options->diff.sort = diff_parse_sort(options, arg);
		return 0;
	case OPTION_THRESHOLD:
		options->diff.threshold = diff_parse_threshold(options, arg);
		return 0;
	case OPTION_ALL:
		options->diff.all = true;
		return 0;
	case ARGP_KEY_ARG:
		diff_add_file(options, &options->others, arg);
		return 0;
	case ARGP_KEY_END:
		diff_check_options(options);
		diff_choose_sections(&options->report);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp diff_parser = {
    .options = option_table,
    .parser = diff_parse_option,
    .args_doc = "BEFORE AFTER\n--base BEFORE [--base BEFORE...] AFTER...",
    .doc =
	"Prints what changed between two runs, or between several runs of before and after: what "
	"became slower, faster, more, less, new or gone. The tables are those of fxtrace report.",
};

/* --- Archives --------------------------------------------------------------------------------- */

static int diff_add_timeline(const struct diff_options *options, struct fx_diff *diff, size_t run,
			     const char *file, struct fx_timeline *timeline)
{
	struct fx_report *report;
	int r = fx_report_make(timeline, &options->report, NULL, NULL, &report);

	if (r < 0)
		return r;
	r = fx_diff_add(diff, run, file, report);
	fx_report_free(report);
	return r;
}

/* Returns 0 or -errno; -EBADMSG has been said. */
static int diff_add_from(const struct diff_options *options, struct fx_diff *diff, size_t run,
			 const char *file, int fd, bool *ret_damaged)
{
	struct fx_timeline timeline;
	int r = fx_timeline_open(&timeline, fd, NULL, NULL);

	if (r == 0)
		r = diff_add_timeline(options, diff, run, file, &timeline);
	if (timeline.fault.kind != FXT_FAULT_NONE && (r == 0 || r == -EBADMSG)) {
		fx_archive_complain_of(options->program, file, &timeline.fault,
				       r == 0 ? "; the comparison is of what is whole" : "");
		*ret_damaged = true;
	} else if (r < 0) {
		fx_archive_complain(options->program, file, r, NULL);
	}
	fx_timeline_close(&timeline);
	return r;
}

static int diff_add_archive(const struct diff_options *options, struct fx_diff *diff, size_t run,
			    const char *file, bool *ret_damaged)
{
	int r, fd = fx_archive_open_fd(file);

	if (fd < 0) {
		fx_archive_complain(options->program, file, fd, NULL);
		return fd;
	}
	r = diff_add_from(options, diff, run, file, fd, ret_damaged);
	fx_archive_close_fd(fd);
	return r;
}

static int diff_add_all(const struct diff_options *options, struct fx_diff *diff, bool *ret_damaged)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->base.count; i++)
		r = diff_add_archive(options, diff, i, options->base.files[i], ret_damaged);
	for (size_t i = 0; r == 0 && i < options->others.count; i++)
		r = diff_add_archive(options, diff, options->base.count + i,
				     options->others.files[i], ret_damaged);
	return r;
}

/* --- The whole -------------------------------------------------------------------------------- */

/* Text leaves out the tables that have nothing to say. */
static void diff_print(const struct diff_options *options, const struct fx_diff *diff)
{
	struct fx_print print;

	fx_tables_begin(&options->tables, &print);
	for (size_t i = 0; i < fx_diff_table_count(diff); i++) {
		const struct fx_table *table = fx_diff_table(diff, i);

		if (options->tables.style != FX_PRINT_TEXT || fx_table_row_count(table) > 0 ||
		    fx_table_note_count(table) > 0)
			fx_print_table(&print, table);
	}
	fx_print_end(&print);
}

static int diff_archives(const struct diff_options *options, struct fx_diff *diff)
{
	bool damaged = false;
	int r = diff_add_all(options, diff, &damaged);

	if (r < 0)
		return FX_EXIT_FAILURE;
	r = fx_diff_finish(diff);
	if (r == -ENOENT)
		fx_usage_error(options->program,
			       "no table has a column of this key to compare by (fxtrace report "
			       "--csv shows them)",
			       options->diff.by);
	if (r < 0)
		return fx_archive_complain(options->program, options->base.files[0], r, NULL);
	diff_print(options, diff);
	return damaged ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

int fx_cmd_diff(int argc, char **argv)
{
	struct diff_options options = {
	    .program = argv[0],
	    .filters = FX_FILTERS_INIT,
	    .tables = FX_TABLES_INIT,
	    .diff.threshold = default_threshold,
	    .report.paths = PATHS_MAX,
	};
	struct fx_diff *diff;
	int status;

	fx_usage_parse(argv[0], &diff_parser, argc, argv, 0, &options);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	diff = fx_diff_new(&options.diff);
	status = diff ? diff_archives(&options, diff)
		      : fx_archive_complain(options.program, options.base.files[0], -ENOMEM, NULL);
	fx_diff_free(diff);
	fx_pager_end();
	return status;
}
