/* SPDX-License-Identifier: MIT */
/*
 * OpenTelemetry's protocol, as JSON: each line is a request to export traces, as its file exporter writes them and as they are
 * posted to a collector. An archive is a trace, whose id is the archive's; a slice is a span, and so is an instant, of no
 * length; whose child it is, nesting says.
 *
 * Arrows are links, from a span to the one that the arrow comes from. That may be exported later: so spans that have some are put
 * aside, in a file without a name, until the ids of all are known.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/event-args.h"
#include "convert/flow-ends.h"
#include "convert/formats.h"
#include "convert/json-text.h"
#include "convert/otlp-attributes.h"
#include "convert/title.h"
#include "lists/spill.h"
#include "lists/vector.h"

/* A request that is longer gets no more spans. Collectors take 4 MiB at least. */
enum { OTLP_LINE_BYTES = 1 << 20, OTLP_COPY_BYTES = 1 << 16 };

/* In a span's kinds, INTERNAL; in its states, ERROR. */
#define OTLP_KIND  "1"
#define OTLP_ERROR "2"

struct otlp_link {
	struct fx_flow_end
	    end; /* its slice is the span; otlp_pair_links() makes it the one that an arrow comes from */
	uint64_t to;
};

/* A span that was put aside. */
struct otlp_aside {
	uint64_t span, offset, size;
	const struct fx_process *process;
};

struct otlp {
	struct fx_exporter exporter;
	struct fx_sink *sink; /* of the span in work: the output, or what is put aside */
	struct fx_sink *aside;
	int aside_fd;			  /* the same file, to be read; -1: none */
	const struct fx_process *process; /* of the request that is begun; NULL: none is */
	uint64_t line_begin;		  /* where it begins in the output */
	bool has_span;			  /* it has one already */
	char trace_id[33];
	uint64_t spans; /* ids given out */
	FX_VECTOR(uint64_t)
	open; /* spans of the thread, or the ids of those around what is not exported; 0: none */
	FX_VECTOR(struct otlp_link) links;
	FX_VECTOR(struct otlp_aside) held;
};

static struct otlp *otlp_of(struct fx_exporter *exporter)
{
	return (struct otlp *)exporter;
}

static void otlp_fail(struct otlp *otlp, int error)
{
	if (otlp->exporter.error == 0)
		otlp->exporter.error = error;
}

/* --- Requests --------------------------------------------------------------------------------- */

static void otlp_resource(struct otlp *otlp, const struct fx_process *process)
{
	const struct fx_host_record *host = &otlp->exporter.timeline->host;
	char title[FX_TITLE_MAX];
	bool has = false;

	fx_json_raw(otlp->sink, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
	if (fx_title_of(process, title))
		fx_otlp_text(otlp->sink, &has, "service.name", title, strlen(title));
	fx_otlp_number(otlp->sink, &has, "process.pid", process->pid);
	fx_otlp_some_text(otlp->sink, &has, "process.executable.name", process->name);
	fx_otlp_some_text(otlp->sink, &has, "process.executable.path",
			  process->about[FX_ABOUT_EXECUTABLE]);
	fx_otlp_some_text(otlp->sink, &has, "process.command_line",
			  process->about[FX_ABOUT_COMMAND]);
	fx_otlp_some_text(otlp->sink, &has, "process.working_directory",
			  process->about[FX_ABOUT_DIRECTORY]);
	if (process->parent)
		fx_otlp_number(otlp->sink, &has, "process.parent_pid", process->parent);
	if (host->host[0])
		fx_otlp_text(otlp->sink, &has, "host.name", host->host, strlen(host->host));
	if (host->machine[0])
		fx_otlp_text(otlp->sink, &has, "host.arch", host->machine, strlen(host->machine));
	if (host->system[0])
		fx_otlp_text(otlp->sink, &has, "os.type", "linux", 5);
	if (host->job[0])
		fx_otlp_text(otlp->sink, &has, "fxtrace.job", host->job, strlen(host->job));
	if (host->rank[0])
		fx_otlp_text(otlp->sink, &has, "fxtrace.rank", host->rank, strlen(host->rank));
	fx_json_raw(otlp->sink, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"fxtrace\",\"version\":"
				"\"" PACKAGE_VERSION "\"},\"spans\":[");
}

static void otlp_end_line(struct otlp *otlp)
{
	if (otlp->process)
		fx_json_raw(otlp->exporter.sink, "]}]}]}\n");
	otlp->process = NULL;
}

/* The next span is one of this process: makes the output ready for it. */
static void otlp_begin_span(struct otlp *otlp, const struct fx_process *process)
{
	otlp->sink = otlp->exporter.sink;
	if (otlp->process != process ||
	    fx_sink_size(otlp->sink) - otlp->line_begin > OTLP_LINE_BYTES) {
		otlp_end_line(otlp);
		otlp->process = process;
		otlp->line_begin = fx_sink_size(otlp->sink);
		otlp->has_span = false;
		otlp_resource(otlp, process);
	}
	fx_json_raw(otlp->sink, otlp->has_span ? "," : "");
	otlp->has_span = true;
}

/* --- Spans ------------------------------------------------------------------------------------ */

static void otlp_id(struct otlp *otlp, const char *field, uint64_t id)
{
	char text[40];

	snprintf(text, sizeof(text), ",\"%s\":\"%016" PRIx64 "\"", field, id);
	fx_json_raw(otlp->sink, text);
}

static void otlp_time(struct otlp *otlp, const char *field, uint64_t ts)
{
	char text[64];

	snprintf(text, sizeof(text), ",\"%s\":\"%" PRIu64 "\"", field,
		 ts + (uint64_t)otlp->exporter.timeline->unix_offset);
	fx_json_raw(otlp->sink, text);
}

struct otlp_span {
	const struct fx_event *event;
	const struct fx_process *process;
	const struct fx_thread *thread; /* NULL: it is of none */
	const struct fxt_string *name;
	const char *form;
	uint64_t parent; /* 0: none */
	uint64_t end;	 /* UINT64_MAX: it did not finish */
};

static void otlp_attributes(struct otlp *otlp, const struct otlp_span *span)
{
	const struct fx_event *event = span->event;
	bool has = false;

	fx_json_raw(otlp->sink, ",\"attributes\":[");
	if (span->thread) {
		fx_otlp_number(otlp->sink, &has, "thread.id", span->thread->key.tid);
		fx_otlp_some_text(otlp->sink, &has, "thread.name", span->thread->name);
	}
	if (fxt_string_equals(event->category, "function"))
		fx_otlp_text(otlp->sink, &has, "code.function.name", span->name->data,
			     span->name->length);
	fx_otlp_text(otlp->sink, &has, "fxtrace.category", event->category->data,
		     event->category->length);
	if (span->form)
		fx_otlp_text(otlp->sink, &has, "fxtrace.form", span->form, strlen(span->form));
	if (span->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED))
		fx_otlp_text(otlp->sink, &has, "fxtrace.end", "did not finish", 14);
	fx_otlp_args(otlp->sink, &has, event->args, event->nargs);
	fx_otlp_args(otlp->sink, &has, event->end_args, event->end_nargs);
	fx_json_raw(otlp->sink, "]");
}

/* All but its links and the bracket behind them. */
static void otlp_put(struct otlp *otlp, const struct otlp_span *span, uint64_t id)
{
	const struct fxt_arg *error = fx_event_arg(span->event, "errno");

	fx_json_raw(otlp->sink, "{\"traceId\":\"");
	fx_json_raw(otlp->sink, otlp->trace_id);
	fx_json_raw(otlp->sink, "\"");
	otlp_id(otlp, "spanId", id);
	if (span->parent)
		otlp_id(otlp, "parentSpanId", span->parent);
	fx_json_raw(otlp->sink, ",\"name\":");
	fx_json_string(otlp->sink, span->name->data, span->name->length);
	fx_json_raw(otlp->sink, ",\"kind\":" OTLP_KIND);
	otlp_time(otlp, "startTimeUnixNano", span->event->ts);
	otlp_time(otlp, "endTimeUnixNano",
		  span->end == UINT64_MAX ? otlp->exporter.timeline->last_ts : span->end);
	otlp_attributes(otlp, span);
	if (error && error->type == FXT_ARG_STRING) {
		fx_json_raw(otlp->sink, ",\"status\":{\"code\":" OTLP_ERROR ",\"message\":");
		fx_json_string(otlp->sink, error->string.data, error->string.length);
		fx_json_raw(otlp->sink, "}");
	}
}

/* Makes the file of what is put aside, if there is none yet. */
static bool otlp_open_aside(struct otlp *otlp)
{
	int fd, r;

	if (otlp->aside)
		return true;
	fd = fx_spill_file();
	otlp->aside_fd = fd < 0 ? -1 : dup(fd);
	r = fd < 0		 ? fd
	    : otlp->aside_fd < 0 ? -errno
				 : fx_sink_open(fd, FX_PACKING_NONE, &otlp->aside);
	if (r < 0) {
		if (otlp->aside_fd < 0 && fd >= 0)
			close(fd);
		otlp_fail(otlp, r);
		return false;
	}
	return true;
}

static void otlp_put_aside(struct otlp *otlp, const struct otlp_span *span, uint64_t id)
{
	const struct fx_event *event = span->event;
	uint64_t offset;

	if (!otlp_open_aside(otlp))
		return;
	if (fx_vector_reserve(&otlp->held, 1) < 0 ||
	    fx_vector_reserve(&otlp->links, event->link_count) < 0) {
		otlp_fail(otlp, -ENOMEM);
		return;
	}
	otlp->sink = otlp->aside;
	offset = fx_sink_size(otlp->sink);
	otlp_put(otlp, span, id);
	otlp->held.items[otlp->held.count++] =
	    (struct otlp_aside){id, offset, fx_sink_size(otlp->sink) - offset, span->process};
	for (size_t i = 0; i < event->link_count; i++)
		otlp->links.items[otlp->links.count++] = (struct otlp_link){
		    {event->links[i].chain, event->ts, event->links[i].role, id}, 0};
}

/* Returns the id; 0: it is not wanted. */
static uint64_t otlp_span(struct otlp *otlp, const struct otlp_span *span)
{
	const struct fx_exporter *exporter = &otlp->exporter;
	uint64_t id;

	if (exporter->wants && !exporter->wants(exporter->wants_opaque, span->event))
		return 0;
	id = ++otlp->spans;
	if (span->event->link_count > 0) {
		otlp_put_aside(otlp, span, id);
		return id;
	}
	otlp_begin_span(otlp, span->process);
	otlp_put(otlp, span, id);
	fx_json_raw(otlp->sink, "}");
	return id;
}

/* --- Links ------------------------------------------------------------------------------------ */

static int otlp_compare_ends(const void *left, const void *right)
{
	const struct otlp_link *a = left, *b = right;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->end.slice > b->end.slice) - (a->end.slice < b->end.slice);
}

/* Makes arrows of ends, in the order of the spans that they lead to. */
static void otlp_pair_links(struct otlp *otlp)
{
	struct otlp_link *items = otlp->links.items;
	size_t count = 0;

	if (otlp->links.count == 0)
		return;
	qsort(items, otlp->links.count, sizeof(*items), fx_flow_ends_compare);
	for (size_t i = 1; i < otlp->links.count; i++) {
		if (items[i].end.chain != items[i - 1].end.chain)
			continue;
		items[count] = items[i - 1];
		items[count++].to = items[i].end.slice;
	}
	otlp->links.count = count;
	qsort(items, count, sizeof(*items), otlp_compare_ends);
}

static void otlp_copy_aside(struct otlp *otlp, const struct otlp_aside *aside)
{
	for (uint64_t done = 0; done < aside->size;) {
		uint64_t rest = aside->size - done;
		size_t piece = rest < OTLP_COPY_BYTES ? rest : OTLP_COPY_BYTES;
		unsigned char *to = fx_sink_reserve(otlp->sink, piece);
		ssize_t n =
		    to ? pread(otlp->aside_fd, to, piece, (off_t)(aside->offset + done)) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			otlp_fail(otlp, !to ? -ENOMEM : n < 0 ? -errno : -EIO);
			return;
		}
		fx_sink_commit(otlp->sink, (size_t)n);
		done += (uint64_t)n;
	}
}

/* The links from the place *at on that lead to this span. */
static void otlp_put_links(struct otlp *otlp, uint64_t span, size_t *at)
{
	bool any = false;

	for (; *at < otlp->links.count && otlp->links.items[*at].to == span; ++*at) {
		fx_json_raw(otlp->sink, any ? ",{\"traceId\":\"" : ",\"links\":[{\"traceId\":\"");
		fx_json_raw(otlp->sink, otlp->trace_id);
		fx_json_raw(otlp->sink, "\"");
		otlp_id(otlp, "spanId", otlp->links.items[*at].end.slice);
		fx_json_raw(otlp->sink, "}");
		any = true;
	}
	fx_json_raw(otlp->sink, any ? "]}" : "}");
}

static void otlp_take_back(struct otlp *otlp)
{
	size_t at = 0;
	int r = fx_sink_close(otlp->aside);

	otlp->aside = NULL;
	if (r < 0) {
		otlp_fail(otlp, r);
		return;
	}
	otlp_pair_links(otlp);
	for (size_t i = 0; i < otlp->held.count && otlp->exporter.error == 0; i++) {
		otlp_begin_span(otlp, otlp->held.items[i].process);
		otlp_copy_aside(otlp, &otlp->held.items[i]);
		otlp_put_links(otlp, otlp->held.items[i].span, &at);
	}
}

/* --- The calls of an exporter ----------------------------------------------------------------- */

static void otlp_begin(struct fx_exporter *exporter)
{
	struct otlp *otlp = otlp_of(exporter);
	const struct fx_timeline *timeline = exporter->timeline;
	const uint64_t *uuid = timeline->host.uuid;
	bool known = timeline->has_host && (uuid[0] || uuid[1]);

	/* One without an id gets one of its times. */
	snprintf(otlp->trace_id, sizeof(otlp->trace_id), "%016" PRIx64 "%016" PRIx64,
		 known ? uuid[0] : timeline->first_ts, known ? uuid[1] : timeline->last_ts + 1);
	if (!timeline->has_unix_offset)
		exporter->remark = "it says no date, so times are counted from the machine's boot";
}

static void otlp_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	(void)exporter, (void)process;
}

static void otlp_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)exporter, (void)thread;
}

static void otlp_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	(void)thread;
	otlp_of(exporter)->open.count = 0;
}

static uint64_t otlp_innermost(const struct otlp *otlp)
{
	return otlp->open.count > 0 ? otlp->open.items[otlp->open.count - 1] : 0;
}

static struct otlp_span otlp_of_event(const struct otlp *otlp, const struct fx_event *event,
				      const char *form)
{
	return (struct otlp_span){.event = event,
				  .process = event->thread->process,
				  .thread = event->thread,
				  .name = event->name,
				  .form = form,
				  .parent = otlp_innermost(otlp),
				  .end = event->ts};
}

static void otlp_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct otlp *otlp = otlp_of(exporter);
	struct otlp_span span = otlp_of_event(otlp, event, NULL);
	uint64_t id;

	span.end = event->end;
	id = otlp_span(otlp, &span);
	if (fx_vector_reserve(&otlp->open, 1) < 0)
		otlp_fail(otlp, -ENOMEM);
	else
		otlp->open.items[otlp->open.count++] = id ? id : span.parent;
}

static void otlp_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	struct otlp *otlp = otlp_of(exporter);

	(void)thread, (void)ts;
	if (otlp->open.count > 0)
		otlp->open.count--;
}

static void otlp_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct otlp_span span = otlp_of_event(otlp_of(exporter), event, "instant");

	otlp_span(otlp_of(exporter), &span);
}

static void otlp_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	struct otlp_span span = otlp_of_event(otlp_of(exporter), event, "log");

	span.name = message;
	otlp_span(otlp_of(exporter), &span);
}

/* Numbers over time are metrics, which are requests of another kind. */
static void otlp_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	(void)event, (void)id;
	exporter->timeline->misfits[FX_MISFIT_OTHER_FORMAT]++;
}

static void otlp_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	const struct fx_timeline *timeline = exporter->timeline;
	const struct fx_process *process = note->process;
	struct fxt_string category = {.data = "fxtrace", .length = 7};
	struct fxt_string name = {.data = note->text->data, .length = note->text->length};
	struct fx_event event = {.ts = note->ts, .category = &category, .name = &name};

	/* Those of the whole trace are told with its first process. */
	if (!process && timeline->processes.count > 0)
		process = timeline->processes.items[0];
	if (process)
		otlp_span(otlp_of(exporter), &(struct otlp_span){.event = &event,
								 .process = process,
								 .name = &name,
								 .form = "note",
								 .end = note->ts});
}

static void otlp_finish(struct fx_exporter *exporter)
{
	struct otlp *otlp = otlp_of(exporter);

	if (otlp->aside)
		otlp_take_back(otlp);
	otlp_end_line(otlp);
}

static const struct fx_exporter_ops otlp_ops = {
    .begin = otlp_begin,
    .process = otlp_process,
    .thread = otlp_thread,
    .enter_thread = otlp_enter_thread,
    .slice_begin = otlp_slice_begin,
    .slice_end = otlp_slice_end,
    .instant = otlp_instant,
    .counter = otlp_counter,
    .log = otlp_log,
    .note = otlp_note,
    .finish = otlp_finish,
};

struct fx_exporter *fx_otlp_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));

	if (!otlp)
		return NULL;
	otlp->exporter = (struct fx_exporter){.ops = &otlp_ops, .timeline = timeline, .sink = sink};
	otlp->aside_fd = -1;
	return &otlp->exporter;
}

void fx_otlp_free(struct fx_exporter *exporter)
{
	struct otlp *otlp = otlp_of(exporter);

	fx_sink_close(otlp->aside);
	if (otlp->aside_fd >= 0)
		close(otlp->aside_fd);
	fx_vector_free(&otlp->open);
	fx_vector_free(&otlp->links);
	fx_vector_free(&otlp->held);
	free(otlp);
}
