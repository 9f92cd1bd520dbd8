/* SPDX-License-Identifier: MIT */
/* fxtrace convert -f FORMAT IN [OUT]: an archive in another tool's format. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/conversion.h"
#include "client/pictures.h"
#include "client/stock.h"
#include "client/usage.h"
#include "manager/archive/destination.h"
#include "manager/settings/report.h"

struct options {
	struct fx_conversion conversion;
	const char *out;
	char *made_out; /* OUT, if it was not given */
	struct fx_picture_choice picture;
};

/* --- Options ---------------------------------------------------------------------------------- */

static const struct argp_option option_table[] = {
    {"format", 'f', "FORMAT", 0,
     "perfetto (Perfetto's protobuf, unless OUT's name tells another), json (Chrome's trace "
     "events), otlp (OpenTelemetry's protocol), sqlite (a database), fxt (a "
     "stock archive), html (a page with all of it); of calls merged by path: "
     "collapsed (for flamegraph.pl), pprof, speedscope, callgrind, svg (a flame graph)",
     0},
    FX_PICTURE_OPTIONS,
    FX_USAGE_OPTIONS,
    {0},
};

static void set_format(struct options *options, const char *name)
{
	options->conversion.format = fx_format_find(name);
	if (!options->conversion.format)
		fx_usage_error(options->conversion.program, "unknown format", name);
}

static void check_picture(const struct options *options)
{
	const struct fx_picture_choice *picture = &options->picture;

	if (picture->given && !options->conversion.format->is_picture)
		fx_usage_error(options->conversion.program, picture->given,
			       "not an option of this format");
	if (picture->options.timeline && strcmp(options->conversion.format->name, "svg") != 0)
		fx_usage_error(options->conversion.program, "--timeline",
			       "an option of -f svg alone");
}

static void check_options(struct options *options)
{
	if (!options->conversion.in)
		options->conversion.in = FX_ARCHIVE_USUAL;
	if (options->out && fx_compression_of(options->out) == FX_COMPRESSION_UNKNOWN)
		fx_usage_error(options->conversion.program, options->out, FX_COMPRESSION_WRONG);
	if (!options->conversion.format && options->out && strcmp(options->out, "-") != 0)
		options->conversion.format = fx_format_guess(options->out);
	else if (!options->conversion.format)
		options->conversion.format = fx_format_find("perfetto");
	if (!options->conversion.format)
		fx_usage_error(options->conversion.program,
			       "no format given, and OUT's name does not tell it", options->out);
	check_picture(options);
	if (!options->out && strcmp(options->conversion.in, "-") == 0)
		fx_usage_error(options->conversion.program, "no OUT given for standard input",
			       NULL);
}

static error_t convert_parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		set_format(options, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!options->conversion.in)
			options->conversion.in = arg;
		else if (!options->out)
			options->out = arg;
		else
			fx_usage_error(options->conversion.program, "too many arguments", arg);
		return 0;
	case ARGP_KEY_END:
		check_options(options);
		return 0;
	default:
		if (fx_picture_option(&options->picture, options->conversion.program, key, arg))
			return 0;
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp parser = {
    .options = option_table,
    .parser = convert_parse_option,
    .args_doc = "[IN [OUT]]",
    .doc =
	"Converts the trace archive IN (fxtrace.fxt), plain or compressed, to another format. "
	"The name of OUT "
	"tells the format, if none is given: .pftrace or .perfetto-trace, .json, "
	".otlp.json, .sqlite or .db, .stock.fxt, .speedscope.json, .collapsed or .folded, .pb.gz, "
	".callgrind, .svg, .html; "
	"with .gz or .zst behind it OUT "
	"is compressed. Without OUT, it is the name of IN with another ending, for Perfetto "
	"unless another format is given. `-' is "
	"standard input or output.",
};

/* --- Names and files -------------------------------------------------------------------------- */

/* A format that is packed anyway is so once. */
static enum fx_packing convert_packing(const struct options *options)
{
	switch (fx_compression_of(options->out)) {
	case FX_COMPRESSION_ZSTD:
		return FX_PACKING_ZSTD;
	case FX_COMPRESSION_GZIP:
		return FX_PACKING_GZIP;
	default:
		return options->conversion.format->is_packed ? FX_PACKING_GZIP : FX_PACKING_NONE;
	}
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
	enum fx_packing packing = convert_packing(options);
	bool text = options->conversion.format->is_text && packing == FX_PACKING_NONE;
	int r = fx_destination_open_whole(options->out, text, out);
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
		r = fx_sink_open(out->fd, packing, ret);
	if (r < 0)
		fx_destination_destroy(out);
	return r;
}

/* --- Converting ------------------------------------------------------------------------------- */

static int write_timeline(const struct options *options, struct fx_timeline *timeline)
{
	const struct fx_conversion *conversion = &options->conversion;
	struct fx_destination out;
	struct fx_sink *sink;
	int closed, r = open_out(options, &out, &sink);

	if (r < 0) {
		fx_report_as(conversion->program, "%s: %s", options->out, fx_destination_why(r));
		return FX_EXIT_FAILURE;
	}
	r = fx_conversion_write(conversion, timeline, sink);
	closed = fx_sink_close(sink);
	if (closed == 0 && r == 0)
		closed = fx_destination_keep(&out);
	/* Half a conversion is of no use to anyone. */
	else
		fx_destination_remove(&out);
	fx_destination_destroy(&out);
	if (closed < 0)
		return fx_conversion_fail(conversion, options->out, closed);
	if (r < 0)
		return fx_conversion_fail(conversion, conversion->in, r);
	return fx_conversion_report(conversion, timeline);
}

static int convert_from(const struct options *options, int fd)
{
	struct fx_timeline timeline;
	int status;

	if (strcmp(options->out, "-") != 0 && is_same_file(fd, options->out)) {
		fprintf(stderr, "%s: %s and %s are the same file\n", options->conversion.program,
			options->conversion.in, options->out);
		return FX_EXIT_USAGE;
	}
	if (!options->conversion.format->make)
		return fx_stock_convert(options->conversion.program, fd, options->conversion.in,
					options->out);
	status = fx_conversion_read(&options->conversion, fd, &timeline);
	if (status == FX_EXIT_OK)
		status = write_timeline(options, &timeline);
	fx_timeline_close(&timeline);
	return status;
}

int fx_cmd_convert(int argc, char **argv)
{
	struct options options = {
	    .conversion.program = argv[0],
	    .picture.options = fx_picture_defaults,
	};
	struct fx_conversion *conversion = &options.conversion;
	int status, fd;

	fx_usage_parse(argv[0], &parser, argc, argv, 0, &options);
	conversion->picture = &options.picture.options;
	if (!options.out) {
		options.made_out =
		    fx_conversion_name(conversion->in, conversion->format->extensions[0]);
		options.out = options.made_out;
	}
	if (!options.out)
		return fx_conversion_fail(conversion, conversion->in, -ENOMEM);
	fd = fx_conversion_open(conversion);
	status = fd < 0 ? fx_conversion_fail(conversion, conversion->in, fd)
			: convert_from(&options, fd);
	if (fd > STDERR_FILENO)
		close(fd);
	free(options.made_out);
	return status;
}
