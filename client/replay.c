/* SPDX-License-Identifier: MIT */
/* fxtrace replay [FILE]: the calls in the order of time, as indented text. */
#include "config.h"

#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/filters.h"
#include "client/pager.h"
#include "client/tail.h"
#include "client/usage.h"
#include "convert/indexer.h"
#include "manager/settings/report.h"
#include "report/replay.h"

enum {
	OPTION_DELTA = FX_USAGE_KEYS,
	OPTION_INSTANTS,
	OPTION_COUNTERS,
	OPTION_FOLLOW,
	OPTION_COLOR,
	OPTION_NO_PAGER,
};

struct replay_options {
	const char *program;
	const char *file;
	const char *color;
	bool no_pager, follow;
	struct fx_filters filters;
	struct fx_replay_order order;
	struct fxt_fault fault; /* of what is followed: the first */
	uint64_t faults;
};

static const struct argp_option option_table[] = {
    {"delta", OPTION_DELTA, NULL, 0,
     "Print the time since the line before, not since the first event", 1},
    {"instants", OPTION_INSTANTS, NULL, 0, "Print instants and log messages too", 1},
    {"counters", OPTION_COUNTERS, NULL, 0, "Print counters too", 1},
    {"follow", OPTION_FOLLOW, NULL, 0,
     "Print what ends as it ends, until the session that writes FILE is over", 1},
    FX_FILTER_OPTIONS(2),
    {"color", OPTION_COLOR, "WHEN", 0, "always, never, or auto: on a terminal (auto)", 3},
    {"no-pager", OPTION_NO_PAGER, NULL, 0, "Do not pass the text through a pager", 3},
    FX_USAGE_OPTIONS,
    {0},
};

static void replay_check_options(struct replay_options *options)
{
	const struct fx_filter *filter = &options->filters.filter;

	fx_filters_check(&options->filters, options->program);
	options->order.filter = *filter;
	if (!options->file)
		options->file = FX_ARCHIVE_USUAL;
	if (options->follow && (filter->from > 0 || filter->to < UINT64_MAX))
		fx_usage_error(options->program, "--from and --to do not go with --follow", NULL);
	if (options->follow && strcmp(options->file, "-") == 0)
		fx_usage_error(options->program, "--follow needs a file", NULL);
}

static error_t replay_parse_option(int key, char *arg, struct argp_state *state)
{
	struct replay_options *options = state->input;

	if (fx_filters_option(&options->filters, options->program, key, arg))
		return 0;
	switch (key) {
	case OPTION_DELTA:
		options->order.deltas = true;
		return 0;
	case OPTION_INSTANTS:
		options->order.instants = true;
		return 0;
	case OPTION_COUNTERS:
		options->order.counters = true;
		return 0;
	case OPTION_FOLLOW:
		options->follow = true;
		return 0;
	case OPTION_COLOR:
		options->color = fx_color_option(options->program, arg);
		return 0;
	case OPTION_NO_PAGER:
		options->no_pager = true;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(options->program, &options->file, arg);
		return 0;
	case ARGP_KEY_END:
		replay_check_options(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp replay_parser = {
    .options = option_table,
    .parser = replay_parse_option,
    .args_doc = "[FILE]",
    .doc =
	"Prints the calls of all threads in the trace archive FILE (fxtrace.fxt; `-' is standard "
	"input) in the order of time, indented by what called them.",
};

/* --- The whole of an archive ------------------------------------------------------------------ */

static int replay_timeline(struct replay_options *options, struct fx_timeline *timeline)
{
	int r, status = FX_EXIT_OK;

	if (timeline->fault.kind != FXT_FAULT_NONE)
		status = fx_archive_complain_of(options->program, options->file, &timeline->fault,
						"; the rest is printed");
	options->order.color = fx_color_wanted(options->color);
	if (!options->no_pager)
		fx_pager_start();
	r = fx_replay(timeline, &options->order);
	if (r == 0 && status == FX_EXIT_OK)
		fx_report_as(options->program, "%s: no call %s", options->file,
			     fx_filters_any(&options->filters) ? FX_FILTERS_NONE : "is in it");
	return r < 0 ? fx_archive_complain(options->program, options->file, r, NULL) : status;
}

static int replay_from(struct replay_options *options, int fd)
{
	struct fx_timeline timeline;
	int status, r = fx_timeline_open(&timeline, fd, NULL, NULL);

	if (r == 0)
		status = replay_timeline(options, &timeline);
	else
		status = fx_archive_complain(options->program, options->file, r, &timeline.fault);
	fx_timeline_close(&timeline);
	return status;
}

/* --- One that grows --------------------------------------------------------------------------- */

static void replay_note_fault(void *opaque, const struct fxt_fault *fault)
{
	struct replay_options *options = opaque;

	if (options->faults++ == 0)
		options->fault = *fault;
}

static int replay_growing(struct replay_options *options, int fd)
{
	struct fxt_reader *reader;
	int end, r;

	end = fx_tail_start(fd);
	if (end < 0)
		return fx_archive_complain(options->program, options->file, end, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	options->order.color = fx_color_wanted(options->color);
	r = fxt_reader_open_fd(end, &reader);
	if (r == 0) {
		fxt_reader_set_fault_handler(reader, replay_note_fault, options);
		r = fx_follow(reader, &options->order);
		fxt_reader_close(reader);
	}
	if (options->faults > 0)
		return fx_archive_complain_of(options->program, options->file, &options->fault, "");
	return r < 0 ? fx_archive_complain(options->program, options->file, r, NULL) : FX_EXIT_OK;
}

int fx_cmd_replay(int argc, char **argv)
{
	struct replay_options options = {
	    .program = argv[0],
	    .color = "auto",
	    .filters = FX_FILTERS_INIT,
	    .order.out = stdout,
	};
	int status, fd;

	fx_usage_parse(argv[0], &replay_parser, argc, argv, 0, &options);
	fd = fx_archive_open_fd(options.file);
	if (fd < 0)
		return fx_archive_complain(options.program, options.file, fd, NULL);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	status = options.follow ? replay_growing(&options, fd) : replay_from(&options, fd);
	fx_archive_close_fd(fd);
	fx_pager_end();
	return status;
}
