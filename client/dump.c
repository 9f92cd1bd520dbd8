/* SPDX-License-Identifier: MIT */
/* fxtrace dump FILE: every record of an archive as one line. */
#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <fxtrace/reader.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/usage.h"
#include "format/dump.h"
#include "manager/settings/report.h"

struct options {
	const char *program;
	const char *file;
	bool strict;
	enum fx_dump_style style;
};

enum { OPTION_STRICT = FX_USAGE_KEYS, OPTION_JSON };

static const struct argp_option option_table[] = {
    {"strict", OPTION_STRICT, NULL, 0, "Stop at the first bad record", 0},
    {"json", OPTION_JSON, NULL, 0, "Print each record as a JSON object", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static error_t dump_parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_STRICT:
		options->strict = true;
		return 0;
	case OPTION_JSON:
		options->style = FX_DUMP_JSON;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(options->program, &options->file, arg);
		return 0;
	case ARGP_KEY_END:
		if (!options->file)
			options->file = FX_ARCHIVE_USUAL;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = dump_parse_option,
    .args_doc = "[FILE]",
    .doc = "Prints every record of the trace archive FILE (fxtrace.fxt; `-' is standard input) as "
	   "one line: offset "
	   "in bytes, provider, kind, fields.\vTimes are ticks of the provider's clock. A "
	   "string that stands in the string table is followed by # and its index. Bad "
	   "records are reported on standard error and passed over; the exit status is then "
	   "1.",
};

static void report_fault(void *opaque, const struct fxt_fault *fault)
{
	const struct options *options = opaque;
	char text[160];

	fxt_fault_format(fault, text, sizeof(text));
	fflush(stdout);
	fprintf(stderr, "%s: %s: offset 0x%" PRIx64 ": %s\n", options->program, options->file,
		fault->offset, text);
}

/* Returns 0 or -errno of reading; what stdout says is its own matter. */
static int dump_all(const struct options *options, struct fxt_reader *reader)
{
	const struct fxt_record *record;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0) {
		if (options->strict && fxt_reader_fault_count(reader) > 0)
			return 0;
		fx_record_dump(stdout, record, options->style);
		if (ferror(stdout))
			return 0;
	}
	return r;
}

int fx_cmd_dump(int argc, char **argv)
{
	struct options options = {.program = argv[0], .style = FX_DUMP_TEXT};
	struct fxt_reader *reader = NULL;
	uint64_t faults = 0;
	int r;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &options);
	r = fx_archive_open(options.file, &reader);
	if (r == 0) {
		fxt_reader_set_fault_handler(reader, report_fault, &options);
		r = dump_all(&options, reader);
		faults = fxt_reader_fault_count(reader);
		fxt_reader_close(reader);
	}
	if (r < 0 && faults == 0)
		fx_report_as(options.program, "%s: %s", options.file, strerror(-r));
	return r < 0 || faults ? FX_EXIT_FAILURE : FX_EXIT_OK;
}
