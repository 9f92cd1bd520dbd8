/* SPDX-License-Identifier: MIT */
/* fxtrace why [FILE]: why it took so long, and which threads were waited for. */
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
#include "client/quantity.h"
#include "client/server-archives.h"
#include "client/tables.h"
#include "client/tail.h"
#include "client/usage.h"
#include "convert/indexer.h"
#include "manager/settings/report.h"
#include "report/print.h"
#include "why/why.h"

enum { DEPTH_MOST = 1000 };

enum {
	OPTION_SLICE = FX_USAGE_KEYS,
	OPTION_MIN_SHARE,
	OPTION_DEPTH,
	OPTION_COLLAPSED,
};

struct why_options {
	const char *program;
	const char *file;
	char *slice; /* the name alone */
	bool is_collapsed;
	struct fx_why_order order;
	struct fx_filters filters;
	struct fx_tables tables;
	struct fx_server_archives server;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"process", FX_FILTER_PROCESS, "GLOB", 0,
     "Of the first process of this name or id; may be repeated, as the next one", 1},
    {"thread", FX_FILTER_THREAD, "GLOB", 0, "Of the longest thread of this name or id", 1},
    {"slice", OPTION_SLICE, "NAME", 0,
     "Of the longest call or event of this name (NAME:longest), or the N-th (NAME#N)", 1},
    {"from", FX_FILTER_FROM, "TIME", 0, "From this time after the first event, such as 1.5s", 1},
    {"to", FX_FILTER_TO, "TIME", 0, "Until this time after the first event", 1},
    {"min-share", OPTION_MIN_SHARE, "PERCENT", 0,
     "Sum up what had less than this share of the time (1)", 2},
    {"depth", OPTION_DEPTH, "N", 0, "Show at most N levels of the tree; 0 shows all (0)", 2},
    {"top", FX_TABLES_TOP, "N", 0, "Show at most N rows of what had the time; 0 shows all (20)", 2},
    {"collapsed", OPTION_COLLAPSED, NULL, 0,
     "Print each path of the tree as a line with its nanoseconds, for flame graphs", 3},
    {"json", FX_TABLES_JSON, NULL, 0, "Print JSON: an object of tables by name", 3},
    {"csv", FX_TABLES_CSV, NULL, 0, "Print comma-separated values, with a line of keys first", 3},
    {"color", FX_TABLES_COLOR, "WHEN", 0, "always, never, or auto: on a terminal (auto)", 3},
    {"no-pager", FX_TABLES_NO_PAGER, NULL, 0, "Do not pass the text through a pager", 3},
    FX_SERVER_OPTIONS(4),
    FX_USAGE_OPTIONS,
    {0},
};

/* NAME, NAME:longest, NAME#N; names of functions may have colons as well. */
static void why_parse_slice(struct why_options *options, const char *text)
{
	static const char longest[] = ":longest";
	const char *mark = strrchr(text, '#');
	size_t length = strlen(text);

	options->order.number = 0;
	if (length > strlen(longest) && strcmp(text + length - strlen(longest), longest) == 0) {
		length -= strlen(longest);
	} else if (mark && mark > text) {
		if (!fx_quantity_parse(mark + 1, FX_QUANTITY_COUNTS, &options->order.number) ||
		    options->order.number == 0)
			fx_usage_error(options->program, "not NAME, NAME#N or NAME:longest", text);
		length = (size_t)(mark - text);
	}
	if (length == 0)
		fx_usage_error(options->program, "not NAME, NAME#N or NAME:longest", text);
	free(options->slice);
	options->slice = strndup(text, length);
	options->order.slice = options->slice;
}

static double why_parse_share(const struct why_options *options, const char *text)
{
	size_t length = strspn(text, "0123456789.");
	char *end;
	double share = strtod(text, &end);

	if (length == 0 || end != text + length || (*end && strcmp(end, "%") != 0) || share > 100)
		fx_usage_error(options->program, "not a share from 0 to 100, such as 0.5", text);
	return share / 100;
}

static unsigned why_parse_depth(const struct why_options *options, const char *text)
{
	uint64_t depth;

	if (!fx_quantity_parse(text, FX_QUANTITY_COUNTS, &depth) || depth > DEPTH_MOST)
		fx_usage_error(options->program, "not a number of levels from 0 to 1000", text);
	return (unsigned)depth;
}

static void why_check_options(struct why_options *options)
{
	const struct fx_filter *filter = &options->filters.filter;

	fx_filters_check(&options->filters, options->program);
	if (options->is_collapsed && options->tables.style != FX_PRINT_TEXT)
		fx_usage_error(options->program, "--collapsed, --json and --csv", "one of them");
	options->order.processes = filter->processes;
	options->order.threads = filter->threads;
	options->order.top = options->tables.top;
	options->order.from = filter->from;
	options->order.to = filter->to;
	options->order.is_full = options->tables.style != FX_PRINT_TEXT;
	if (fx_server_check(&options->server, options->program, options->file))
		options->file = options->server.url;
	else if (!options->file)
		options->file = FX_ARCHIVE_USUAL;
}

static error_t why_parse_option(int key, char *arg, struct argp_state *state)
{
	struct why_options *options = state->input;

	if (key == FX_FILTER_FROM)
		options->order.is_from_given = true;
	if (fx_filters_option(&options->filters, options->program, key, arg) ||
	    fx_tables_option(&options->tables, options->program, key, arg) ||
	    fx_server_option(&options->server, key, arg))
		return 0;
	switch (key) {
	case OPTION_SLICE:
		why_parse_slice(options, arg);
		return 0;
	case OPTION_MIN_SHARE:
		options->order.least = why_parse_share(options, arg);
		return 0;
	case OPTION_DEPTH:
		options->order.depth = why_parse_depth(options, arg);
		return 0;
	case OPTION_COLLAPSED:
		options->is_collapsed = true;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(options->program, &options->file, arg);
		return 0;
	case ARGP_KEY_END:
		why_check_options(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp why_parser = {
    .options = option_table,
    .parser = why_parse_option,
    .args_doc = "[FILE]",
    .doc =
	"Says why it took so long, by the trace archive FILE (fxtrace.fxt; `-' is standard "
	"input): going back from the end of the first process, of a thread or of a call, who had "
	"the time, and who was waited for.",
};

/* --- The answer ------------------------------------------------------------------------------- */

static int why_print(const struct why_options *options, const struct fx_why *why)
{
	struct fx_print print;

	if (options->is_collapsed)
		return fx_why_print_collapsed(why, stdout);
	fx_tables_begin(&options->tables, &print);
	for (size_t i = 0; i < fx_why_table_count(why); i++)
		fx_print_table(&print, fx_why_table(why, i));
	fx_print_end(&print);
	return 0;
}

static int why_of_timeline(const struct why_options *options, struct fx_timeline *timeline)
{
	struct fx_why *why;
	const char *wrong;
	bool is_damaged;
	int r = fx_why_make(timeline, &options->order, &why, &wrong);

	if (r == -ENOENT) {
		fx_report_as(options->program, "%s: %s", options->file, wrong);
		return FX_EXIT_FAILURE;
	}
	if (r < 0)
		return fx_archive_complain(options->program, options->file, r, NULL);
	/* The last record of one that grows may not be whole yet. */
	is_damaged = timeline->fault.kind != FXT_FAULT_NONE &&
		     !(options->order.is_growing && timeline->fault.kind == FXT_FAULT_TRUNCATED);
	if (is_damaged)
		fx_archive_complain_of(options->program, options->file, &timeline->fault,
				       "; the answer is of what is whole");
	r = why_print(options, why);
	fx_why_free(why);
	if (r < 0)
		return fx_archive_complain(options->program, options->file, r, NULL);
	return is_damaged ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

static int why_from(struct why_options *options, int fd)
{
	struct fx_timeline timeline;
	int status, r;

	/* Before it is read: what comes then may be missing. */
	options->order.is_growing = fx_tail_is_held(fd);
	r = fx_timeline_open(&timeline, fd, NULL, NULL);
	if (r == 0)
		status = why_of_timeline(options, &timeline);
	else
		status = fx_archive_complain(options->program, options->file, r, &timeline.fault);
	fx_timeline_close(&timeline);
	return status;
}

static int why_from_file(struct why_options *options)
{
	int fd = fx_archive_open_fd(options->file), status;

	if (fd < 0)
		return fx_archive_complain(options->program, options->file, fd, NULL);
	status = why_from(options, fd);
	fx_archive_close_fd(fd);
	return status;
}

static int why_from_server(const struct why_options *options)
{
	struct fx_timeline timeline;
	int status;

	if (fx_server_fetch(&options->server, options->program, &timeline) != 0)
		return FX_EXIT_FAILURE;
	status = why_of_timeline(options, &timeline);
	fx_timeline_close(&timeline);
	return status;
}

int fx_cmd_why(int argc, char **argv)
{
	struct why_options options = {
	    .program = argv[0],
	    .order.least = 0.01,
	    .filters = FX_FILTERS_INIT,
	    .tables = FX_TABLES_INIT,
	};
	int status;

	fx_usage_parse(argv[0], &why_parser, argc, argv, 0, &options);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	status = options.server.url ? why_from_server(&options) : why_from_file(&options);
	fx_pager_end();
	free(options.slice);
	return status;
}
