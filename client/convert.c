/* SPDX-License-Identifier: MIT */
/* fxtrace convert -f FORMAT IN [OUT]: an archive in another tool's format. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "client/commands.h"
#include "client/pictures.h"
#include "client/usage.h"
#include "convert/convert.h"
#include "convert/indexer.h"
#include "manager/archive/destination.h"

struct options {
	const char *program;
	const struct fx_format *format;
	const char *in;
	const char *out;
	char *made_out; /* OUT, if it was not given */
	struct fx_picture_choice picture;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"format", 'f', "FORMAT", 0,
     "perfetto (Perfetto's protobuf), json (Chrome's trace events), sqlite (a database); of calls "
     "merged by path: "
     "collapsed (for flamegraph.pl), pprof, speedscope, callgrind, svg (a flame graph)",
     0},
    FX_PICTURE_OPTIONS,
    FX_USAGE_OPTIONS,
    {0},
};

static const struct argp parser;

static void set_format(struct options *options, const char *name)
{
	options->format = fx_format_find(name);
	if (!options->format)
		fx_usage_error(options->program, "unknown format", name);
}

static void check_picture(const struct options *options)
{
	const struct fx_picture_choice *picture = &options->picture;

	if (picture->given && !options->format->is_picture)
		fx_usage_error(options->program, picture->given, "not an option of this format");
	if (picture->options.timeline && strcmp(options->format->name, "svg") != 0)
		fx_usage_error(options->program, "--timeline", "an option of -f svg alone");
}

static void check_options(struct options *options)
{
	if (!options->in)
		fx_usage_error(options->program, "no IN given", NULL);
	if (options->out && fx_compression_of(options->out) > FX_COMPRESSION_GZIP)
		fx_usage_error(options->program, options->out,
			       "its name ends as if compressed in another way than .gz");
	if (!options->format && options->out)
		options->format = fx_format_guess(options->out);
	if (!options->format && options->out)
		fx_usage_error(options->program, "no format given, and OUT's name does not tell it",
			       options->out);
	if (!options->format)
		fx_usage_error(options->program, "no format given", NULL);
	check_picture(options);
	if (!options->out && strcmp(options->in, "-") == 0)
		fx_usage_error(options->program, "no OUT given for standard input", NULL);
}

static error_t convert_parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		set_format(options, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!options->in)
			options->in = arg;
		else if (!options->out)
			options->out = arg;
		else
			fx_usage_error(options->program, "too many arguments", arg);
		return 0;
	case ARGP_KEY_END:
		check_options(options);
		return 0;
	default:
		if (fx_picture_option(&options->picture, options->program, key, arg))
			return 0;
		return fx_usage_option(options->program, &parser, key, state);
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = convert_parse_option,
    .args_doc = "IN [OUT]",
    .doc = "Converts the trace archive IN, plain or compressed, to another format. The name of OUT "
	   "tells the format, if none is given: .pftrace or .perfetto-trace, .json, "
	   ".sqlite or .db, .speedscope.json, .collapsed or .folded, .pb.gz, .callgrind, .svg; "
	   "with .gz behind it OUT "
	   "is compressed. Without OUT, it is the name of IN with another ending. `-' is "
	   "standard input or output.",
};

/* --- Names and files -------------------------------------------------------------------------- */

static size_t length_without(const char *text, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	if (length > end_length && memcmp(text + length - end_length, end, end_length) == 0)
		return length - end_length;
	return length;
}

static bool is_gzip_name(const char *path)
{
	return length_without(path, strlen(path), ".gz") != strlen(path);
}

/* The name of IN with the ending of the format. Returns 0 or -ENOMEM. */
static int make_out(struct options *options)
{
	size_t length = strlen(options->in);

	length = length_without(options->in, length, ".gz");
	length = length_without(options->in, length, ".zst");
	length = length_without(options->in, length, ".fxt");
	if (asprintf(&options->made_out, "%.*s%s", (int)length, options->in,
		     options->format->extensions[0]) < 0) {
		options->made_out = NULL;
		return -ENOMEM;
	}
	options->out = options->made_out;
	return 0;
}

static int open_in(const char *path)
{
	int fd;

	if (strcmp(path, "-") == 0)
		return STDIN_FILENO;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

static bool is_same_file(int fd, const char *path)
{
	struct stat in, out;

	return fstat(fd, &in) == 0 && S_ISREG(in.st_mode) && stat(path, &out) == 0 &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* Opens and empties OUT. */
static int open_out(const struct options *options, struct fx_destination *out, struct fx_sink **ret)
{
	bool gzip = is_gzip_name(options->out) || options->format->is_packed;
	int r = fx_destination_open(options->out, options->format->is_text && !gzip, out);
	struct stat st;

	if (r < 0)
		return r;
	fx_destination_begin(out);
	if (!out->standard && fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    ftruncate(out->fd, 0) < 0) {
		r = -errno;
		close(out->fd);
	}
	if (r == 0)
		r = fx_sink_open(out->fd, gzip, ret);
	if (r < 0)
		fx_destination_destroy(out);
	return r;
}

/* --- What is said on the way ------------------------------------------------------------------ */

struct progress {
	bool shown; /* standard error is a terminal */
	const char *what;
	int percent;
};

static void convert_show_progress(void *opaque, uint64_t done, uint64_t total)
{
	struct progress *progress = opaque;
	int percent = total > 0 ? (int)(100.0 * (double)done / (double)total) : 0;

	if (!progress->shown || percent == progress->percent)
		return;
	progress->percent = percent;
	fprintf(stderr, "\r%s: %d%%", progress->what, percent);
}

static void end_progress(struct progress *progress)
{
	if (progress->percent >= 0)
		fputs("\r\033[K", stderr);
	progress->percent = -1;
}

static int convert_report_error(const struct options *options, const char *path, int error)
{
	fprintf(stderr, "%s: %s: %s\n", options->program, path, strerror(-error));
	return FX_EXIT_FAILURE;
}

static void format_fault(const struct fx_timeline *timeline, char *text, size_t size)
{
	fxt_fault_format(&timeline->fault, text, size);
}

/* Why nothing could be read. */
static int report_unreadable(const struct options *options, const struct fx_timeline *timeline,
			     int error)
{
	char text[160];

	if (error != -EBADMSG || timeline->fault.kind == FXT_FAULT_NONE)
		return convert_report_error(options, options->in, error);
	format_fault(timeline, text, sizeof(text));
	fprintf(stderr, "%s: %s: offset 0x%" PRIx64 ": %s\n", options->program, options->in,
		timeline->fault.offset, text);
	return FX_EXIT_FAILURE;
}

static int report_damage(const struct options *options, const struct fx_timeline *timeline)
{
	char text[160];

	if (timeline->fault.kind == FXT_FAULT_NONE)
		return FX_EXIT_OK;
	format_fault(timeline, text, sizeof(text));
	fprintf(stderr,
		"%s: %s: offset 0x%" PRIx64 ": %s (%" PRIu64
		" fault%s in all); what is whole was converted\n",
		options->program, options->in, timeline->fault.offset, text, timeline->fault_count,
		timeline->fault_count == 1 ? "" : "s");
	return FX_EXIT_FAILURE;
}

static void report_misfits(const struct options *options, const struct fx_timeline *timeline)
{
	static const char *const texts[] = {
#define FX_MISFIT_TEXT_(name, text) text,
	    FX_MISFITS(FX_MISFIT_TEXT_)
#undef FX_MISFIT_TEXT_
	};

	for (int i = 0; i < FX_MISFIT_COUNT; i++) {
		if (timeline->misfits[i] > 0)
			fprintf(stderr, "%s: %s: %s: %" PRIu64 "\n", options->program, options->in,
				texts[i], timeline->misfits[i]);
	}
}

/* What was lost while recording has no place in most pictures. */
static void report_notes(const struct options *options, const struct fx_timeline *timeline)
{
	const struct fx_text *note;
	char text[512];

	if (!options->format->is_picture || timeline->notes.count == 0)
		return;
	note = timeline->notes.items[0].text;
	text[fx_escape(text, sizeof(text) - 1, note->data, note->length,
		       FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES)] = '\0';
	fprintf(stderr, "%s: %s: %s", options->program, options->in, text);
	if (timeline->notes.count > 1)
		fprintf(stderr, " (%zu such notes in all)", timeline->notes.count);
	fputc('\n', stderr);
}

/* --- Converting ------------------------------------------------------------------------------- */

static int export_timeline(const struct options *options, struct fx_timeline *timeline,
			   struct fx_sink *sink)
{
	struct progress progress = {isatty(STDERR_FILENO), "writing", -1};
	struct fx_exporter *exporter = options->format->make(timeline, sink);
	int r = -ENOMEM;

	if (exporter) {
		exporter->picture = &options->picture.options;
		r = fx_convert(exporter, convert_show_progress, &progress);
		end_progress(&progress);
		if (r == 0 && exporter->remark)
			fprintf(stderr, "%s: %s: %s\n", options->program, options->in,
				exporter->remark);
		options->format->free(exporter);
	}
	return r;
}

static int write_timeline(const struct options *options, struct fx_timeline *timeline)
{
	struct fx_destination out;
	struct fx_sink *sink;
	int closed, r = open_out(options, &out, &sink);

	if (r < 0) {
		fprintf(stderr, "%s: %s: %s\n", options->program, options->out,
			fx_destination_why(r));
		return FX_EXIT_FAILURE;
	}
	r = export_timeline(options, timeline, sink);
	closed = fx_sink_close(sink);
	/* Half a conversion is of no use to anyone. */
	if (closed < 0 || r < 0)
		fx_destination_remove(&out);
	fx_destination_destroy(&out);
	if (closed < 0 || r < 0) {
		return convert_report_error(options, closed < 0 ? options->out : options->in,
					    closed < 0 ? closed : r);
	}
	report_misfits(options, timeline);
	report_notes(options, timeline);
	return report_damage(options, timeline);
}

static int convert_from(const struct options *options, int fd)
{
	struct progress progress = {isatty(STDERR_FILENO), "reading", -1};
	struct fx_timeline timeline;
	int status, r;

	if (strcmp(options->out, "-") != 0 && is_same_file(fd, options->out)) {
		fprintf(stderr, "%s: %s and %s are the same file\n", options->program, options->in,
			options->out);
		return FX_EXIT_USAGE;
	}
	r = fx_timeline_open(&timeline, fd, convert_show_progress, &progress);
	end_progress(&progress);
	status =
	    r < 0 ? report_unreadable(options, &timeline, r) : write_timeline(options, &timeline);
	fx_timeline_close(&timeline);
	return status;
}

int fx_cmd_convert(int argc, char **argv)
{
	struct options options = {.program = argv[0], .picture.options = fx_picture_defaults};
	int status, fd;

	argp_parse(&parser, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &options);
	if (!options.out && make_out(&options) < 0)
		return convert_report_error(&options, options.in, -ENOMEM);
	fd = open_in(options.in);
	status =
	    fd < 0 ? convert_report_error(&options, options.in, fd) : convert_from(&options, fd);
	if (fd > STDERR_FILENO)
		close(fd);
	free(options.made_out);
	return status;
}
