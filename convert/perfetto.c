/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "convert/perfetto.h"
#include "convert/perfetto_packet.h"
#include "convert/perfetto_wire.h"
#include "convert/utf8.h"

/* A track's uuid is its number among those of its kind, with the kind in the low bits. */
enum track_kind {
	TRACK_PROCESS = 1,
	TRACK_THREAD,
	TRACK_ASYNC,
	TRACK_COUNTER,
	TRACK_NOTES,
	TRACK_GLOBAL,
};

enum {
	TRACK_KIND_BITS = 3,
	MAX_ARGS = 2 * FXT_MAX_ARGS + 2, /* of begin and end; our own remarks */
	MAX_BUNDLE = 256,		 /* scheduling events in a packet */
	TASK_COMM_LENGTH = 16,
};

/* The tracks of no process: fixed numbers among those of their kind. */
#define NO_PROCESS UINT32_MAX

struct counter_key {
	uint64_t counter_id;
	uint32_t process;
	uint32_t name;
	uint32_t arg;
	uint32_t padding;
};

struct counter {
	struct counter_key key;
	uint64_t uuid;
	UT_hash_handle hh;
};

struct perfetto {
	struct fx_exporter exporter;
	struct fx_packets packets;
	struct counter *counters;
	uint64_t counter_count;
	uint64_t async_track_count; /* those that were described: 1 to this */
	bool in_asyncs;		    /* the sequence of async operations is the current one */
	bool global_described;
	FX_VECTOR(bool) notes_described; /* by number of the process */
	bool trace_notes_described;

	/* The event in work. */
	Fx__Pf__DebugAnnotation annotations[MAX_ARGS];
	Fx__Pf__DebugAnnotation *annotation_list[MAX_ARGS];
	size_t annotation_count;
	char blob_texts[MAX_ARGS][40];
	FX_VECTOR(char) text; /* cleaned texts of arguments, one behind the other */
	FX_VECTOR(uint64_t) flow_ids;
	uint64_t category_iid;

	/* The scheduling events that wait for their packet, all of one processor. */
	uint32_t bundle_cpu;
	size_t bundle_count;
	Fx__Pf__FtraceEvent bundle[MAX_BUNDLE];
	Fx__Pf__FtraceEvent *bundle_list[MAX_BUNDLE];
	Fx__Pf__SchedSwitch switches[MAX_BUNDLE];
	Fx__Pf__SchedWaking wakings[MAX_BUNDLE];
	char comms[MAX_BUNDLE][2][TASK_COMM_LENGTH];
	bool system_described;
};

static uint64_t make_uuid(enum track_kind kind, uint64_t number)
{
	return number << TRACK_KIND_BITS | kind;
}

static struct perfetto *get(struct fx_exporter *exporter)
{
	return (struct perfetto *)exporter;
}

static char *text_of(const struct perfetto *perfetto, uint32_t id)
{
	return id ? (char *)fx_texts_get(perfetto->exporter.timeline->strings, id)->data : "";
}

/* --- Tracks ----------------------------------------------------------------------------------- */

static void write_track(struct perfetto *perfetto, Fx__Pf__TrackDescriptor *track)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;

	packet.track_descriptor = track;
	fx_packets_write(&perfetto->packets, &packet);
}

/* A track with a name, below @parent (0: none). */
static void write_named_track(struct perfetto *perfetto, uint64_t uuid, uint64_t parent,
			      const char *name)
{
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;

	track.has_uuid = 1;
	track.uuid = uuid;
	track.has_parent_uuid = parent != 0;
	track.parent_uuid = parent;
	track.name = (char *)name;
	write_track(perfetto, &track);
}

/* Linux ids are 31 bits and not 0; others (virtual threads, foreign traces) get a plain track. */
static bool is_linux_id(uint64_t id)
{
	return id > 0 && id <= INT32_MAX;
}

static void export_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;
	Fx__Pf__ProcessDescriptor descriptor = FX__PF__PROCESS_DESCRIPTOR__INIT;
	uint64_t uuid = make_uuid(TRACK_PROCESS, process->number);
	char name[40];

	if (!is_linux_id(process->pid)) {
		snprintf(name, sizeof(name), "process %" PRIu64, process->pid);
		write_named_track(perfetto, uuid, 0, process->name ? process->name->data : name);
		return;
	}
	track.has_uuid = 1;
	track.uuid = uuid;
	descriptor.has_pid = 1;
	descriptor.pid = (int32_t)process->pid;
	descriptor.process_name = process->name ? (char *)process->name->data : NULL;
	track.process = &descriptor;
	write_track(perfetto, &track);
}

static void export_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;
	Fx__Pf__ThreadDescriptor descriptor = FX__PF__THREAD_DESCRIPTOR__INIT;
	uint64_t uuid = make_uuid(TRACK_THREAD, thread->number);
	uint64_t parent = make_uuid(TRACK_PROCESS, thread->process->number);
	char name[40];

	if (!is_linux_id(thread->key.tid) || !is_linux_id(thread->key.pid)) {
		snprintf(name, sizeof(name), "thread %" PRIu64, thread->key.tid);
		write_named_track(perfetto, uuid, parent, thread->name ? thread->name->data : name);
		return;
	}
	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = uuid;
	track.parent_uuid = parent;
	descriptor.has_pid = descriptor.has_tid = 1;
	descriptor.pid = (int32_t)thread->key.pid;
	descriptor.tid = (int32_t)thread->key.tid;
	descriptor.thread_name = thread->name ? (char *)thread->name->data : NULL;
	track.thread = &descriptor;
	write_track(perfetto, &track);
}

static void enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	fx_packets_begin_sequence(&get(exporter)->packets, make_uuid(TRACK_THREAD, thread->number),
				  thread->entries.items[0].ts);
}

/* --- Arguments -------------------------------------------------------------------------------- */

static Fx__Pf__DebugAnnotation *add_annotation(struct perfetto *perfetto, uint32_t name)
{
	size_t at = perfetto->annotation_count;
	Fx__Pf__DebugAnnotation *annotation = &perfetto->annotations[at];

	fx__pf__debug_annotation__init(annotation);
	annotation->has_name_iid = 1;
	annotation->name_iid = fx_packets_intern(&perfetto->packets, FX_INTERN_ARG_NAME, name);
	perfetto->annotation_list[perfetto->annotation_count++] = annotation;
	return annotation;
}

/* Our own remark on an event. */
static Fx__Pf__DebugAnnotation *add_remark(struct perfetto *perfetto, const char *name)
{
	uint32_t id = fx_texts_add(perfetto->exporter.timeline->strings, name, strlen(name));

	if (!id) {
		perfetto->exporter.error = -ENOMEM;
		return NULL;
	}
	return add_annotation(perfetto, id);
}

static void add_text_remark(struct perfetto *perfetto, const char *text)
{
	Fx__Pf__DebugAnnotation *annotation = add_remark(perfetto, "fxtrace");

	if (annotation)
		annotation->string_value = (char *)text;
}

/* How many bytes the texts of these arguments can take. */
static size_t text_size(const struct fxt_arg *args, uint32_t nargs)
{
	size_t size = 0;

	for (uint32_t i = 0; i < nargs; i++) {
		if (args[i].type == FXT_ARG_STRING && !args[i].string.serial)
			size += FX_UTF8_CLEAN_MAX(args[i].string.length) + 1;
	}
	return size;
}

/* The string, terminated; there is room for it (reserve_text()). */
static char *add_text(struct perfetto *perfetto, const struct fxt_string *string)
{
	char *text = perfetto->text.items + perfetto->text.count;
	size_t length = fx_utf8_clean(string->data, string->length, text);

	text[length] = '\0';
	perfetto->text.count += length + 1;
	return text;
}

static void set_string(struct perfetto *perfetto, Fx__Pf__DebugAnnotation *annotation,
		       const struct fxt_string *string)
{
	if (!string->serial) {
		annotation->string_value = add_text(perfetto, string);
		return;
	}
	annotation->has_string_value_iid = 1;
	annotation->string_value_iid =
	    fx_packets_intern(&perfetto->packets, FX_INTERN_ARG_VALUE, string->serial);
}

static void set_uint(Fx__Pf__DebugAnnotation *annotation, uint64_t value)
{
	annotation->has_uint_value = 1;
	annotation->uint_value = value;
}

static void set_int(Fx__Pf__DebugAnnotation *annotation, int64_t value)
{
	annotation->has_int_value = 1;
	annotation->int_value = value;
}

static void set_blob(struct perfetto *perfetto, Fx__Pf__DebugAnnotation *annotation, uint64_t size)
{
	char *text = perfetto->blob_texts[perfetto->annotation_count - 1];

	snprintf(text, sizeof(perfetto->blob_texts[0]), "%" PRIu64 " bytes", size);
	annotation->string_value = text;
}

static void set_value(struct perfetto *perfetto, Fx__Pf__DebugAnnotation *annotation,
		      const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		annotation->string_value = "null";
		break;
	case FXT_ARG_INT32:
		set_int(annotation, arg->int32);
		break;
	case FXT_ARG_UINT32:
		set_uint(annotation, arg->uint32);
		break;
	case FXT_ARG_INT64:
		set_int(annotation, arg->int64);
		break;
	case FXT_ARG_UINT64:
		set_uint(annotation, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		annotation->has_double_value = 1;
		annotation->double_value = arg->real;
		break;
	case FXT_ARG_STRING:
		set_string(perfetto, annotation, &arg->string);
		break;
	case FXT_ARG_POINTER:
		annotation->has_pointer_value = 1;
		annotation->pointer_value = arg->pointer;
		break;
	case FXT_ARG_KOID:
		set_uint(annotation, arg->koid);
		break;
	case FXT_ARG_BOOL:
		annotation->has_bool_value = 1;
		annotation->bool_value = arg->boolean;
		break;
	case FXT_ARG_BLOB:
		set_blob(perfetto, annotation, arg->blob.size);
		break;
	}
}

static void add_args(struct perfetto *perfetto, const struct fxt_arg *args, uint32_t nargs)
{
	for (uint32_t i = 0; i < nargs; i++) {
		if (args[i].type <= FXT_ARG_BLOB && args[i].name.serial)
			set_value(perfetto, add_annotation(perfetto, args[i].name.serial),
				  &args[i]);
	}
}

static void add_remarks(struct perfetto *perfetto, const struct fx_event *event)
{
	Fx__Pf__DebugAnnotation *annotation;

	if (event->payload > 0) {
		annotation = add_remark(perfetto, "blob_bytes");
		if (annotation)
			set_uint(annotation, event->payload);
	}
	if (event->flags & FX_ENTRY_UNFINISHED)
		add_text_remark(perfetto, "did not finish");
	else if (event->flags & FX_ENTRY_CUT)
		add_text_remark(perfetto, "cut off at the end of the slice around it");
}

static void set_args(struct perfetto *perfetto, Fx__Pf__TrackEvent *message,
		     const struct fx_event *event)
{
	size_t size =
	    text_size(event->args, event->nargs) + text_size(event->end_args, event->end_nargs);

	perfetto->annotation_count = 0;
	perfetto->text.count = 0;
	if (fx_vector_reserve(&perfetto->text, size) < 0) {
		perfetto->exporter.error = -ENOMEM;
		return;
	}
	add_args(perfetto, event->args, event->nargs);
	add_args(perfetto, event->end_args, event->end_nargs);
	add_remarks(perfetto, event);
	message->debug_annotations = perfetto->annotation_list;
	message->n_debug_annotations = perfetto->annotation_count;
}

/* --- Events ----------------------------------------------------------------------------------- */

static void set_names(struct perfetto *perfetto, Fx__Pf__TrackEvent *message,
		      const struct fx_event *event)
{
	if (event->name->serial) {
		message->has_name_iid = 1;
		message->name_iid =
		    fx_packets_intern(&perfetto->packets, FX_INTERN_NAME, event->name->serial);
	}
	if (event->category->serial) {
		perfetto->category_iid = fx_packets_intern(&perfetto->packets, FX_INTERN_CATEGORY,
							   event->category->serial);
		message->category_iids = &perfetto->category_iid;
		message->n_category_iids = 1;
	}
}

static void set_flows(struct perfetto *perfetto, Fx__Pf__TrackEvent *message,
		      const struct fx_event *event)
{
	perfetto->flow_ids.count = 0;
	if (event->link_count == 0)
		return;
	if (fx_vector_reserve(&perfetto->flow_ids, event->link_count) < 0) {
		perfetto->exporter.error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < event->link_count; i++)
		perfetto->flow_ids.items[perfetto->flow_ids.count++] = event->links[i].chain;
	message->flow_ids = perfetto->flow_ids.items;
	message->n_flow_ids = perfetto->flow_ids.count;
}

static void set_type(Fx__Pf__TrackEvent *message, Fx__Pf__TrackEvent__Type type)
{
	fx__pf__track_event__init(message);
	message->has_type = 1;
	message->type = type;
}

static void set_track(Fx__Pf__TrackEvent *message, uint64_t track)
{
	message->has_track_uuid = 1;
	message->track_uuid = track;
}

/* Everything of an event but its place. */
static void set_event(struct perfetto *perfetto, Fx__Pf__TrackEvent *message,
		      Fx__Pf__TrackEvent__Type type, const struct fx_event *event)
{
	set_type(message, type);
	set_names(perfetto, message, event);
	set_args(perfetto, message, event);
	set_flows(perfetto, message, event);
}

static void export_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackEvent message;

	set_event(perfetto, &message, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, event);
	fx_packets_write_event(&perfetto->packets, event->ts, &message);
}

static void export_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			     uint64_t ts)
{
	Fx__Pf__TrackEvent message;

	(void)thread;
	set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	fx_packets_write_event(&get(exporter)->packets, ts, &message);
}

static uint64_t global_track(struct perfetto *perfetto)
{
	uint64_t uuid = make_uuid(TRACK_GLOBAL, 0);

	if (!perfetto->global_described)
		write_named_track(perfetto, uuid, 0, "Instants of the whole trace");
	perfetto->global_described = true;
	return uuid;
}

/* An instant that a flow touches stays on its thread, whatever its scope. */
static void set_scope(struct perfetto *perfetto, Fx__Pf__TrackEvent *message,
		      const struct fx_event *event)
{
	if (event->scope == FXT_SCOPE_THREAD || event->link_count > 0)
		return;
	if (event->scope == FXT_SCOPE_PROCESS)
		set_track(message, make_uuid(TRACK_PROCESS, event->thread->process->number));
	else
		set_track(message, global_track(perfetto));
}

static void export_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackEvent message;

	set_event(perfetto, &message, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT, event);
	set_scope(perfetto, &message, event);
	fx_packets_write_event(&perfetto->packets, event->ts, &message);
}

static void export_log(struct fx_exporter *exporter, const struct fx_event *event,
		       const struct fxt_string *text)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__LogMessage log = FX__PF__LOG_MESSAGE__INIT;
	Fx__Pf__TrackEvent message;
	uint32_t id = fx_texts_add(exporter->timeline->strings, text->data, text->length);

	if (!id) {
		exporter->error = -ENOMEM;
		return;
	}
	set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT);
	message.has_name_iid = 1;
	message.name_iid = fx_packets_intern(&perfetto->packets, FX_INTERN_NAME, id);
	if (is_linux_id(event->thread->key.tid) && is_linux_id(event->thread->key.pid)) {
		log.has_body_iid = 1;
		log.body_iid = fx_packets_intern(&perfetto->packets, FX_INTERN_LOG, id);
		message.log_message = &log;
	}
	fx_packets_write_event(&perfetto->packets, event->ts, &message);
}

/* --- Counters --------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static Fx__Pf__CounterDescriptor__Unit guess_unit(const char *name, const char *arg)
{
	if (ends_with(arg, "bytes") || ends_with(name, "bytes"))
		return FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
	if (ends_with(arg, "_ns"))
		return FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_TIME_NS;
	return FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_UNSPECIFIED;
}

static void describe_counter(struct perfetto *perfetto, const struct counter *counter)
{
	Fx__Pf__TrackDescriptor track = FX__PF__TRACK_DESCRIPTOR__INIT;
	Fx__Pf__CounterDescriptor descriptor = FX__PF__COUNTER_DESCRIPTOR__INIT;
	const char *name = text_of(perfetto, counter->key.name);
	const char *arg = text_of(perfetto, counter->key.arg);
	size_t size = strlen(name) + strlen(arg) + 32;
	char *text = malloc(size);

	if (!text) {
		perfetto->exporter.error = -ENOMEM;
		return;
	}
	if (counter->key.counter_id)
		snprintf(text, size, "%s %s #%" PRIu64, name, arg, counter->key.counter_id);
	else
		snprintf(text, size, "%s %s", name, arg);
	descriptor.unit = guess_unit(name, arg);
	descriptor.has_unit = descriptor.unit != FX__PF__COUNTER_DESCRIPTOR__UNIT__UNIT_UNSPECIFIED;
	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = counter->uuid;
	track.parent_uuid = make_uuid(TRACK_PROCESS, counter->key.process);
	track.name = text;
	track.counter = &descriptor;
	write_track(perfetto, &track);
	free(text);
}

/* The track of one value of a counter; 0: no memory. */
static uint64_t counter_track(struct perfetto *perfetto, const struct fx_event *event, uint64_t id,
			      const struct fxt_arg *arg)
{
	struct counter_key key = {
	    .counter_id = id,
	    .process = event->thread->process->number,
	    .name = event->name->serial,
	    .arg = arg->name.serial,
	};
	struct counter *counter;

	HASH_FIND(hh, perfetto->counters, &key, sizeof(key), counter);
	if (counter)
		return counter->uuid;
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		return 0;
	counter->key = key;
	counter->uuid = make_uuid(TRACK_COUNTER, ++perfetto->counter_count);
	HASH_ADD(hh, perfetto->counters, key, sizeof(counter->key), counter);
	describe_counter(perfetto, counter);
	return counter->uuid;
}

static void set_counter_int(Fx__Pf__TrackEvent *message, int64_t value)
{
	message->has_counter_value = 1;
	message->counter_value = value;
}

static void set_counter_double(Fx__Pf__TrackEvent *message, double value)
{
	message->has_double_counter_value = 1;
	message->double_counter_value = value;
}

static void set_counter_value(Fx__Pf__TrackEvent *message, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		set_counter_int(message, arg->int32);
		break;
	case FXT_ARG_UINT32:
		set_counter_int(message, arg->uint32);
		break;
	case FXT_ARG_INT64:
		set_counter_int(message, arg->int64);
		break;
	case FXT_ARG_UINT64:
		if (arg->uint64 <= INT64_MAX)
			set_counter_int(message, (int64_t)arg->uint64);
		else
			set_counter_double(message, (double)arg->uint64);
		break;
	default:
		set_counter_double(message, arg->real);
		break;
	}
}

static void export_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackEvent message;

	for (uint32_t i = 0; i < event->nargs; i++) {
		uint64_t track = counter_track(perfetto, event, id, &event->args[i]);

		if (!track) {
			exporter->error = -ENOMEM;
			return;
		}
		set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_COUNTER);
		set_track(&message, track);
		set_counter_value(&message, &event->args[i]);
		fx_packets_write_event(&perfetto->packets, event->ts, &message);
	}
}

/* --- Async operations ------------------------------------------------------------------------- */

static uint64_t async_track(struct perfetto *perfetto, const struct fx_async_track *track)
{
	uint64_t uuid = make_uuid(TRACK_ASYNC, track->number);

	if (track->number <= perfetto->async_track_count)
		return uuid;
	perfetto->async_track_count = track->number;
	write_named_track(perfetto, uuid, make_uuid(TRACK_PROCESS, track->process->number),
			  text_of(perfetto, track->name));
	return uuid;
}

static void write_async(struct perfetto *perfetto, const struct fx_async_track *track, uint64_t ts,
			Fx__Pf__TrackEvent *message)
{
	uint64_t uuid = async_track(perfetto, track);

	set_track(message, uuid);
	fx_packets_write_event(&perfetto->packets, ts, message);
}

/* All async events are one sequence. */
static void enter_asyncs(struct perfetto *perfetto, const struct fx_async_track *track, uint64_t ts)
{
	if (!perfetto->in_asyncs)
		fx_packets_begin_sequence(&perfetto->packets, async_track(perfetto, track), ts);
	perfetto->in_asyncs = true;
}

static void export_async_begin(struct fx_exporter *exporter, const struct fx_async_track *track,
			       uint64_t id, const struct fx_event *event)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackEvent message;

	(void)id;
	enter_asyncs(perfetto, track, event->ts);
	set_event(perfetto, &message, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, event);
	write_async(perfetto, track, event->ts, &message);
}

static void export_async_end(struct fx_exporter *exporter, const struct fx_async_track *track,
			     uint64_t id, const struct fx_event *event)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackEvent message;

	(void)id;
	enter_asyncs(perfetto, track, event->ts);
	set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	set_args(perfetto, &message, event);
	write_async(perfetto, track, event->ts, &message);
}

static void export_async_instant(struct fx_exporter *exporter, const struct fx_async_track *track,
				 uint64_t id, const struct fx_event *event)
{
	struct perfetto *perfetto = get(exporter);
	Fx__Pf__TrackEvent message;

	(void)id;
	enter_asyncs(perfetto, track, event->ts);
	set_event(perfetto, &message, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT, event);
	write_async(perfetto, track, event->ts, &message);
}

/* --- Notes ------------------------------------------------------------------------------------ */

static bool *notes_mark(struct perfetto *perfetto, const struct fx_process *process)
{
	size_t wanted;

	if (!process)
		return &perfetto->trace_notes_described;
	wanted = (size_t)process->number + 1;
	if (perfetto->notes_described.count < wanted) {
		size_t missing = wanted - perfetto->notes_described.count;

		if (fx_vector_reserve(&perfetto->notes_described, missing) < 0)
			return NULL;
		memset(perfetto->notes_described.items + perfetto->notes_described.count, 0,
		       missing * sizeof(bool));
		perfetto->notes_described.count = wanted;
	}
	return &perfetto->notes_described.items[process->number];
}

/* Notes may be of any time: each is a sequence of its own. */
static void export_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	struct perfetto *perfetto = get(exporter);
	uint64_t uuid = make_uuid(TRACK_NOTES, note->process ? note->process->number : NO_PROCESS);
	uint64_t parent = note->process ? make_uuid(TRACK_PROCESS, note->process->number) : 0;
	bool *described = notes_mark(perfetto, note->process);
	Fx__Pf__TrackEvent message;

	if (!described) {
		exporter->error = -ENOMEM;
		return;
	}
	if (!*described)
		write_named_track(perfetto, uuid, parent, "fxtrace");
	*described = true;
	fx_packets_begin_sequence(&perfetto->packets, uuid, note->ts);
	set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT);
	message.name = (char *)note->text->data;
	fx_packets_write_event(&perfetto->packets, note->ts, &message);
}

/* --- Scheduling ------------------------------------------------------------------------------- */

/* Tells the reader to take the states of threads for those of Linux. */
static void describe_system(struct perfetto *perfetto)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__SystemInfo system = FX__PF__SYSTEM_INFO__INIT;
	Fx__Pf__Utsname utsname = FX__PF__UTSNAME__INIT;

	if (perfetto->system_described)
		return;
	perfetto->system_described = true;
	utsname.sysname = "Linux";
	utsname.release = "6.1.0";
	system.utsname = &utsname;
	packet.system_info = &system;
	fx_packets_write(&perfetto->packets, &packet);
}

static void flush_bundle(struct perfetto *perfetto)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__FtraceEventBundle bundle = FX__PF__FTRACE_EVENT_BUNDLE__INIT;

	if (perfetto->bundle_count == 0)
		return;
	bundle.has_cpu = 1;
	bundle.cpu = perfetto->bundle_cpu;
	bundle.event = perfetto->bundle_list;
	bundle.n_event = perfetto->bundle_count;
	packet.ftrace_events = &bundle;
	fx_packets_write(&perfetto->packets, &packet);
	perfetto->bundle_count = 0;
}

/* A place for an event in the bundle of its processor. */
static size_t add_to_bundle(struct perfetto *perfetto, uint32_t cpu, uint64_t ts, uint64_t tid)
{
	size_t at;

	describe_system(perfetto);
	if (perfetto->bundle_count == MAX_BUNDLE || perfetto->bundle_cpu != cpu)
		flush_bundle(perfetto);
	perfetto->bundle_cpu = cpu;
	at = perfetto->bundle_count++;
	fx__pf__ftrace_event__init(&perfetto->bundle[at]);
	perfetto->bundle_list[at] = &perfetto->bundle[at];
	perfetto->bundle[at].has_timestamp = perfetto->bundle[at].has_pid = 1;
	perfetto->bundle[at].timestamp = ts;
	perfetto->bundle[at].pid = (uint32_t)tid;
	return at;
}

static char *set_comm(char *comm, const struct fx_sched_side *side, uint32_t cpu)
{
	if (side->tid == 0)
		snprintf(comm, TASK_COMM_LENGTH, "swapper/%u", cpu);
	else
		snprintf(comm, TASK_COMM_LENGTH, "%s", side->name ? side->name->data : "");
	/* What the cut took the end of is no character any more. */
	while (*comm && !fx_utf8_is_clean(comm, strlen(comm)))
		comm[strlen(comm) - 1] = '\0';
	return comm;
}

/* The kernel's numbers for states. */
static int64_t linux_state(uint8_t state)
{
	switch (state) {
	case FXT_THREAD_STATE_SUSPENDED:
		return 0x04; /* stopped */
	case FXT_THREAD_STATE_BLOCKED:
		return 0x01; /* interruptible sleep */
	case FXT_THREAD_STATE_DYING:
		return 0x20; /* zombie */
	case FXT_THREAD_STATE_DEAD:
		return 0x10;
	default:
		return 0; /* runnable */
	}
}

static void export_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	struct perfetto *perfetto = get(exporter);
	size_t at = add_to_bundle(perfetto, sched->cpu, sched->ts, sched->outgoing.tid);
	Fx__Pf__SchedSwitch *message = &perfetto->switches[at];

	fx__pf__sched_switch__init(message);
	message->prev_comm = set_comm(perfetto->comms[at][0], &sched->outgoing, sched->cpu);
	message->next_comm = set_comm(perfetto->comms[at][1], &sched->incoming, sched->cpu);
	message->has_prev_pid = message->has_next_pid = 1;
	message->prev_pid = (int32_t)sched->outgoing.tid;
	message->next_pid = (int32_t)sched->incoming.tid;
	message->has_prev_prio = message->has_next_prio = 1;
	message->prev_prio = sched->outgoing.priority;
	message->next_prio = sched->incoming.priority;
	message->has_prev_state = 1;
	message->prev_state = linux_state(sched->outgoing_state);
	perfetto->bundle[at].sched_switch = message;
}

static void export_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	struct perfetto *perfetto = get(exporter);
	size_t at = add_to_bundle(perfetto, wakeup->cpu, wakeup->ts, wakeup->waker);
	Fx__Pf__SchedWaking *message = &perfetto->wakings[at];

	fx__pf__sched_waking__init(message);
	message->comm = set_comm(perfetto->comms[at][0], &wakeup->thread, wakeup->cpu);
	message->has_pid = message->has_prio = 1;
	message->pid = (int32_t)wakeup->thread.tid;
	message->prio = wakeup->thread.priority;
	message->has_success = message->success = 1;
	message->has_target_cpu = 1;
	message->target_cpu = (int32_t)wakeup->cpu;
	perfetto->bundle[at].sched_waking = message;
}

/* --- The whole -------------------------------------------------------------------------------- */

static void export_embedded(struct fx_exporter *exporter, const unsigned char *data, size_t size)
{
	if (fx_packets_are_whole(data, size))
		fx_sink_write(exporter->sink, data, size);
	else
		exporter->timeline->losses[FX_LOSS_EMBEDDED]++;
}

static void begin(struct fx_exporter *exporter)
{
	struct perfetto *perfetto = get(exporter);
	const struct fx_timeline *timeline = exporter->timeline;
	uint32_t taken = 0;

	if (timeline->embedded.count > 0)
		taken =
		    fx_packets_last_sequence(timeline->embedded.items, timeline->embedded.count);
	fx_packets_init(&perfetto->packets, exporter->sink, timeline->strings, taken + 1);
}

static void finish(struct fx_exporter *exporter)
{
	struct perfetto *perfetto = get(exporter);

	flush_bundle(perfetto);
	if (exporter->error == 0)
		exporter->error = perfetto->packets.error;
}

static const struct fx_exporter_ops perfetto_ops = {
    .begin = begin,
    .process = export_process,
    .thread = export_thread,
    .enter_thread = enter_thread,
    .slice_begin = export_slice_begin,
    .slice_end = export_slice_end,
    .instant = export_instant,
    .counter = export_counter,
    .log = export_log,
    .async_begin = export_async_begin,
    .async_end = export_async_end,
    .async_instant = export_async_instant,
    .note = export_note,
    .sched_switch = export_switch,
    .sched_wakeup = export_wakeup,
    .embedded = export_embedded,
    .finish = finish,
};

struct fx_exporter *fx_perfetto_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return NULL;
	perfetto->exporter.ops = &perfetto_ops;
	perfetto->exporter.sink = sink;
	perfetto->exporter.timeline = timeline;
	return &perfetto->exporter;
}

void fx_perfetto_free(struct fx_exporter *exporter)
{
	struct perfetto *perfetto = get(exporter);
	struct counter *counter, *next;

	HASH_ITER (hh, perfetto->counters, counter, next) {
		HASH_DEL(perfetto->counters, counter);
		free(counter);
	}
	fx_packets_release(&perfetto->packets);
	fx_vector_free(&perfetto->notes_described);
	fx_vector_free(&perfetto->text);
	fx_vector_free(&perfetto->flow_ids);
	free(perfetto);
}
