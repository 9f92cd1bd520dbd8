/* SPDX-License-Identifier: MIT */
/* fxtrace check FILE...: whether archives keep the rules. */
#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <fxtrace/reader.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/usage.h"
#include "format/check_archive.h"
#include "manager/settings/report.h"

struct options {
	const char *program;
	char **files;
	int n_files;
	bool quiet;
};

static const struct argp_option option_table[] = {
    {"quiet", 'q', NULL, 0, "Print errors only: no warnings, no summary", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t check_parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	(void)arg;
	switch (key) {
	case 'q':
		options->quiet = true;
		return 0;
	case ARGP_KEY_ARGS:
		options->files = state->argv + state->next;
		options->n_files = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = check_parse_option,
    .args_doc = "[FILE...]",
    .doc = "Validates trace archives (fxtrace.fxt; `-' is standard input), and prints each "
	   "violation with "
	   "its offset in bytes.\vErrors break the format, or make a viewer drop or misplace "
	   "events; warnings do not. The exit status is 1 if there was an error.",
};

struct output {
	const char *file;
	bool quiet;
};

static void print_violation(void *opaque, enum fx_severity severity, uint64_t offset,
			    const char *text)
{
	const struct output *output = opaque;

	if (severity == FX_SEVERITY_WARNING && output->quiet)
		return;
	printf("%s: offset 0x%" PRIx64 ": %s: %s\n", output->file, offset,
	       severity == FX_SEVERITY_ERROR ? "error" : "warning", text);
}

static const char *check_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_summary(const char *file, const struct fx_archive_counts *n,
			  const struct fx_violations *v)
{
	printf("%s: %" PRIu64 " bytes, %" PRIu64 " record%s (%" PRIu64 " unknown), %" PRIu64
	       " event%s, %" PRIu64 " provider%s, %" PRIu64 " process%s, %" PRIu64
	       " thread%s, %" PRIu64 " slice%s left open: %" PRIu64 " error%s, %" PRIu64
	       " warning%s\n",
	       file, n->bytes, n->records, check_plural(n->records), n->unknown_records, n->events,
	       check_plural(n->events), n->providers, check_plural(n->providers), n->processes,
	       n->processes == 1 ? "" : "es", n->threads, check_plural(n->threads), n->open_slices,
	       check_plural(n->open_slices), v->errors, check_plural(v->errors), v->warnings,
	       check_plural(v->warnings));
}

/* Returns the exit status. */
static int check_file(const struct options *options, const char *file)
{
	struct output output = {.file = file, .quiet = options->quiet};
	struct fx_violations violations = {.handler = print_violation, .opaque = &output};
	struct fx_archive_counts counts;
	struct fxt_reader *reader;
	int r = fx_archive_open(file, &reader);

	if (r == 0) {
		r = fx_archive_check(reader, &violations, &counts);
		fxt_reader_close(reader);
	}
	if (r < 0 && violations.errors == 0) {
		fx_report_as(options->program, "%s: %s", file, strerror(-r));
		return FX_EXIT_FAILURE;
	}
	if (r == 0 && !options->quiet)
		print_summary(file, &counts, &violations);
	return violations.errors ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

int fx_cmd_check(int argc, char **argv)
{
	static char *usual[] = {(char *)FX_ARCHIVE_USUAL};
	struct options options = {.program = argv[0], .files = usual, .n_files = 1};
	int status = FX_EXIT_OK;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &options);
	for (int i = 0; i < options.n_files; i++)
		if (check_file(&options, options.files[i]) != FX_EXIT_OK)
			status = FX_EXIT_FAILURE;
	return status;
}
