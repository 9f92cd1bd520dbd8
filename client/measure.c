/* SPDX-License-Identifier: MIT */
/* fxtrace measure: numbers with limits, so that a trace is a test. */
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
#include "client/usage.h"
#include "convert/indexer.h"
#include "lists/vector.h"
#include "manager/settings/report.h"
#include "measure/collect.h"
#include "measure/print.h"
#include "measure/spec.h"

/* As grep and cmp do: a test that runs this tells a broken limit from an archive that cannot be read. */
enum { MEASURE_HOLDS = 0, MEASURE_BROKEN = 1, MEASURE_TROUBLE = 2 };

enum { SPEC_SIZE_MAX = 1 << 20 };

enum { OPTION_EXPRESSION = 'e', OPTION_JSON = FX_USAGE_KEYS, OPTION_CSV, OPTION_COLOR };

struct measure_options {
	const char *program;
	const char *files[2];
	size_t file_count;
	const char *spec_name; /* for messages: the file, or -e */
	const char *archive;
	FX_VECTOR(char) text; /* of the measurements */
	const char *color;
	enum fx_print_style style;
	struct fx_filters filters;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"expression", OPTION_EXPRESSION, "EXPR", 0,
     "A measurement, instead of the file SPEC; may be repeated", 1},
    FX_FILTER_OPTIONS(2),
    {"json", OPTION_JSON, NULL, 0, "Print JSON: an object with the measurements", 3},
    {"csv", OPTION_CSV, NULL, 0, "Print comma-separated values, with a line of names first", 3},
    {"color", OPTION_COLOR, "WHEN", 0, "always, never, or auto: on a terminal (auto)", 3},
    FX_USAGE_OPTIONS,
    {0},
};

static void measure_add_text(struct measure_options *options, const char *text, size_t length)
{
	if (fx_vector_reserve(&options->text, length + 1) < 0) {
		fx_report_as(options->program, "%s", strerror(ENOMEM));
		exit(MEASURE_TROUBLE);
	}
	memcpy(options->text.items + options->text.count, text, length);
	options->text.count += length;
}

static void measure_add_expression(struct measure_options *options, const char *text)
{
	options->spec_name = "-e";
	measure_add_text(options, text, strlen(text));
	measure_add_text(options, "\n", 1);
}

static void measure_check_options(struct measure_options *options)
{
	size_t at = 0;

	fx_filters_check(&options->filters, options->program);
	if (!options->spec_name) {
		if (options->file_count == 0)
			fx_usage_error(options->program, "neither SPEC nor -e given", NULL);
		options->spec_name = options->files[at++];
	}
	if (options->file_count > at + 1)
		fx_usage_error(options->program, "more than one FILE given",
			       options->files[at + 1]);
	options->archive = options->file_count > at ? options->files[at] : "fxtrace.fxt";
}

static error_t measure_parse_option(int key, char *arg, struct argp_state *state)
{
	struct measure_options *options = state->input;

	if (fx_filters_option(&options->filters, options->program, key, arg))
		return 0;
	switch (key) {
	case OPTION_EXPRESSION:
		measure_add_expression(options, arg);
		return 0;
	case OPTION_JSON:
		options->style = FX_PRINT_JSON;
		return 0;
	case OPTION_CSV:
		options->style = FX_PRINT_CSV;
		return 0;
	case OPTION_COLOR:
		options->color = fx_color_option(options->program, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (options->file_count == 2)
			fx_usage_error(options->program, "too many arguments", arg);
		options->files[options->file_count++] = arg;
		return 0;
	case ARGP_KEY_END:
		measure_check_options(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp measure_parser = {
    .options = option_table,
    .parser = measure_parse_option,
    .args_doc = "SPEC [FILE]\n-e EXPR [-e EXPR...] [FILE]",
    .doc =
	"Measures what the file SPEC says in the trace archive FILE (fxtrace.fxt; `-' is standard "
	"input): durations, counts, values of arguments, times between two events. The exit status "
	"says whether their limits hold.",
};

/* --- What is to be measured ------------------------------------------------------------------- */

static int measure_say_error(const struct measure_options *options, const char *file, int error)
{
	fx_report_as(options->program, "%s: %s", file, strerror(error));
	return MEASURE_TROUBLE;
}

static int measure_say_swapped(const struct measure_options *options)
{
	fx_report_as(
	    options->program,
	    "%s: this is a trace archive; what is to be measured comes before it: SPEC or -e EXPR",
	    options->spec_name);
	return MEASURE_TROUBLE;
}

/* Returns 0 or a status. */
static int measure_read_spec(struct measure_options *options)
{
	char *room = malloc(SPEC_SIZE_MAX + 1);
	FILE *file = fopen(options->spec_name, "re");
	int status = 0;
	size_t size;

	if (!room || !file) {
		status = measure_say_error(options, options->spec_name, errno);
	} else {
		size = fread(room, 1, SPEC_SIZE_MAX + 1, file);
		if (ferror(file))
			status = measure_say_error(options, options->spec_name, errno);
		else if (fx_archive_begins((const unsigned char *)room, size))
			status = measure_say_swapped(options);
		else if (size > SPEC_SIZE_MAX)
			status = measure_say_error(options, options->spec_name, EFBIG);
		else
			measure_add_text(options, room, size);
	}
	if (file)
		fclose(file);
	free(room);
	return status;
}

/* Returns 0 or a status. */
static int measure_parse_spec(const struct measure_options *options, struct fx_spec *spec)
{
	struct fx_spec_fault fault;
	int r = fx_spec_parse(spec, options->text.items ? options->text.items : "",
			      options->text.count, &fault);

	if (r == -EINVAL)
		fprintf(stderr, "%s: %s:%u:%u: %s\n", options->program, options->spec_name,
			fault.line, fault.column, fault.what);
	else if (r < 0)
		measure_say_error(options, options->spec_name, -r);
	return r < 0 ? MEASURE_TROUBLE : 0;
}

/* --- Measuring -------------------------------------------------------------------------------- */

static int measure_timeline(const struct measure_options *options, const struct fx_spec *spec,
			    struct fx_timeline *timeline)
{
	bool whole = timeline->fault.kind == FXT_FAULT_NONE, pass;
	struct fx_measure_print print = {.out = stdout,
					 .style = options->style,
					 .color = options->style == FX_PRINT_TEXT &&
						  fx_color_wanted(options->color),
					 .whole = whole};
	struct fx_measurements measurements;
	int status, r = fx_measure(timeline, spec, &options->filters.filter, &measurements);

	if (r < 0) {
		status = measure_say_error(options, options->archive, -r);
	} else {
		if (!whole)
			fx_archive_complain_of(options->program, options->archive, &timeline->fault,
					       "; measured is what is whole");
		pass = fx_measure_print(&print, spec, &measurements);
		status = !whole ? MEASURE_TROUBLE : pass ? MEASURE_HOLDS : MEASURE_BROKEN;
	}
	fx_measurements_free(&measurements);
	return status;
}

static int measure_from(const struct measure_options *options, const struct fx_spec *spec, int fd)
{
	struct fx_timeline timeline;
	int status = MEASURE_TROUBLE, r = fx_timeline_open(&timeline, fd, NULL, NULL);

	if (r == 0)
		status = measure_timeline(options, spec, &timeline);
	else
		fx_archive_complain(options->program, options->archive, r, &timeline.fault);
	fx_timeline_close(&timeline);
	return status;
}

static int measure_archive(const struct measure_options *options, const struct fx_spec *spec)
{
	int status, fd = fx_archive_open_fd(options->archive);

	if (fd < 0)
		return measure_say_error(options, options->archive, -fd);
	status = measure_from(options, spec, fd);
	fx_archive_close_fd(fd);
	return status;
}

int fx_cmd_measure(int argc, char **argv)
{
	struct measure_options options = {
	    .program = argv[0],
	    .color = "auto",
	    .filters = FX_FILTERS_INIT,
	};
	struct fx_spec spec = {0};
	int status = 0;

	fx_usage_parse(argv[0], &measure_parser, argc, argv, 0, &options);
	/* A reader that has seen enough is no failure of ours. */
	signal(SIGPIPE, SIG_DFL);
	if (options.text.count == 0)
		status = measure_read_spec(&options);
	if (status == 0)
		status = measure_parse_spec(&options, &spec);
	if (status == 0)
		status = measure_archive(&options, &spec);
	fx_spec_free(&spec);
	fx_vector_free(&options.text);
	return status;
}
