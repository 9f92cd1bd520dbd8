/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/load-spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/commands.h"
#include "client/usage.h"
#include "convert/convert.h"
#include "convert/indexer.h"
#include "lists/spill.h"
#include "load/collector.h"
#include "manager/settings/report.h"

/* What a span is made of: which events, of which archive. */
struct spans_wanted {
	const struct fx_load_spans *spans;
	uint64_t first; /* ts of the archive's first event */
	uint64_t last;
};

static bool spans_want(void *opaque, const struct fx_event *event)
{
	const struct spans_wanted *wanted = opaque;
	const struct fx_filter *filter = &wanted->spans->filter;
	uint64_t since = event->ts - wanted->first;
	uint64_t end = event->end == UINT64_MAX ? wanted->last : event->end;

	/* Notes of what was lost are of no thread; they always pass. */
	if (!event->thread)
		return true;
	if (wanted->spans->least > 0 && (end < event->ts || end - event->ts < wanted->spans->least))
		return false;
	if (!fx_filter_is_set(filter))
		return true;
	return since >= filter->from && since <= filter->to &&
	       fx_filter_thread(filter, event->thread) &&
	       fx_patterns_match(&filter->categories, event->category->data) &&
	       fx_patterns_match(&filter->names, event->name->data);
}

/* Writes the requests to a file without a name. Returns a descriptor of it, or -errno. */
static int spans_write(const struct fx_load_spans *spans, struct fx_timeline *timeline)
{
	struct spans_wanted wanted = {spans, timeline->first_ts, timeline->last_ts};
	const struct fx_format *format = fx_format_find("otlp");
	struct fx_exporter *exporter;
	struct fx_sink *sink = NULL;
	int fd = fx_spill_file(), copy = fd < 0 ? fd : dup(fd), r, closed;

	if (copy < 0) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? fd : -errno;
	}
	r = fx_sink_open(fd, FX_PACKING_NONE, &sink);
	exporter = r == 0 ? format->make(timeline, sink) : NULL;
	if (exporter) {
		exporter->wants = spans_want;
		exporter->wants_opaque = &wanted;
		r = fx_convert(exporter, NULL, NULL);
		format->free(exporter);
	} else if (r == 0) {
		r = -ENOMEM;
	}
	closed = fx_sink_close(sink);
	r = r < 0 ? r : closed;
	if (r == 0 && lseek(copy, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		close(copy);
	return r < 0 ? r : copy;
}

static int spans_of_timeline(const struct fx_load_spans *spans, struct fx_collector *collector,
			     const char *file, struct fx_timeline *timeline)
{
	uint64_t lines = 0, rejected = fx_collector_rejected(collector);
	int fd = spans_write(spans, timeline), r;

	if (fd < 0)
		return fx_archive_complain(spans->program, file, fd, NULL);
	r = fx_collector_send(collector, fd, &lines);
	rejected = fx_collector_rejected(collector) - rejected;
	if (r < 0) {
		fx_report_as(spans->program, "%s: the collector: %s", file,
			     *fx_collector_fault(collector) ? fx_collector_fault(collector)
							    : strerror(-r));
		return FX_EXIT_FAILURE;
	}
	if (rejected > 0)
		fx_report_as(spans->program, "%s: the collector did not take %" PRIu64 " spans",
			     file, rejected);
	if (!spans->quiet)
		fprintf(stderr, "%s: %s: %" PRIu64 " request%s\n", spans->program, file, lines,
			lines == 1 ? "" : "s");
	if (timeline->fault.kind != FXT_FAULT_NONE)
		return fx_archive_complain_of(spans->program, file, &timeline->fault,
					      "; what is whole was sent");
	return rejected > 0 ? FX_EXIT_FAILURE : FX_EXIT_OK;
}

static int spans_of_file(const struct fx_load_spans *spans, struct fx_collector *collector,
			 const char *file)
{
	struct fx_timeline timeline;
	int status, r, fd = fx_archive_open_fd(file);

	if (fd < 0)
		return fx_archive_complain(spans->program, file, fd, NULL);
	r = fx_timeline_open(&timeline, fd, NULL, NULL);
	status = r < 0 ? fx_archive_complain(spans->program, file, r, &timeline.fault)
		       : spans_of_timeline(spans, collector, file, &timeline);
	fx_timeline_close(&timeline);
	fx_archive_close_fd(fd);
	return status;
}

int fx_load_spans(const struct fx_load_spans *spans)
{
	struct fx_collector *collector;
	int status = FX_EXIT_OK, r = fx_collector_open(spans->url, &collector);

	if (r == -EINVAL)
		fx_usage_error(spans->program, fx_collector_fault(collector), spans->url);
	if (r < 0) {
		fx_report_as(spans->program, "%s",
			     collector ? fx_collector_fault(collector) : strerror(-r));
		status = FX_EXIT_FAILURE;
	}
	for (size_t i = 0; i < spans->count && r == 0; i++) {
		if (spans_of_file(spans, collector, spans->files[i]) != FX_EXIT_OK)
			status = FX_EXIT_FAILURE;
	}
	fx_collector_close(collector);
	return status;
}
