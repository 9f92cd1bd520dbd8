/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "convert/perfetto/perfetto.pb-c.h"
#include "lists/vector.h"
#include "tests/convert/perfetto_text.h"

enum {
	CLOCK_BOOT = 6,
	CLOCK_DELTA = 64,
};

enum intern_kind { CATEGORY, NAME, ARG_NAME, ARG_VALUE, LOG_BODY, FUNCTION, MAPPING, FRAME, STACK };

struct interned {
	enum intern_kind kind;
	uint64_t iid;
	const void *value; /* a text, or the message of a mapping, frame or stack */
};

struct sequence {
	uint32_t id;
	bool cleared;
	uint64_t ts;
	uint64_t track;
	FX_VECTOR(struct interned) interned;
};

struct track {
	uint64_t uuid;
	char label[80];
};

struct printer {
	FILE *out;
	bool bad;
	FX_VECTOR(struct sequence) sequences;
	FX_VECTOR(struct track) tracks;
};

/* Room for one more; tests have memory. */
#define make_room(v)                                                                               \
	do {                                                                                       \
		if (fx_vector_reserve((v), 1) < 0)                                                 \
			abort();                                                                   \
	} while (0)

static void complain(struct printer *printer, const char *what)
{
	fprintf(printer->out, "BAD: %s\n", what);
	printer->bad = true;
}

/* --- Tracks ----------------------------------------------------------------------------------- */

static const char *track_label(struct printer *printer, uint64_t uuid)
{
	for (size_t i = 0; i < printer->tracks.count; i++) {
		if (printer->tracks.items[i].uuid == uuid)
			return printer->tracks.items[i].label;
	}
	complain(printer, "a track that is not described");
	return "?";
}

static void print_track(struct printer *printer, const Fx__Pf__TrackDescriptor *track)
{
	const char *name = track->name ? track->name : "";
	struct track *known;

	make_room(&printer->tracks);
	known = &printer->tracks.items[printer->tracks.count];
	known->uuid = track->uuid;
	if (track->process) {
		name = track->process->process_name ? track->process->process_name : "";
		snprintf(known->label, sizeof(known->label), "process %d", track->process->pid);
	} else if (track->thread) {
		name = track->thread->thread_name ? track->thread->thread_name : "";
		snprintf(known->label, sizeof(known->label), "%d/%d", track->thread->pid,
			 track->thread->tid);
	} else {
		snprintf(known->label, sizeof(known->label), "'%s'", name);
	}
	fprintf(printer->out, "track %s '%s'", known->label, name);
	if (track->has_parent_uuid)
		fprintf(printer->out, " of %s", track_label(printer, track->parent_uuid));
	if (track->counter)
		fprintf(printer->out, " counter unit=%d",
			track->counter->has_unit ? (int)track->counter->unit : 0);
	fprintf(printer->out, "\n");
	printer->tracks.count++;
}

/* --- Sequences -------------------------------------------------------------------------------- */

static struct sequence *get_sequence(struct printer *printer, uint32_t id)
{
	struct sequence *sequence;

	for (size_t i = 0; i < printer->sequences.count; i++) {
		if (printer->sequences.items[i].id == id)
			return &printer->sequences.items[i];
	}
	make_room(&printer->sequences);
	sequence = &printer->sequences.items[printer->sequences.count++];
	*sequence = (struct sequence){.id = id};
	return sequence;
}

static void take_clocks(struct printer *printer, struct sequence *sequence,
			const Fx__Pf__ClockSnapshot *snapshot)
{
	uint64_t boot = 0;

	for (size_t i = 0; i < snapshot->n_clocks; i++) {
		const Fx__Pf__Clock *clock = snapshot->clocks[i];

		if (clock->clock_id == CLOCK_BOOT)
			boot = clock->timestamp;
		else if (clock->clock_id == CLOCK_DELTA && clock->is_incremental)
			sequence->ts = clock->timestamp;
		else
			complain(printer, "an unknown clock");
	}
	if (boot != sequence->ts)
		complain(printer, "clocks that differ");
}

static void take_list(struct sequence *sequence, enum intern_kind kind,
		      Fx__Pf__InternedString **list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		make_room(&sequence->interned);
		sequence->interned.items[sequence->interned.count++] =
		    (struct interned){kind, list[i]->iid, list[i]->value};
	}
}

static void take_one(struct sequence *sequence, enum intern_kind kind, uint64_t iid,
		     const void *value)
{
	make_room(&sequence->interned);
	sequence->interned.items[sequence->interned.count++] = (struct interned){kind, iid, value};
}

static void take_stacks(struct sequence *sequence, const Fx__Pf__InternedData *data)
{
	take_list(sequence, FUNCTION, data->function_names, data->n_function_names);
	for (size_t i = 0; i < data->n_mappings; i++)
		take_one(sequence, MAPPING, data->mappings[i]->iid, data->mappings[i]);
	for (size_t i = 0; i < data->n_frames; i++)
		take_one(sequence, FRAME, data->frames[i]->iid, data->frames[i]);
	for (size_t i = 0; i < data->n_callstacks; i++)
		take_one(sequence, STACK, data->callstacks[i]->iid, data->callstacks[i]);
}

static void take_interned(struct sequence *sequence, const Fx__Pf__InternedData *data)
{
	take_stacks(sequence, data);
	take_list(sequence, CATEGORY, data->event_categories, data->n_event_categories);
	take_list(sequence, NAME, data->event_names, data->n_event_names);
	take_list(sequence, ARG_NAME, data->debug_annotation_names, data->n_debug_annotation_names);
	take_list(sequence, ARG_VALUE, data->debug_annotation_string_values,
		  data->n_debug_annotation_string_values);
	take_list(sequence, LOG_BODY, data->log_message_body, data->n_log_message_body);
}

static const void *interned(struct printer *printer, const struct sequence *sequence,
			    enum intern_kind kind, uint64_t iid)
{
	for (size_t i = 0; i < sequence->interned.count; i++) {
		if (sequence->interned.items[i].kind == kind &&
		    sequence->interned.items[i].iid == iid)
			return sequence->interned.items[i].value;
	}
	complain(printer, "something that is not interned");
	return NULL;
}

static const char *string_of(struct printer *printer, const struct sequence *sequence,
			     enum intern_kind kind, uint64_t iid)
{
	const char *text = interned(printer, sequence, kind, iid);

	return text ? text : "?";
}

/* The outermost first. */
static void print_stack(struct printer *printer, const struct sequence *sequence, uint64_t iid)
{
	const Fx__Pf__Callstack *stack = interned(printer, sequence, STACK, iid);

	for (size_t i = 0; stack && i < stack->n_frame_ids; i++) {
		const Fx__Pf__Frame *frame =
		    interned(printer, sequence, FRAME, stack->frame_ids[i]);

		if (!frame)
			return;
		interned(printer, sequence, MAPPING, frame->mapping_id);
		fprintf(printer->out, "%s%s", i ? " > " : " stack=",
			string_of(printer, sequence, FUNCTION, frame->function_name_id));
	}
}

/* --- Events ----------------------------------------------------------------------------------- */

static void print_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
}

static void print_annotation(struct printer *printer, const struct sequence *sequence,
			     const Fx__Pf__DebugAnnotation *annotation)
{
	FILE *out = printer->out;

	fputc(' ', out);
	print_text(out, string_of(printer, sequence, ARG_NAME, annotation->name_iid));
	if (annotation->has_bool_value)
		fprintf(out, "=%s", annotation->bool_value ? "true" : "false");
	else if (annotation->has_uint_value)
		fprintf(out, "=%" PRIu64 "u", annotation->uint_value);
	else if (annotation->has_int_value)
		fprintf(out, "=%" PRId64, annotation->int_value);
	else if (annotation->has_double_value)
		fprintf(out, "=%gd", annotation->double_value);
	else if (annotation->has_pointer_value)
		fprintf(out, "=0x%" PRIx64, annotation->pointer_value);
	else {
		fputs("='", out);
		print_text(out, annotation->string_value ? annotation->string_value
							 : string_of(printer, sequence, ARG_VALUE,
								     annotation->string_value_iid));
		fputc('\'', out);
	}
}

static void print_names(struct printer *printer, const struct sequence *sequence,
			const Fx__Pf__TrackEvent *event)
{
	FILE *out = printer->out;

	fputc(' ', out);
	for (size_t i = 0; i < event->n_category_iids; i++) {
		print_text(out, string_of(printer, sequence, CATEGORY, event->category_iids[i]));
		fputc(':', out);
	}
	if (event->name)
		print_text(out, event->name);
	else if (event->has_name_iid)
		print_text(out, string_of(printer, sequence, NAME, event->name_iid));
}

static void print_event(struct printer *printer, const struct sequence *sequence,
			const Fx__Pf__TrackEvent *event)
{
	static const char *const types[] = {"?", "begin", "end", "instant", "counter"};
	FILE *out = printer->out;

	fprintf(out, "%s @%" PRIu64 " %s",
		track_label(printer, event->has_track_uuid ? event->track_uuid : sequence->track),
		sequence->ts, types[event->type]);
	if (event->n_category_iids > 0 || event->name || event->has_name_iid)
		print_names(printer, sequence, event);
	for (size_t i = 0; i < event->n_debug_annotations; i++)
		print_annotation(printer, sequence, event->debug_annotations[i]);
	if (event->has_counter_value)
		fprintf(out, " %" PRId64, event->counter_value);
	if (event->has_double_counter_value)
		fprintf(out, " %gd", event->double_counter_value);
	if (event->log_message) {
		fputs(" log=", out);
		print_text(out,
			   string_of(printer, sequence, LOG_BODY, event->log_message->body_iid));
	}
	if (event->has_callstack_iid)
		print_stack(printer, sequence, event->callstack_iid);
	for (size_t i = 0; i < event->n_flow_ids; i++)
		fprintf(out, " flow=%" PRIu64, event->flow_ids[i]);
	fputc('\n', out);
}

static void print_sched(struct printer *printer, uint32_t cpu, const Fx__Pf__FtraceEvent *event)
{
	const Fx__Pf__SchedSwitch *sw = event->sched_switch;
	const Fx__Pf__SchedWaking *waking = event->sched_waking;

	fprintf(printer->out, "cpu %" PRIu32 " @%" PRIu64 " by %" PRIu32 ":", cpu, event->timestamp,
		event->pid);
	if (sw)
		fprintf(printer->out,
			" switch %d '%s' prio %d state %" PRId64 " -> %d '%s' prio %d",
			sw->prev_pid, sw->prev_comm, sw->prev_prio, sw->prev_state, sw->next_pid,
			sw->next_comm, sw->next_prio);
	if (waking)
		fprintf(printer->out, " waking %d '%s' prio %d on %d", waking->pid, waking->comm,
			waking->prio, waking->target_cpu);
	fputc('\n', printer->out);
}

/* --- Packets ---------------------------------------------------------------------------------- */

static void take_defaults(struct sequence *sequence, const Fx__Pf__TracePacketDefaults *defaults)
{
	if (defaults->track_event_defaults)
		sequence->track = defaults->track_event_defaults->track_uuid;
}

static void print_sequenced(struct printer *printer, const Fx__Pf__TracePacket *packet)
{
	struct sequence *sequence = get_sequence(printer, packet->trusted_packet_sequence_id);

	if (packet->sequence_flags & 1) {
		if (sequence->cleared)
			complain(printer, "a sequence that begins twice");
		sequence->cleared = true;
		fprintf(printer->out, "sequence %" PRIu32 "\n", sequence->id);
	}
	if (!sequence->cleared)
		complain(printer, "a sequence without a beginning");
	if (packet->clock_snapshot)
		take_clocks(printer, sequence, packet->clock_snapshot);
	if (packet->trace_packet_defaults)
		take_defaults(sequence, packet->trace_packet_defaults);
	if (packet->interned_data)
		take_interned(sequence, packet->interned_data);
	if (packet->track_event) {
		sequence->ts += packet->timestamp;
		print_event(printer, sequence, packet->track_event);
	}
}

static void print_packet(struct printer *printer, const Fx__Pf__TracePacket *packet)
{
	if (packet->track_descriptor)
		print_track(printer, packet->track_descriptor);
	if (packet->system_info)
		fprintf(printer->out, "system %s\n", packet->system_info->utsname->sysname);
	if (packet->ftrace_events) {
		for (size_t i = 0; i < packet->ftrace_events->n_event; i++)
			print_sched(printer, packet->ftrace_events->cpu,
				    packet->ftrace_events->event[i]);
	}
	if (packet->has_trusted_packet_sequence_id)
		print_sequenced(printer, packet);
	else if (packet->track_event)
		complain(printer, "an event without a sequence");
}

int perfetto_print(FILE *out, const unsigned char *data, size_t size)
{
	struct printer *printer = calloc(1, sizeof(*printer));
	Fx__Pf__Trace *trace = fx__pf__trace__unpack(NULL, size, data);
	bool bad = true;

	if (printer && trace) {
		printer->out = out;
		for (size_t i = 0; i < trace->n_packet; i++)
			print_packet(printer, trace->packet[i]);
		bad = printer->bad;
	}
	if (trace)
		fx__pf__trace__free_unpacked(trace, NULL);
	if (printer) {
		for (size_t i = 0; i < printer->sequences.count; i++)
			fx_vector_free(&printer->sequences.items[i].interned);
		fx_vector_free(&printer->sequences);
		fx_vector_free(&printer->tracks);
	}
	free(printer);
	return bad ? -1 : 0;
}
