/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, as Perfetto and chrome://tracing read it.
 *
 * Slices are complete events (X), never B and E: of several events of one time the readers take
 * an E first, even before its own B. Times are microseconds with three decimals.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/formats.h"
#include "convert/json-text.h"
#include "convert/title.h"

/*
 * Readers keep times in doubles of microseconds. Beyond this many nanoseconds (52 days of uptime)
 * the last digit would be lost, so times are counted from the first event.
 */
#define MAX_EXACT_NS (UINT64_C(1) << 52)

/* Ids that are not of Linux are replaced by numbers that no Linux id has. */
#define FOREIGN_IDS UINT32_C(0x40000000)

struct json {
	struct fx_exporter exporter;
	struct fx_sink *sink;
	uint64_t base_ns; /* what is taken from each time */
	bool has_events;
};

static struct json *json_get(struct fx_exporter *exporter)
{
	return (struct json *)exporter;
}

static bool is_linux_id(uint64_t id)
{
	return id > 0 && id < FOREIGN_IDS;
}

static uint64_t process_id(const struct fx_process *process)
{
	return is_linux_id(process->pid) ? process->pid : FOREIGN_IDS + process->number;
}

static uint64_t thread_id(const struct fx_thread *thread)
{
	return is_linux_id(thread->key.tid) ? thread->key.tid : FOREIGN_IDS + thread->number;
}

/* --- Pieces of an event ----------------------------------------------------------------------- */

static void open_event(struct json *json, const char *phase)
{
	fx_json_raw(json->sink, json->has_events ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	json->has_events = true;
	fx_json_raw(json->sink, phase);
	fx_json_raw(json->sink, "\"");
}

static void close_event(struct json *json)
{
	fx_json_raw(json->sink, "}");
}

static void put_ids(struct json *json, uint64_t pid, uint64_t tid)
{
	fx_json_raw(json->sink, ",\"pid\":");
	fx_json_uint(json->sink, pid);
	fx_json_raw(json->sink, ",\"tid\":");
	fx_json_uint(json->sink, tid);
}

static void json_put_thread(struct json *json, const struct fx_thread *thread)
{
	put_ids(json, process_id(thread->process), thread_id(thread));
}

static void put_time(struct json *json, uint64_t ts)
{
	fx_json_raw(json->sink, ",\"ts\":");
	fx_json_time(json->sink, ts - json->base_ns);
}

static void put_field(struct json *json, const char *field, const char *data, size_t length)
{
	fx_json_raw(json->sink, ",\"");
	fx_json_raw(json->sink, field);
	fx_json_raw(json->sink, "\":");
	fx_json_string(json->sink, data, length);
}

static void put_names(struct json *json, const struct fxt_string *category,
		      const struct fxt_string *name)
{
	if (category->length > 0)
		put_field(json, "cat", category->data, category->length);
	put_field(json, "name", name->data, name->length);
}

/* Readers take what is beyond the signed numbers for a negative one. */
static void put_uint64(struct fx_sink *sink, uint64_t value)
{
	char text[32];

	if (value <= INT64_MAX) {
		fx_json_uint(sink, value);
		return;
	}
	snprintf(text, sizeof(text), "\"%llu\"", (unsigned long long)value);
	fx_json_raw(sink, text);
}

static void put_value(struct json *json, const struct fxt_arg *arg)
{
	struct fx_sink *sink = json->sink;
	char text[32];

	switch (arg->type) {
	case FXT_ARG_INT32:
		fx_json_int(sink, arg->int32);
		break;
	case FXT_ARG_UINT32:
		fx_json_uint(sink, arg->uint32);
		break;
	case FXT_ARG_INT64:
		fx_json_int(sink, arg->int64);
		break;
	case FXT_ARG_UINT64:
		put_uint64(sink, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		fx_json_double(sink, arg->real);
		break;
	case FXT_ARG_STRING:
		fx_json_string(sink, arg->string.data, arg->string.length);
		break;
	case FXT_ARG_POINTER:
		fx_json_hex(sink, arg->pointer);
		break;
	case FXT_ARG_KOID:
		snprintf(text, sizeof(text), "\"%llu\"", (unsigned long long)arg->koid);
		fx_json_raw(sink, text);
		break;
	case FXT_ARG_BOOL:
		fx_json_raw(sink, arg->boolean ? "true" : "false");
		break;
	case FXT_ARG_BLOB:
		snprintf(text, sizeof(text), "\"%llu bytes\"", (unsigned long long)arg->blob.size);
		fx_json_raw(sink, text);
		break;
	default:
		fx_json_raw(sink, "null");
		break;
	}
}

/* A value of a counter has to be a number; the largest are rounded. */
static void json_put_number(struct json *json, const struct fxt_arg *arg)
{
	if (arg->type == FXT_ARG_UINT64 && arg->uint64 > INT64_MAX)
		fx_json_double(json->sink, (double)arg->uint64);
	else
		put_value(json, arg);
}

/* The members of an object, each after the first behind a comma. */
struct members {
	struct json *json;
	bool has_some;
};

static void put_member_name(struct members *members, const char *data, size_t length)
{
	if (members->has_some)
		fx_json_raw(members->json->sink, ",");
	members->has_some = true;
	fx_json_string(members->json->sink, data, length);
	fx_json_raw(members->json->sink, ":");
}

static void put_members(struct members *members, const struct fxt_arg *args, uint32_t nargs)
{
	for (uint32_t i = 0; i < nargs; i++) {
		if (args[i].type > FXT_ARG_BLOB)
			continue;
		put_member_name(members, args[i].name.data, args[i].name.length);
		put_value(members->json, &args[i]);
	}
}

static void put_remark(struct members *members, const char *text)
{
	static const char name[] = "fxtrace";

	put_member_name(members, name, strlen(name));
	fx_json_string(members->json->sink, text, strlen(text));
}

static void put_payload(struct members *members, uint64_t payload)
{
	static const char name[] = "blob_bytes";

	put_member_name(members, name, strlen(name));
	fx_json_uint(members->json->sink, payload);
}

static void json_put_args(struct json *json, const struct fx_event *event)
{
	struct members members = {json, false};

	if (event->nargs + event->end_nargs == 0 && !event->payload &&
	    !(event->flags & (FX_ENTRY_UNFINISHED | FX_ENTRY_CUT)))
		return;
	fx_json_raw(json->sink, ",\"args\":{");
	put_members(&members, event->args, event->nargs);
	put_members(&members, event->end_args, event->end_nargs);
	if (event->payload > 0)
		put_payload(&members, event->payload);
	if (event->flags & FX_ENTRY_UNFINISHED)
		put_remark(&members, "did not finish");
	else if (event->flags & FX_ENTRY_CUT)
		put_remark(&members, "cut off at the end of the slice around it");
	fx_json_raw(json->sink, "}");
}

/* --- Flows ------------------------------------------------------------------------------------ */

static void put_string_field(struct json *json, const char *field, uint32_t id)
{
	const struct fx_text *text;

	if (!id)
		return;
	text = fx_texts_get(json->exporter.timeline->strings, id);
	put_field(json, field, text->data, text->length);
}

/* A flow event touches the slice that stands before it in the file, since that starts then. */
static void export_links(struct json *json, const struct fx_event *event)
{
	static const char *const phases[] = {
	    [FX_FLOW_FIRST] = "s", [FX_FLOW_MIDDLE] = "t", [FX_FLOW_LAST] = "f"};

	for (size_t i = 0; i < event->link_count; i++) {
		const struct fx_flow_link *link = &event->links[i];

		open_event(json, phases[link->role]);
		if (link->role == FX_FLOW_LAST)
			fx_json_raw(json->sink, ",\"bp\":\"e\"");
		fx_json_raw(json->sink, ",\"id\":");
		fx_json_hex(json->sink, link->chain);
		put_string_field(json, "cat", link->category);
		put_string_field(json, "name", link->name);
		json_put_thread(json, event->thread);
		put_time(json, event->ts);
		close_event(json);
	}
}

/* --- Events ----------------------------------------------------------------------------------- */

static void json_export_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct json *json = json_get(exporter);
	uint64_t end = event->end == UINT64_MAX ? exporter->timeline->last_ts : event->end;

	open_event(json, "X");
	put_names(json, event->category, event->name);
	json_put_thread(json, event->thread);
	put_time(json, event->ts);
	fx_json_raw(json->sink, ",\"dur\":");
	fx_json_time(json->sink, end - event->ts);
	json_put_args(json, event);
	close_event(json);
	export_links(json, event);
}

static void put_scope(struct json *json, enum fxt_scope scope)
{
	static const char *const scopes[] = {
	    [FXT_SCOPE_THREAD] = "t", [FXT_SCOPE_PROCESS] = "p", [FXT_SCOPE_GLOBAL] = "g"};

	fx_json_raw(json->sink, ",\"s\":\"");
	fx_json_raw(json->sink, scopes[scope]);
	fx_json_raw(json->sink, "\"");
}

/* An instant that a flow touches stays on its thread, whatever its scope. */
static void json_export_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct json *json = json_get(exporter);

	open_event(json, "i");
	put_scope(json, event->link_count > 0 ? FXT_SCOPE_THREAD : event->scope);
	put_names(json, event->category, event->name);
	json_put_thread(json, event->thread);
	put_time(json, event->ts);
	json_put_args(json, event);
	close_event(json);
	export_links(json, event);
}

static void json_export_log(struct fx_exporter *exporter, const struct fx_event *event,
			    const struct fxt_string *message)
{
	struct json *json = json_get(exporter);

	open_event(json, "i");
	put_scope(json, FXT_SCOPE_THREAD);
	fx_json_raw(json->sink, ",\"cat\":\"log\"");
	put_field(json, "name", message->data, message->length);
	json_put_thread(json, event->thread);
	put_time(json, event->ts);
	close_event(json);
}

static bool json_is_number(const struct fxt_arg *arg)
{
	return arg->type != FXT_ARG_DOUBLE || isfinite(arg->real);
}

static void json_export_counter(struct fx_exporter *exporter, const struct fx_event *event,
				uint64_t id)
{
	struct json *json = json_get(exporter);
	struct members members = {json, false};

	open_event(json, "C");
	put_names(json, event->category, event->name);
	if (id) {
		fx_json_raw(json->sink, ",\"id\":");
		fx_json_hex(json->sink, id);
	}
	json_put_thread(json, event->thread);
	put_time(json, event->ts);
	fx_json_raw(json->sink, ",\"args\":{");
	for (uint32_t i = 0; i < event->nargs; i++) {
		if (json_is_number(&event->args[i])) {
			put_member_name(&members, event->args[i].name.data,
					event->args[i].name.length);
			json_put_number(json, &event->args[i]);
		} else {
			exporter->timeline->misfits[FX_MISFIT_COUNTER_VALUE]++;
		}
	}
	fx_json_raw(json->sink, "}");
	close_event(json);
}

/* --- Async operations ------------------------------------------------------------------------- */

static void export_async(struct json *json, const char *phase, const struct fx_async_track *track,
			 uint64_t id, const struct fx_event *event)
{
	uint64_t pid = process_id(track->process);

	open_event(json, phase);
	fx_json_raw(json->sink, ",\"id2\":{\"local\":");
	fx_json_hex(json->sink, id);
	fx_json_raw(json->sink, "}");
	put_names(json, event->category, event->name);
	put_ids(json, pid, pid);
	put_time(json, event->ts);
	json_put_args(json, event);
	close_event(json);
}

static void json_export_async_begin(struct fx_exporter *exporter,
				    const struct fx_async_track *track, uint64_t id,
				    const struct fx_event *event)
{
	export_async(json_get(exporter), "b", track, id, event);
}

static void json_export_async_end(struct fx_exporter *exporter, const struct fx_async_track *track,
				  uint64_t id, const struct fx_event *event)
{
	export_async(json_get(exporter), "e", track, id, event);
}

static void json_export_async_instant(struct fx_exporter *exporter,
				      const struct fx_async_track *track, uint64_t id,
				      const struct fx_event *event)
{
	export_async(json_get(exporter), "n", track, id, event);
}

/* --- Names and notes -------------------------------------------------------------------------- */

static void put_name_event(struct json *json, const char *kind, uint64_t pid, uint64_t tid,
			   const char *name)
{
	open_event(json, "M");
	put_field(json, "name", kind, strlen(kind));
	put_ids(json, pid, tid);
	fx_json_raw(json->sink, ",\"args\":{\"name\":");
	fx_json_string(json->sink, name, strlen(name));
	fx_json_raw(json->sink, "}");
	close_event(json);
}

static void json_export_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	uint64_t pid = process_id(process);
	char text[40], title[FX_TITLE_MAX];

	snprintf(text, sizeof(text), "process %llu", (unsigned long long)process->pid);
	if (fx_title_of(process, title))
		put_name_event(json_get(exporter), "process_name", pid, pid, title);
	else if (pid != process->pid)
		put_name_event(json_get(exporter), "process_name", pid, pid, text);
}

static void json_export_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	uint64_t pid = process_id(thread->process), tid = thread_id(thread);
	char text[40];

	snprintf(text, sizeof(text), "thread %llu", (unsigned long long)thread->key.tid);
	if (thread->name)
		put_name_event(json_get(exporter), "thread_name", pid, tid, thread->name->data);
	else if (tid != thread->key.tid)
		put_name_event(json_get(exporter), "thread_name", pid, tid, text);
}

/* What concerns the whole trace is shown in its first process as well as anywhere. */
static void json_export_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	struct json *json = json_get(exporter);
	const struct fx_timeline *timeline = exporter->timeline;
	const struct fx_process *process = note->process;
	uint64_t pid;

	if (!process && timeline->processes.count > 0)
		process = timeline->processes.items[0];
	pid = process ? process_id(process) : FOREIGN_IDS;
	open_event(json, "i");
	put_scope(json, note->process ? FXT_SCOPE_PROCESS : FXT_SCOPE_GLOBAL);
	fx_json_raw(json->sink, ",\"cat\":\"fxtrace\"");
	put_field(json, "name", note->text->data, note->text->length);
	put_ids(json, pid, pid);
	put_time(json, note->ts < json->base_ns ? json->base_ns : note->ts);
	close_event(json);
}

/* --- The whole -------------------------------------------------------------------------------- */

static void json_begin(struct fx_exporter *exporter)
{
	struct json *json = json_get(exporter);
	const struct fx_timeline *timeline = exporter->timeline;

	if (timeline->last_ts >= MAX_EXACT_NS)
		json->base_ns = timeline->first_ts;
	fx_json_raw(json->sink, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"base_time_ns\":");
	fx_json_uint(json->sink, json->base_ns);
	fx_json_raw(json->sink, "},\"traceEvents\":[");
}

static void json_finish(struct fx_exporter *exporter)
{
	fx_json_raw(json_get(exporter)->sink, "\n]}\n");
}

static const struct fx_exporter_ops json_ops = {
    .begin = json_begin,
    .process = json_export_process,
    .thread = json_export_thread,
    .slice_begin = json_export_slice_begin,
    .instant = json_export_instant,
    .counter = json_export_counter,
    .log = json_export_log,
    .async_begin = json_export_async_begin,
    .async_end = json_export_async_end,
    .async_instant = json_export_async_instant,
    .note = json_export_note,
    .finish = json_finish,
};

struct fx_exporter *fx_json_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct json *json = calloc(1, sizeof(*json));

	if (!json)
		return NULL;
	json->exporter.ops = &json_ops;
	json->exporter.sink = sink;
	json->exporter.timeline = timeline;
	json->sink = sink;
	return &json->exporter;
}

void fx_json_free(struct fx_exporter *exporter)
{
	free(exporter);
}
