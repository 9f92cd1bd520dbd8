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
#include "client/json.h"
#include "client/usage.h"
#include "format/check-archive.h"

enum { OPTION_JSON = FX_USAGE_KEYS };

struct options {
	const char *program;
	char **files;
	int n_files;
	bool quiet;
	bool json;
};

static const struct argp_option option_table[] = {
    {"quiet", 'q', NULL, 0, "Print errors only: no warnings, no summary", 0},
    {"json", OPTION_JSON, NULL, 0, "Print a JSON array with an object for each FILE", 0},
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
	case OPTION_JSON:
		options->json = true;
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
	bool json;
	bool has_some; /* violations, in the array */
};

static const char *severity_name(enum fx_severity severity)
{
	return severity == FX_SEVERITY_ERROR ? "error" : "warning";
}

static void print_violation(void *opaque, enum fx_severity severity, uint64_t offset,
			    const char *text)
{
	struct output *output = opaque;

	if (severity == FX_SEVERITY_WARNING && output->quiet)
		return;
	if (!output->json) {
		printf("%s: offset 0x%" PRIx64 ": %s: %s\n", output->file, offset,
		       severity_name(severity), text);
		return;
	}
	printf("%s{\"offset\": %" PRIu64 ", \"severity\": \"%s\", \"text\": ",
	       output->has_some ? ", " : "", offset, severity_name(severity));
	fx_json_print(text);
	putchar('}');
	output->has_some = true;
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

static void print_json_summary(const struct fx_archive_counts *n, const struct fx_violations *v,
			       int error)
{
	printf("], \"error\": ");
	if (error < 0)
		fx_json_print(strerror(-error));
	else
		printf("null");
	printf(", \"bytes\": %" PRIu64 ", \"records\": %" PRIu64 ", \"unknown_records\": %" PRIu64
	       ", \"events\": %" PRIu64 ", \"providers\": %" PRIu64 ", \"processes\": %" PRIu64
	       ", \"threads\": %" PRIu64 ", \"open_slices\": %" PRIu64 ", \"errors\": %" PRIu64
	       ", \"warnings\": %" PRIu64 "}",
	       n->bytes, n->records, n->unknown_records, n->events, n->providers, n->processes,
	       n->threads, n->open_slices, v->errors, v->warnings);
}

/* Returns the exit status. */
static int check_file(const struct options *options, const char *file)
{
	struct output output = {.file = file, .quiet = options->quiet, .json = options->json};
	struct fx_violations violations = {.handler = print_violation, .opaque = &output};
	struct fx_archive_counts counts = {0};
	struct fxt_reader *reader;
	int r = fx_archive_open(file, &reader);

	if (options->json) {
		printf("{\"file\": ");
		fx_json_print(file);
		printf(", \"violations\": [");
	}
	if (r == 0) {
		r = fx_archive_check(reader, &violations, &counts);
		fxt_reader_close(reader);
	}
	if (options->json)
		print_json_summary(&counts, &violations, r);
	else if (r == 0 && !options->quiet)
		print_summary(file, &counts, &violations);
	if (r < 0 && violations.errors == 0)
		return fx_archive_complain(options->program, file, r, NULL);
	return violations.errors ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

int fx_cmd_check(int argc, char **argv)
{
	static char *usual[] = {(char *)FX_ARCHIVE_USUAL};
	struct options options = {.program = argv[0], .files = usual, .n_files = 1};
	int status = FX_EXIT_OK;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &options);
	if (options.json)
		putchar('[');
	for (int i = 0; i < options.n_files; i++) {
		if (options.json && i > 0)
			printf(",\n ");
		if (check_file(&options, options.files[i]) != FX_EXIT_OK)
			status = FX_EXIT_FAILURE;
	}
	if (options.json)
		puts("]");
	return status;
}
