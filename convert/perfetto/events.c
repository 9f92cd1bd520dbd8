/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's protobuf format (perfetto.proto has the messages).
 *
 * Each thread is a packet sequence of its own: a first packet with the defaults (the thread's
 * track, a clock that counts from packet to packet), then one packet for each event, which brings
 * along what it is the first in its sequence to name.
 */
#include "config.h"

#include <stdlib.h>

#include "convert/formats.h"
#include "convert/perfetto/args.h"
#include "convert/perfetto/attributes.h"
#include "convert/perfetto/ftrace.h"
#include "convert/perfetto/heaps.h"
#include "convert/perfetto/packet.h"
#include "convert/perfetto/stacks.h"
#include "convert/perfetto/samples.h"
#include "convert/perfetto/system.h"
#include "convert/perfetto/tracks.h"
#include "convert/perfetto/wire.h"

struct perfetto {
	struct fx_exporter exporter;
	struct fx_packets packets;
	struct fx_tracks tracks;
	struct fx_ftrace ftrace;
	struct fx_heaps heaps;
	struct fx_samples samples;
	struct fx_facts facts;
	bool in_asyncs; /* the sequence of async operations is the current one */

	/* The event in work. */
	struct fx_annotations annotations;
	FX_VECTOR(uint64_t) flow_ids;
	uint64_t category_iid;
};

static struct perfetto *perfetto_get(struct fx_exporter *exporter)
{
	return (struct perfetto *)exporter;
}

static void perfetto_export_process(struct fx_exporter *exporter, const struct fx_process *process)
{
	fx_tracks_describe_process(&perfetto_get(exporter)->tracks, process);
}

static void perfetto_export_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	fx_tracks_describe_thread(&perfetto_get(exporter)->tracks, thread);
}

static void enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	struct perfetto *perfetto = perfetto_get(exporter);

	fx_packets_begin_sequence(&perfetto->packets, fx_track_of_thread(thread), thread->first_ts);
	fx_heaps_enter_thread(&perfetto->heaps);
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
	fx_annotations_set(&perfetto->annotations, message, event);
	fx_stacks_set(&perfetto->packets, message, event);
	set_flows(perfetto, message, event);
}

/* Whether an event has nothing but its names. */
static bool has_names_alone(const struct fx_event *event)
{
	return event->nargs + event->end_nargs == 0 && event->link_count == 0 &&
	       event->payload == 0 && event->flags == 0;
}

static void perfetto_export_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	Fx__Pf__TrackEvent__Type type = FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	Fx__Pf__TrackEvent message;

	perfetto->facts.calls++;
	fx_heaps_begin(&perfetto->heaps, event);
	if (has_names_alone(event) &&
	    fx_packets_write_plain(&perfetto->packets, event->ts, type, event->category->serial,
				   event->name->serial))
		return;
	fx_facts_call(&perfetto->facts, event);
	set_event(perfetto, &message, type, event);
	fx_packets_write_event(&perfetto->packets, event->ts, &message);
}

static void export_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			     uint64_t ts)
{
	struct perfetto *perfetto = perfetto_get(exporter);

	(void)thread;
	fx_heaps_end(&perfetto->heaps);
	fx_packets_write_plain(&perfetto->packets, ts, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_END, 0,
			       0);
}

/* An instant that a flow touches stays on its thread, whatever its scope. */
static void set_scope(struct perfetto *perfetto, Fx__Pf__TrackEvent *message,
		      const struct fx_event *event)
{
	if (event->scope == FXT_SCOPE_THREAD || event->link_count > 0)
		return;
	if (event->scope == FXT_SCOPE_PROCESS)
		set_track(message, fx_track_of_process(event->thread->process));
	else
		set_track(message, fx_tracks_global(&perfetto->tracks));
}

static void perfetto_export_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	Fx__Pf__TrackEvent message;

	if (fx_samples_take(&perfetto->samples, event))
		return;
	fx_facts_instant(&perfetto->facts, exporter->timeline, event);
	fx_heaps_instant(&perfetto->heaps, event);
	set_event(perfetto, &message, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT, event);
	set_scope(perfetto, &message, event);
	fx_packets_write_event(&perfetto->packets, event->ts, &message);
}

static void perfetto_export_log(struct fx_exporter *exporter, const struct fx_event *event,
				const struct fxt_string *text)
{
	struct perfetto *perfetto = perfetto_get(exporter);
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
	if (fx_is_linux_id(event->thread->key.tid) && fx_is_linux_id(event->thread->key.pid)) {
		log.has_body_iid = 1;
		log.body_iid = fx_packets_intern(&perfetto->packets, FX_INTERN_LOG, id);
		message.log_message = &log;
	}
	fx_packets_write_event(&perfetto->packets, event->ts, &message);
}

/* --- Counters --------------------------------------------------------------------------------- */

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

static void perfetto_export_counter(struct fx_exporter *exporter, const struct fx_event *event,
				    uint64_t id)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	Fx__Pf__TrackEvent message;

	perfetto->facts.counter_values++;
	for (uint32_t i = 0; i < event->nargs; i++) {
		uint64_t track = fx_tracks_counter(&perfetto->tracks, event, id, &event->args[i]);

		if (!track)
			return;
		set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_COUNTER);
		set_track(&message, track);
		set_counter_value(&message, &event->args[i]);
		fx_packets_write_event(&perfetto->packets, event->ts, &message);
	}
}

/* --- Async operations ------------------------------------------------------------------------- */

static void write_async(struct perfetto *perfetto, const struct fx_async_track *track, uint64_t ts,
			Fx__Pf__TrackEvent *message)
{
	uint64_t uuid = fx_tracks_async(&perfetto->tracks, track);

	set_track(message, uuid);
	fx_packets_write_event(&perfetto->packets, ts, message);
}

/* All async events are one sequence. */
static void enter_asyncs(struct perfetto *perfetto, const struct fx_async_track *track, uint64_t ts)
{
	if (!perfetto->in_asyncs)
		fx_packets_begin_sequence(&perfetto->packets,
					  fx_tracks_async(&perfetto->tracks, track), ts);
	perfetto->in_asyncs = true;
}

static void write_async_event(struct fx_exporter *exporter, const struct fx_async_track *track,
			      Fx__Pf__TrackEvent__Type type, const struct fx_event *event)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	Fx__Pf__TrackEvent message;

	enter_asyncs(perfetto, track, event->ts);
	set_event(perfetto, &message, type, event);
	write_async(perfetto, track, event->ts, &message);
}

static void perfetto_export_async_begin(struct fx_exporter *exporter,
					const struct fx_async_track *track, uint64_t id,
					const struct fx_event *event)
{
	(void)id;
	write_async_event(exporter, track, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, event);
}

static void perfetto_export_async_end(struct fx_exporter *exporter,
				      const struct fx_async_track *track, uint64_t id,
				      const struct fx_event *event)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	Fx__Pf__TrackEvent message;

	(void)id;
	enter_asyncs(perfetto, track, event->ts);
	set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	fx_annotations_set(&perfetto->annotations, &message, event);
	write_async(perfetto, track, event->ts, &message);
}

static void perfetto_export_async_instant(struct fx_exporter *exporter,
					  const struct fx_async_track *track, uint64_t id,
					  const struct fx_event *event)
{
	(void)id;
	write_async_event(exporter, track, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT, event);
}

/* --- The rest --------------------------------------------------------------------------------- */

/* Notes may be of any time: each is a sequence of its own. */
static void perfetto_export_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	uint64_t uuid = fx_tracks_notes(&perfetto->tracks, note->process);
	Fx__Pf__TrackEvent message;

	if (!uuid)
		return;
	fx_packets_begin_sequence(&perfetto->packets, uuid, note->ts);
	set_type(&message, FX__PF__TRACK_EVENT__TYPE__TYPE_INSTANT);
	message.name = (char *)note->text->data;
	fx_packets_write_event(&perfetto->packets, note->ts, &message);
}

static void perfetto_export_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	fx_ftrace_add_switch(&perfetto_get(exporter)->ftrace, sched);
}

static void perfetto_export_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	fx_ftrace_add_wakeup(&perfetto_get(exporter)->ftrace, wakeup);
}

static void perfetto_export_embedded(struct fx_exporter *exporter, const unsigned char *data,
				     size_t size)
{
	if (fx_packets_are_whole(data, size))
		fx_sink_write(exporter->sink, data, size);
	else
		exporter->timeline->misfits[FX_MISFIT_EMBEDDED]++;
}

static void perfetto_begin(struct fx_exporter *exporter)
{
	struct perfetto *perfetto = perfetto_get(exporter);
	const struct fx_timeline *timeline = exporter->timeline;
	uint32_t taken = 0;

	if (timeline->embedded.count > 0)
		taken =
		    fx_packets_last_sequence(timeline->embedded.items, timeline->embedded.count);
	fx_packets_init(&perfetto->packets, exporter->sink, timeline->strings, taken + 1);
	perfetto->ftrace.system_described = timeline->has_host;
	if (timeline->has_host)
		fx_system_write(&perfetto->packets, &timeline->host);
}

static void perfetto_finish(struct fx_exporter *exporter)
{
	struct perfetto *perfetto = perfetto_get(exporter);

	fx_ftrace_flush(&perfetto->ftrace);
	fx_heaps_write(&perfetto->heaps);
	fx_samples_write(&perfetto->samples, &perfetto->packets);
	fx_attributes_write(&perfetto->packets, exporter->timeline, &perfetto->facts);
	if (exporter->error == 0)
		exporter->error = perfetto->heaps.error;
	if (exporter->error == 0)
		exporter->error = perfetto->samples.error;
	if (exporter->error == 0)
		exporter->error = perfetto->packets.error;
}

static const struct fx_exporter_ops perfetto_ops = {
    .begin = perfetto_begin,
    .process = perfetto_export_process,
    .thread = perfetto_export_thread,
    .enter_thread = enter_thread,
    .slice_begin = perfetto_export_slice_begin,
    .slice_end = export_slice_end,
    .instant = perfetto_export_instant,
    .counter = perfetto_export_counter,
    .log = perfetto_export_log,
    .async_begin = perfetto_export_async_begin,
    .async_end = perfetto_export_async_end,
    .async_instant = perfetto_export_async_instant,
    .note = perfetto_export_note,
    .sched_switch = perfetto_export_switch,
    .sched_wakeup = perfetto_export_wakeup,
    .embedded = perfetto_export_embedded,
    .finish = perfetto_finish,
};

struct fx_exporter *fx_perfetto_make(struct fx_timeline *timeline, struct fx_sink *sink)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return NULL;
	perfetto->exporter.ops = &perfetto_ops;
	perfetto->exporter.sink = sink;
	perfetto->exporter.timeline = timeline;
	fx_tracks_init(&perfetto->tracks, &perfetto->packets);
	fx_heaps_init(&perfetto->heaps, &perfetto->packets, timeline);
	perfetto->annotations.packets = perfetto->ftrace.packets = &perfetto->packets;
	return &perfetto->exporter;
}

void fx_perfetto_free(struct fx_exporter *exporter)
{
	struct perfetto *perfetto = perfetto_get(exporter);

	fx_samples_free(&perfetto->samples);
	fx_heaps_release(&perfetto->heaps);
	fx_annotations_release(&perfetto->annotations);
	fx_tracks_release(&perfetto->tracks);
	fx_packets_release(&perfetto->packets);
	fx_vector_free(&perfetto->flow_ids);
	free(perfetto);
}
