/* SPDX-License-Identifier: MIT */
/* fxtrace merge -o OUT FILE...: several archives, of several machines too, in one timeline. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archives/merge.h"
#include "client/archive.h"
#include "client/commands.h"
#include "client/quantity.h"
#include "client/usage.h"
#include "manager/archive/output.h"
#include "manager/settings/report.h"

enum { OPTION_OFFSET = FX_USAGE_KEYS };

struct offset {
	const char *name;
	size_t length;
	int64_t ns;
};

struct merge {
	const char *program;
	const char *out_path;
	struct fx_merge_input *inputs;
	struct fx_merge_input *kept; /* room for as many */
	size_t count;
	struct offset *offsets;
	size_t offset_count;
	struct fx_merge *merge;
	struct fx_merge_counts counts;
	size_t at;	 /* the input that an error is of */
	size_t left_out; /* inputs that could not be read, or whose clocks nothing tells */
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"output", 'o', "OUT", 0, "Write to OUT, compressed by its extension (.gz, .zst)", 0},
    {"offset", OPTION_OFFSET, "NAME=TIME", 0,
     "What to add to the times of archive NAME, with its sign, such as -1.5s; may be repeated", 0},
    FX_USAGE_OPTIONS,
    {0},
};

static void merge_take_offset(struct merge *merge, const char *arg)
{
	const char *equal = strrchr(arg, '=');
	struct offset *offset = &merge->offsets[merge->offset_count];
	const char *text = equal ? equal + 1 : "";
	uint64_t ns = 0;

	if (!equal || equal == arg)
		fx_usage_error(merge->program, "no NAME=TIME", arg);
	if (!fx_quantity_parse(text + (*text == '-' || *text == '+'), FX_QUANTITY_TIMES, &ns) ||
	    ns > INT64_MAX / 2)
		fx_usage_error(merge->program, "not a time with its sign, such as -1.5s", arg);
	*offset = (struct offset){.name = arg,
				  .length = (size_t)(equal - arg),
				  .ns = *text == '-' ? -(int64_t)ns : (int64_t)ns};
	merge->offset_count++;
}

/* A name is that of the whole path, or of what is behind its last slash. */
static bool merge_is_named(const struct offset *offset, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;

	return (strlen(path) == offset->length &&
		memcmp(path, offset->name, offset->length) == 0) ||
	       (strlen(file) == offset->length && memcmp(file, offset->name, offset->length) == 0);
}

static void merge_give_offsets(const struct merge *merge)
{
	for (size_t i = 0; i < merge->offset_count; i++) {
		const struct offset *offset = &merge->offsets[i];
		size_t found = 0;

		for (size_t j = 0; j < merge->count; j++) {
			if (!merge_is_named(offset, merge->inputs[j].path))
				continue;
			found++;
			merge->inputs[j].has_offset = true;
			merge->inputs[j].offset = offset->ns;
		}
		if (found != 1)
			fx_usage_error(merge->program,
				       found ? "--offset names several FILEs"
					     : "--offset names no FILE",
				       offset->name);
	}
}

/* A file by what it is; those that are not there are told when they are to be read. */
struct merge_file {
	dev_t device;
	ino_t inode;
	const char *path;
};

static int merge_compare_files(const void *left, const void *right)
{
	const struct merge_file *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static void merge_check_twice(const struct merge *merge)
{
	struct merge_file *files = calloc(merge->count, sizeof(*files));
	size_t count = 0;
	struct stat st;

	for (size_t i = 0; files && i < merge->count; i++) {
		if (stat(merge->inputs[i].path, &st) == 0)
			files[count++] =
			    (struct merge_file){st.st_dev, st.st_ino, merge->inputs[i].path};
	}
	if (count > 1)
		qsort(files, count, sizeof(*files), merge_compare_files);
	for (size_t i = 1; i < count; i++) {
		if (merge_compare_files(&files[i - 1], &files[i]) == 0)
			fx_usage_error(merge->program, "given twice", files[i].path);
	}
	free(files);
}

static void merge_check_options(struct merge *merge)
{
	if (merge->count == 0)
		fx_usage_error(merge->program, "no FILE given", NULL);
	if (!merge->out_path)
		fx_usage_error(merge->program, "no output given", "-o OUT");
	for (size_t i = 0; i < merge->count; i++) {
		const char *path = merge->inputs[i].path;

		if (strcmp(path, "-") == 0)
			fx_usage_error(merge->program, "standard input cannot be read twice", path);
		if (fx_archive_is_same(path, merge->out_path))
			fx_usage_error(merge->program, "would be written over itself", path);
	}
	merge_check_twice(merge);
	merge_give_offsets(merge);
}

static error_t merge_parse_option(int key, char *arg, struct argp_state *state)
{
	struct merge *merge = state->input;

	switch (key) {
	case 'o':
		merge->out_path = arg;
		return 0;
	case OPTION_OFFSET:
		merge_take_offset(merge, arg);
		return 0;
	case ARGP_KEY_ARG:
		merge->inputs[merge->count++].path = arg;
		return 0;
	case ARGP_KEY_END:
		merge_check_options(merge);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp merge_parser = {
    .options = option_table,
    .parser = merge_parse_option,
    .args_doc = "FILE...",
    .doc = "Writes the trace archives, which may be of several machines, into one timeline: that "
	   "of the first. Clocks are aligned by --offset, by what the archives say of them, or by "
	   "the messages between them.",
};

/* --- What is said ----------------------------------------------------------------------------- */

static int merge_complain(const struct merge *merge, size_t at, int error)
{
	const char *path = merge->inputs[at].path;
	const struct fxt_fault *fault = NULL;

	if (error == -ENODATA) {
		fprintf(stderr,
			"%s: %s: nothing tells how its clock lies to that of %s; see --offset\n",
			merge->program, path, merge->inputs[0].path);
		return FX_EXIT_FAILURE;
	}
	if (merge->merge && at < merge->count)
		fault = &fx_merge_result(merge->merge, at).aligned->facts.fault;
	return fx_archive_complain(merge->program, path, error, fault);
}

/* A time with its sign, and the drift if there is one. */
static void merge_say_clock(const struct fx_merge_result *result)
{
	double drift = (fx_clockmap_slope(&result->aligned->map) - 1) * 1e6;
	uint64_t ns = result->moved < 0 ? 0 - (uint64_t)result->moved : (uint64_t)result->moved;

	fprintf(stderr, "%c%" PRIu64 ".%09" PRIu64 " s", result->moved < 0 ? '-' : '+',
		ns / 1000000000, ns % 1000000000);
	if (drift > 0.05)
		fprintf(stderr, ", stretched by %.1f ppm", drift);
}

/* How far off it may be, if that is known. */
static void merge_say_error(const struct fx_aligned *aligned)
{
	if (aligned->error < 0 || aligned->how == FX_ALIGN_MACHINE)
		return;
	if (isinf(aligned->error))
		fputs(", nothing tells how exactly", stderr);
	else
		fprintf(stderr, ", wrong by %.3f us at most", aligned->error / 1000);
}

static void merge_say_input(const struct merge *merge, size_t at)
{
	struct fx_merge_result result = fx_merge_result(merge->merge, at);

	fprintf(stderr, "%s: %s: clock ", merge->program, merge->inputs[at].path);
	merge_say_clock(&result);
	fprintf(stderr, " (%s)", fx_alignment_text(result.aligned->how));
	merge_say_error(result.aligned);
	if (result.shift > 0)
		fprintf(stderr, "; its processes and threads are numbered from %" PRIu64,
			result.shift);
	if (result.aligned->is_contradicted)
		fputs("; no even drift has all of its messages in order", stderr);
	if (result.aligned->facts.messages.beyond > 0)
		fprintf(stderr, "; %" PRIu64 " messages beyond the first %u do not count",
			result.aligned->facts.messages.beyond, FX_MESSAGES_MAX);
	fputc('\n', stderr);
}

static int merge_say(const struct merge *merge, const struct fx_merge_counts *counts)
{
	int status = FX_EXIT_OK;

	for (size_t i = 0; i < merge->count && status == FX_EXIT_OK; i++) {
		if (fx_merge_result(merge->merge, i).aligned->facts.fault_count > 0)
			status = merge_complain(merge, i, 0);
	}
	if (status != FX_EXIT_OK)
		return status;
	for (size_t i = 1; i < merge->count; i++)
		merge_say_input(merge, i);
	fprintf(stderr,
		"%s: %s: %" PRIu64 " event%s of %zu archive%s, %" PRIu64 " arrow%s between them",
		merge->program, merge->out_path, counts->events, counts->events == 1 ? "" : "s",
		merge->count, merge->count == 1 ? "" : "s", counts->arrows,
		counts->arrows == 1 ? "" : "s");
	if (merge->left_out > 0)
		fprintf(stderr, "; %zu archive%s left out", merge->left_out,
			merge->left_out == 1 ? "" : "s");
	if (counts->backwards > 0)
		fprintf(stderr, "; %" PRIu64 " arrows that would run backwards are left out",
			counts->backwards);
	if (counts->left_out > 0)
		fprintf(stderr, "; %" PRIu64 " records left out, too large or of unknown kinds",
			counts->left_out);
	fputc('\n', stderr);
	return merge->left_out > 0 ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

/* --- What is left out ------------------------------------------------------------------------- */

/* Whether it says something of an input, and nothing of this machine. */
static bool merge_is_of_input(int error)
{
	return error != -ENOMEM && error != -EIO && error != -ENOSPC && error != -EMFILE &&
	       error != -ENFILE;
}

static size_t merge_count_untold(const struct merge *merge)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->count; i++)
		count += fx_merge_result(merge->merge, i).aligned->how == FX_ALIGN_NONE;
	return count;
}

/* Goes on without the input that the error is of, all of them if it is their clocks. False: none would be left. */
static bool merge_leave_out(struct merge *merge, int error)
{
	const bool is_clock = error == -ENODATA;
	size_t out = is_clock ? merge_count_untold(merge) : 1, kept = 0;

	if (!merge_is_of_input(error) || merge->count < out + 1)
		return false;
	for (size_t i = 0; i < merge->count; i++) {
		if (is_clock ? fx_merge_result(merge->merge, i).aligned->how == FX_ALIGN_NONE
			     : i == merge->at)
			merge_complain(merge, i, error);
		else
			merge->kept[kept++] = merge->inputs[i];
	}
	fx_merge_free(merge->merge);
	merge->merge = NULL;
	memcpy(merge->inputs, merge->kept, kept * sizeof(*merge->kept));
	merge->count = kept;
	merge->left_out += out;
	return true;
}

/* --- The whole -------------------------------------------------------------------------------- */

static int merge_write(void *opaque, struct fx_output *out)
{
	struct merge *merge = opaque;

	return fx_merge_write(merge->merge, out, &merge->counts, &merge->at);
}

static int merge_make(struct merge *merge)
{
	int r;

	do {
		r = fx_merge_open(merge->inputs, merge->count, &merge->merge, &merge->at);
	} while (r < 0 && merge_leave_out(merge, r));
	if (r < 0)
		return merge_complain(merge, merge->at, r);
	if (!fx_archive_make(merge->program, merge->out_path, merge_write, merge, &r))
		return FX_EXIT_FAILURE;
	return r < 0 ? merge_complain(merge, merge->at, r) : merge_say(merge, &merge->counts);
}

int fx_cmd_merge(int argc, char **argv)
{
	struct merge merge = {.program = argv[0]};
	int status;

	merge.inputs = calloc((size_t)argc, sizeof(*merge.inputs));
	merge.kept = calloc((size_t)argc, sizeof(*merge.kept));
	merge.offsets = calloc((size_t)argc, sizeof(*merge.offsets));
	if (!merge.inputs || !merge.kept || !merge.offsets) {
		fx_report_as(argv[0], "%s", strerror(ENOMEM));
		status = FX_EXIT_FAILURE;
	} else {
		fx_usage_parse(argv[0], &merge_parser, argc, argv, 0, &merge);
		status = merge_make(&merge);
	}
	fx_merge_free(merge.merge);
	free(merge.inputs);
	free(merge.kept);
	free(merge.offsets);
	return status;
}
