/* SPDX-License-Identifier: MIT */
/* fxtrace query FILE SQL: what an archive answers. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/pager.h"
#include "client/usage.h"
#include "convert/indexer.h"
#include "query/query.h"

enum { OPTION_JSON = FX_USAGE_KEYS, OPTION_CSV, OPTION_NO_PAGER };

struct query_options {
	const char *program;
	const char *file;
	const char *sql;
	enum fx_query_style style;
	bool no_pager;
};

static const struct argp_option option_table[] = {
    {"json", OPTION_JSON, NULL, 0, "Print JSON: an array with an object for each row", 1},
    {"csv", OPTION_CSV, NULL, 0, "Print comma-separated values, with a line of names first", 1},
    {"no-pager", OPTION_NO_PAGER, NULL, 0, "Do not pass the text through a pager", 1},
    FX_USAGE_OPTIONS,
    {0},
};

static void query_set_style(struct query_options *options, enum fx_query_style style)
{
	if (options->style != FX_QUERY_TEXT && options->style != style)
		fx_usage_error(options->program, "--json and --csv", "one of both");
	options->style = style;
}

static error_t query_parse_option(int key, char *arg, struct argp_state *state)
{
	struct query_options *options = state->input;

	switch (key) {
	case OPTION_JSON:
		query_set_style(options, FX_QUERY_JSON);
		return 0;
	case OPTION_CSV:
		query_set_style(options, FX_QUERY_CSV);
		return 0;
	case OPTION_NO_PAGER:
		options->no_pager = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!options->file)
			options->file = arg;
		else if (!options->sql)
			options->sql = arg;
		else
			fx_usage_error(options->program, "too many arguments", arg);
		return 0;
	case ARGP_KEY_END:
		if (!options->file)
			fx_usage_error(options->program, "no FILE given", NULL);
		if (!options->sql)
			fx_usage_error(options->program, "no SQL given", NULL);
		if (strcmp(options->file, "-") != 0 && access(options->file, F_OK) != 0 &&
		    access(options->sql, F_OK) == 0)
			fx_usage_error(options->program, "FILE comes before SQL", options->sql);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp query_parser = {
    .options = option_table,
    .parser = query_parse_option,
    .args_doc = "FILE SQL",
    .doc =
	"Prints what the trace archive FILE (`-' is standard input) answers to SQL, one statement "
	"that reads. "
	"Tables and columns are those of Perfetto's trace processor: slice, thread, process, "
	"thread_track, "
	"process_track, counter, counter_track, args, flow, sched, thread_state, stats and others.",
};

/* --- What is wrong ---------------------------------------------------------------------------- */

static int query_say(const struct query_options *options, const struct fx_query *query, int error)
{
	if (error != -EINVAL)
		return fx_archive_complain(options->program, options->file, error, NULL);
	fprintf(stderr, "%s: SQL: %s\n", options->program, fx_query_fault(query));
	return FX_EXIT_USAGE;
}

/* --- The answer ------------------------------------------------------------------------------- */

static int query_print(const struct query_options *options, struct fx_query *query)
{
	struct fx_sink *sink;
	int closed, r;

	if (options->style == FX_QUERY_TEXT && !options->no_pager)
		fx_pager_start();
	r = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (r < 0)
		return fx_archive_complain(options->program, options->file, -errno, NULL);
	r = fx_sink_open(r, FX_PACKING_NONE, &sink);
	if (r < 0)
		return fx_archive_complain(options->program, options->file, r, NULL);
	r = fx_query_answer(query, sink, options->style);
	closed = fx_sink_close(sink);
	if (r < 0)
		return query_say(options, query, r);
	if (closed < 0 && closed != -EPIPE) {
		fprintf(stderr, "%s: standard output: %s\n", options->program, strerror(-closed));
		return FX_EXIT_FAILURE;
	}
	return FX_EXIT_OK;
}

static int query_timeline(const struct query_options *options, struct fx_query *query,
			  struct fx_timeline *timeline)
{
	int status, r = fx_query_fill(query, timeline);

	if (r < 0)
		return fx_archive_complain(options->program, options->file, r, NULL);
	/* What was lost while recording is missing in every answer. */
	fx_archive_say_notes(options->program, options->file, timeline, "; table stats");
	if (timeline->fault.kind != FXT_FAULT_NONE)
		fx_archive_complain_of(options->program, options->file, &timeline->fault,
				       "; the answer is of what is whole");
	status = query_print(options, query);
	if (status == FX_EXIT_OK && timeline->fault.kind != FXT_FAULT_NONE)
		return FX_EXIT_FAILURE;
	return status;
}

static int query_from(const struct query_options *options, struct fx_query *query, int fd)
{
	struct fx_timeline timeline;
	int status, r = fx_timeline_open(&timeline, fd, NULL, NULL);

	if (r == 0)
		status = query_timeline(options, query, &timeline);
	else
		status = fx_archive_complain(options->program, options->file, r, &timeline.fault);
	fx_query_empty(query);
	fx_timeline_close(&timeline);
	return status;
}

int fx_cmd_query(int argc, char **argv)
{
	struct query_options options = {.program = argv[0]};
	struct fx_query *query = NULL;
	int status, fd, r;

	fx_usage_parse(argv[0], &query_parser, argc, argv, 0, &options);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	r = fx_query_open(options.sql, &query);
	fd = r < 0 ? -1 : fx_archive_open_fd(options.file);
	if (r < 0)
		status = query_say(&options, query, r);
	else if (fd < 0)
		status = fx_archive_complain(options.program, options.file, fd, NULL);
	else
		status = query_from(&options, query, fd);
	fx_archive_close_fd(fd);
	fx_query_close(query);
	fx_pager_end();
	return status;
}
