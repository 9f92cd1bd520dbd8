/* SPDX-License-Identifier: MIT */
/*
 * OpenTelemetry's protocol, as JSON: each line is a request to export traces, as its file exporter writes them and as they are
 * posted to a collector. An archive is a trace, whose id is the archive's; a slice is a span, and so is an instant, of no
 * length; whose child it is, nesting says. Arrows are links (otlp-aside.h).
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/event-args.h"
#include "convert/formats.h"
#include "convert/json-text.h"
#include "convert/otlp-aside.h"
#include "convert/otlp-attributes.h"
#include "convert/title.h"
#include "lists/vector.h"

/* A request that is longer gets no more spans. Collectors take 4 MiB at least. */
enum { OTLP_LINE_BYTES = 1 << 20 };

/* In a span's kinds, INTERNAL; in its states, ERROR. */
#define OTLP_KIND  "1"
#define OTLP_ERROR "2"

struct otlp {
	struct fx_exporter exporter;
	struct fx_sink *sink; /* of the span in work: the output, or what is put aside */
	const struct fx_process *process; /* of the request that is begun; NULL: none is */
	uint64_t line_begin;		  /* where it begins in the output */
	bool has_span;			  /* it has one already */
	char trace_id[33];
	uint64_t spans; /* ids given out */
	FX_VECTOR(uint64_t)
	open; /* spans of the thread, or the ids of those around what is not exported; 0: none */
	struct fx_otlp_aside aside;
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
	fx_otlp_some_text(otlp->sink, &has, "container.id", process->about[FX_ABOUT_CONTAINER]);
	fx_otlp_some_text(otlp->sink, &has, "container.image.name", process->about[FX_ABOUT_IMAGE]);
	fx_otlp_some_text(otlp->sink, &has, "k8s.pod.uid", process->about[FX_ABOUT_POD]);
	fx_otlp_some_text(otlp->sink, &has, "k8s.pod.name", process->about[FX_ABOUT_POD_NAME]);
	fx_otlp_some_text(otlp->sink, &has, "k8s.namespace.name",
			  process->about[FX_ABOUT_POD_NAMESPACE]);
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
	fx_otlp_id(otlp->sink, "spanId", id);
	if (span->parent)
		fx_otlp_id(otlp->sink, "parentSpanId", span->parent);
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

static void otlp_put_aside(struct otlp *otlp, const struct otlp_span *span, uint64_t id)
{
	int r = fx_otlp_aside_begin(&otlp->aside);

	if (r == 0) {
		otlp->sink = otlp->aside.sink;
		otlp_put(otlp, span, id);
		r = fx_otlp_aside_end(&otlp->aside, span->event, span->process, id);
	}
	if (r < 0)
		otlp_fail(otlp, r);
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

static void otlp_take_back(struct otlp *otlp)
{
	int r = fx_otlp_aside_seal(&otlp->aside);

	for (size_t i = 0; i < otlp->aside.held.count && r == 0; i++) {
		otlp_begin_span(otlp, otlp->aside.held.items[i].process);
		r = fx_otlp_aside_copy(&otlp->aside, i, otlp->sink);
		fx_otlp_aside_links(&otlp->aside, i, otlp->trace_id, otlp->sink);
		fx_json_raw(otlp->sink, "}");
	}
	if (r < 0)
		otlp_fail(otlp, r);
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

	if (otlp->aside.sink)
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
	return &otlp->exporter;
}

void fx_otlp_free(struct fx_exporter *exporter)
{
	struct otlp *otlp = otlp_of(exporter);

	fx_otlp_aside_release(&otlp->aside);
	fx_vector_free(&otlp->open);
	free(otlp);
}
