/* SPDX-License-Identifier: MIT */
/* fxtrace split --every TIME | --size SIZE | --by process FILE: an archive in parts. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archives/split.h"
#include "client/archive.h"
#include "client/commands.h"
#include "client/quantity.h"
#include "client/usage.h"
#include "manager/archive/output.h"

enum { OPTION_EVERY = FX_USAGE_KEYS, OPTION_SIZE, OPTION_BY };

/* A part of records is hardly smaller than the names that it needs. */
#define SPLIT_SIZE_MIN 4096u

struct split {
	const char *program;
	const char *out_path; /* what the names of parts are made of */
	struct fx_split_order order;
	bool is_ordered;
	char *path; /* of the part at hand */
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"every", OPTION_EVERY, "TIME", 0, "Parts of this time each, such as 10s", 0},
    {"size", OPTION_SIZE, "SIZE", 0, "Parts of this size each before compression, such as 100M", 0},
    {"by", OPTION_BY, "process", 0, "A part for each process", 0},
    {"output", 'o', "OUT", 0,
     "What names of parts are made of, compressed by its extension: OUT.fxt becomes OUT.0001.fxt "
     "(FILE)",
     0},
    FX_USAGE_OPTIONS,
    {0},
};

static void split_take_order(struct split *split, enum fx_split_by by, uint64_t every)
{
	if (split->is_ordered)
		fx_usage_error(split->program, "only one of --every, --size and --by may be given",
			       NULL);
	split->is_ordered = true;
	split->order.by = by;
	split->order.every = every;
}

static uint64_t split_quantity(const struct split *split, const char *text, enum fx_quantity what)
{
	uint64_t value;

	if (!fx_quantity_parse(text, what, &value) || value == 0)
		fx_usage_error(split->program,
			       what == FX_QUANTITY_TIMES ? "not a time, such as 10s"
							 : "not a size, such as 100M",
			       text);
	if (what == FX_QUANTITY_SIZES && value < SPLIT_SIZE_MIN)
		fx_usage_error(split->program, "a part has 4K at least", text);
	return value;
}

static void split_check_options(struct split *split)
{
	if (!split->order.path)
		split->order.path = FX_ARCHIVE_USUAL;
	if (strcmp(split->order.path, "-") == 0)
		fx_usage_error(split->program, "standard input cannot be read twice", "-");
	if (!split->is_ordered)
		fx_usage_error(split->program, "one of --every, --size and --by is needed", NULL);
	if (!split->out_path)
		split->out_path = split->order.path;
}

static error_t split_parse_option(int key, char *arg, struct argp_state *state)
{
	struct split *split = state->input;

	switch (key) {
	case OPTION_EVERY:
		split_take_order(split, FX_SPLIT_BY_TIME,
				 split_quantity(split, arg, FX_QUANTITY_TIMES));
		return 0;
	case OPTION_SIZE:
		split_take_order(split, FX_SPLIT_BY_SIZE,
				 split_quantity(split, arg, FX_QUANTITY_SIZES));
		return 0;
	case OPTION_BY:
		if (strcmp(arg, "process") != 0)
			fx_usage_error(split->program, "--by takes `process' alone", arg);
		split_take_order(split, FX_SPLIT_BY_PROCESS, 1);
		return 0;
	case 'o':
		split->out_path = arg;
		return 0;
	case ARGP_KEY_ARG:
		fx_archive_argument(split->program, &split->order.path, arg);
		return 0;
	case ARGP_KEY_END:
		split_check_options(split);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp split_parser = {
    .options = option_table,
    .parser = split_parse_option,
    .args_doc = "[FILE]",
    .doc = "Writes the trace archive FILE (fxtrace.fxt) in parts, each an archive of its own: "
	   "FILE.fxt becomes "
	   "FILE.0001.fxt and so on, or FILE.PID.fxt.",
};

/* --- Parts ------------------------------------------------------------------------------------ */

/* Where the number goes: before .fxt, .fxt.gz or .fxt.zst, else at the end. */
static size_t split_stem(const char *path)
{
	static const char *const endings[] = {".fxt", ".fxt.gz", ".fxt.zst"};
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t ending = strlen(endings[i]);

		if (length > ending && strcmp(path + length - ending, endings[i]) == 0)
			return length - ending;
	}
	return length;
}

static int split_name(struct split *split, const struct fx_split_part *part)
{
	size_t stem = split_stem(split->out_path);
	const char *ending = split->out_path + stem;
	int r;

	free(split->path);
	if (split->order.by == FX_SPLIT_BY_PROCESS)
		r = asprintf(&split->path, "%.*s.%" PRIu64 "%s", (int)stem, split->out_path,
			     part->key, ending);
	else
		r = asprintf(&split->path, "%.*s.%04zu%s", (int)stem, split->out_path, part->number,
			     ending);
	if (r < 0)
		split->path = NULL;
	return r < 0 ? -ENOMEM : 0;
}

static int split_fail(const struct split *split, int error)
{
	fx_archive_complain(split->program, split->path ? split->path : split->out_path, error,
			    NULL);
	return error;
}

static int split_open_part(void *opaque, const struct fx_split_part *part, struct fx_output **ret)
{
	struct split *split = opaque;
	int r = split_name(split, part);

	if (r == 0 && fx_archive_is_same(split->path, split->order.path))
		r = -EEXIST;
	if (r == 0)
		r = fx_output_open_whole(split->path, ret);
	if (r < 0)
		return split_fail(split, r);
	r = fx_output_begin(*ret);
	if (r == 0)
		return 0;
	fx_output_close(*ret, NULL);
	*ret = NULL;
	return split_fail(split, r);
}

static int split_close_part(void *opaque, const struct fx_split_part *part, struct fx_output *out)
{
	struct split *split = opaque;
	int r, named = split_name(split, part);

	fx_output_keep(out);
	r = fx_output_close(out, NULL);
	if (r < 0 || named < 0)
		return split_fail(split, r < 0 ? r : named);
	fprintf(stderr, "%s: %s: %" PRIu64 " event%s\n", split->program, split->path, part->events,
		part->events == 1 ? "" : "s");
	return 0;
}

/* --- The whole -------------------------------------------------------------------------------- */

static int split_say(const struct split *split, const struct fx_split_result *result)
{
	if (result->fault_count > 0)
		return fx_archive_complain(split->program, split->order.path, 0, &result->fault);
	fprintf(stderr, "%s: %s: %" PRIu64 " event%s in %zu part%s", split->program,
		split->order.path, result->events, result->events == 1 ? "" : "s", result->parts,
		result->parts == 1 ? "" : "s");
	if (result->crossing > 0)
		fprintf(stderr,
			"; %" PRIu64
			" calls go on beyond the end of their part, and are whole in it",
			result->crossing);
	if (result->left_out > 0)
		fprintf(stderr, "; %" PRIu64 " records left out, too large or of unknown kinds",
			result->left_out);
	fputc('\n', stderr);
	return FX_EXIT_OK;
}

static int split_all(struct split *split)
{
	struct fx_split_result result;
	bool said;
	int r = fx_split(&split->order, &result, &said);

	if (said)
		return FX_EXIT_FAILURE;
	if (r == -EFBIG) {
		fprintf(stderr, "%s: %s: more than %u parts\n", split->program, split->order.path,
			FX_SPLIT_MAX);
		return FX_EXIT_FAILURE;
	}
	if (r < 0)
		return fx_archive_complain(split->program, split->order.path, r, &result.fault);
	return split_say(split, &result);
}

int fx_cmd_split(int argc, char **argv)
{
	struct split split = {.program = argv[0]};
	int status;

	fx_usage_parse(argv[0], &split_parser, argc, argv, 0, &split);
	split.order.open = split_open_part;
	split.order.close = split_close_part;
	split.order.opaque = &split;
	status = split_all(&split);
	free(split.path);
	return status;
}
