/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/conversion.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/page-tables.h"
#include "convert/indexer.h"
#include "manager/settings/report.h"

/* --- Names and files -------------------------------------------------------------------------- */

static size_t conversion_length_without(const char *text, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	if (length > end_length && memcmp(text + length - end_length, end, end_length) == 0)
		return length - end_length;
	return length;
}

char *fx_conversion_name(const char *in, const char *extension)
{
	size_t length = strlen(in);
	char *name;

	length = conversion_length_without(in, length, ".gz");
	length = conversion_length_without(in, length, ".zst");
	length = conversion_length_without(in, length, ".fxt");
	if (asprintf(&name, "%.*s%s", (int)length, in, extension) < 0)
		return NULL;
	return name;
}

int fx_conversion_open(const struct fx_conversion *conversion)
{
	int fd;

	if (strcmp(conversion->in, "-") == 0)
		return STDIN_FILENO;
	fd = open(conversion->in, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

/* --- What is said on the way ------------------------------------------------------------------ */

struct conversion_progress {
	bool shown; /* standard error is a terminal */
	const char *what;
	int percent;
};

static void conversion_show_progress(void *opaque, uint64_t done, uint64_t total)
{
	struct conversion_progress *progress = opaque;
	int percent = total > 0 ? (int)(100.0 * (double)done / (double)total) : 0;

	if (!progress->shown || percent == progress->percent)
		return;
	progress->percent = percent;
	fprintf(stderr, "\r%s: %d%%", progress->what, percent);
}

static void conversion_end_progress(struct conversion_progress *progress)
{
	if (progress->percent >= 0)
		fputs("\r\033[K", stderr);
	progress->percent = -1;
}

int fx_conversion_fail(const struct fx_conversion *conversion, const char *path, int error)
{
	fx_report_as(conversion->program, "%s: %s", path, strerror(-error));
	return FX_EXIT_FAILURE;
}

static void conversion_format_fault(const struct fx_timeline *timeline, char *text, size_t size)
{
	fxt_fault_format(&timeline->fault, text, size);
}

/* Why nothing could be read. */
static int conversion_report_unreadable(const struct fx_conversion *conversion,
					const struct fx_timeline *timeline, int error)
{
	char text[160];

	if (error != -EBADMSG || timeline->fault.kind == FXT_FAULT_NONE)
		return fx_conversion_fail(conversion, conversion->in, error);
	conversion_format_fault(timeline, text, sizeof(text));
	fprintf(stderr, "%s: %s: offset 0x%" PRIx64 ": %s\n", conversion->program, conversion->in,
		timeline->fault.offset, text);
	return FX_EXIT_FAILURE;
}

static int conversion_report_damage(const struct fx_conversion *conversion,
				    const struct fx_timeline *timeline)
{
	char text[160];

	if (timeline->fault.kind == FXT_FAULT_NONE)
		return FX_EXIT_OK;
	conversion_format_fault(timeline, text, sizeof(text));
	fprintf(stderr,
		"%s: %s: offset 0x%" PRIx64 ": %s (%" PRIu64
		" fault%s in all); what is whole was converted\n",
		conversion->program, conversion->in, timeline->fault.offset, text,
		timeline->fault_count, timeline->fault_count == 1 ? "" : "s");
	return FX_EXIT_FAILURE;
}

static void conversion_report_misfits(const struct fx_conversion *conversion,
				      const struct fx_timeline *timeline)
{
	static const char *const texts[] = {
#define FX_MISFIT_TEXT_(name, text) text,
	    FX_MISFITS(FX_MISFIT_TEXT_)
#undef FX_MISFIT_TEXT_
	};

	for (int i = 0; i < FX_MISFIT_COUNT; i++) {
		if (timeline->misfits[i] > 0)
			fprintf(stderr, "%s: %s: %s: %" PRIu64 "\n", conversion->program,
				conversion->in, texts[i], timeline->misfits[i]);
	}
}

/* --- Converting ------------------------------------------------------------------------------- */

int fx_conversion_read(const struct fx_conversion *conversion, int fd, struct fx_timeline *timeline)
{
	struct conversion_progress progress = {isatty(STDERR_FILENO), "reading", -1};
	int r = fx_timeline_open(timeline, fd, conversion_show_progress, &progress);

	conversion_end_progress(&progress);
	return r < 0 ? conversion_report_unreadable(conversion, timeline, r) : FX_EXIT_OK;
}

int fx_conversion_write(const struct fx_conversion *conversion, struct fx_timeline *timeline,
			struct fx_sink *sink)
{
	struct conversion_progress progress = {isatty(STDERR_FILENO), "writing", -1};
	struct fx_exporter *exporter = conversion->format->make(timeline, sink);
	int r = -ENOMEM;

	if (exporter) {
		exporter->picture = conversion->picture;
		r = exporter->takes_tables
			? fx_convert_with_tables(exporter, conversion_show_progress, &progress)
			: fx_convert(exporter, conversion_show_progress, &progress);
		conversion_end_progress(&progress);
		if (r == 0 && exporter->remark)
			fx_report_as(conversion->program, "%s: %s", conversion->in,
				     exporter->remark);
		conversion->format->free(exporter);
	}
	return r;
}

int fx_conversion_report(const struct fx_conversion *conversion, const struct fx_timeline *timeline)
{
	conversion_report_misfits(conversion, timeline);
	/* What was lost while recording has no place in most pictures. */
	if (conversion->format->is_picture)
		fx_archive_say_notes(conversion->program, conversion->in, timeline, "");
	return conversion_report_damage(conversion, timeline);
}
