/* SPDX-License-Identifier: MIT */
/* fxtrace symbolize FILE -o OUT: names in the place of addresses, later and elsewhere. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archives/symbolize.h"
#include "client/archive.h"
#include "client/commands.h"
#include "client/usage.h"
#include "manager/archive/output.h"
#include "manager/settings/report.h"

enum { OPTION_SYSROOT = FX_USAGE_KEYS, OPTION_DEBUG_FOLDER, OPTION_DEBUGINFOD };

struct symbolize_job {
	const char *program;
	const char *in, *out_path;
	struct fx_finder_places places;
	struct fx_finder *finder;
	struct fxt_reader *reader;
	const char **sysroots, **debug_folders;
	struct fx_symbolize_result result;
};

static const struct argp_option option_table[] = {
    {"output", 'o', "OUT", 0, "Write to OUT, compressed by its extension (.gz, .zst)", 0},
    {"sysroot", OPTION_SYSROOT, "DIR", 0,
     "Look for files below DIR, as they were where they ran; may be repeated (/)", 0},
    {"debug-folder", OPTION_DEBUG_FOLDER, "DIR", 0,
     "Look for debug files in DIR/.build-id as well; may be repeated", 0},
    {"debuginfod", OPTION_DEBUGINFOD, NULL, 0,
     "Ask the servers of DEBUGINFOD_URLS, by debuginfod-find, for what is not there", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t symbolize_parse_option(int key, char *arg, struct argp_state *state)
{
	struct symbolize_job *job = state->input;

	switch (key) {
	case 'o':
		job->out_path = arg;
		return 0;
	case OPTION_SYSROOT:
		job->sysroots[job->places.sysroot_count++] = arg;
		return 0;
	case OPTION_DEBUG_FOLDER:
		job->debug_folders[job->places.debug_folder_count++] = arg;
		return 0;
	case OPTION_DEBUGINFOD:
		job->places.ask_servers = true;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(job->program, &job->in, arg);
		return 0;
	case ARGP_KEY_END:
		if (!job->in)
			job->in = FX_ARCHIVE_USUAL;
		if (!job->out_path)
			fx_usage_error(job->program, "no output given", "-o OUT");
		if (fx_archive_is_same(job->in, job->out_path))
			fx_usage_error(job->program, "would be written over itself", job->in);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp symbolize_parser = {
    .options = option_table,
    .parser = symbolize_parse_option,
    .args_doc = "[FILE]",
    .doc = "Writes the trace archive FILE (fxtrace.fxt) with names of functions where it has "
	   "module+0x123, by the "
	   "build-ids of the modules. Nothing is fetched unless --debuginfod is given.",
};

static int symbolize_say(const struct symbolize_job *job)
{
	const struct fx_symbolize_result *result = &job->result;

	if (result->fault_count > 0)
		return fx_archive_complain(job->program, job->in, 0, &result->fault);
	fprintf(stderr, "%s: %s: %" PRIu64 " functions got names, %" PRIu64 " did not\n",
		job->program, job->out_path, result->named, result->unnamed);
	return FX_EXIT_OK;
}

static int symbolize_write(void *opaque, struct fx_output *out)
{
	struct symbolize_job *job = opaque;

	return fx_symbolize(job->reader, job->finder, out, &job->result);
}

static int symbolize_make(struct symbolize_job *job)
{
	int r;

	if (!fx_archive_make(job->program, job->out_path, symbolize_write, job, &r))
		return FX_EXIT_FAILURE;
	if (r < 0)
		return fx_archive_complain(job->program, job->in, r, &job->result.fault);
	return symbolize_say(job);
}

static int symbolize_all(struct symbolize_job *job)
{
	struct fxt_fault fault = {.kind = FXT_FAULT_NONE};
	const struct fxt_record *record;
	int status, r = fx_archive_open(job->in, &job->reader);

	if (r < 0)
		return fx_archive_complain(job->program, job->in, r, NULL);
	job->finder = fx_finder_new(&job->places);
	/* The magic number: nothing is written over for what is no archive. */
	fxt_reader_set_fault_handler(job->reader, fx_archive_note_fault, &fault);
	r = job->finder ? fxt_reader_next(job->reader, &record) : -ENOMEM;
	if (r < 0 || fault.kind != FXT_FAULT_NONE)
		status = fx_archive_complain(job->program, job->in, r, &fault);
	else
		status = symbolize_make(job);
	fx_finder_free(job->finder);
	fxt_reader_close(job->reader);
	return status;
}

int fx_cmd_symbolize(int argc, char **argv)
{
	struct symbolize_job job = {.program = argv[0]};
	int status;

	job.sysroots = calloc((size_t)argc, sizeof(*job.sysroots));
	job.debug_folders = calloc((size_t)argc, sizeof(*job.debug_folders));
	if (!job.sysroots || !job.debug_folders) {
		fx_report_as(argv[0], "%s", strerror(ENOMEM));
		status = FX_EXIT_FAILURE;
	} else {
		fx_usage_parse(argv[0], &symbolize_parser, argc, argv, 0, &job);
		job.places.sysroots = job.sysroots;
		job.places.debug_folders = job.debug_folders;
		status = symbolize_all(&job);
	}
	free(job.sysroots);
	free(job.debug_folders);
	return status;
}
