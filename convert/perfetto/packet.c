/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/perfetto/encode.h"
#include "convert/perfetto/packet.h"

enum {
	CLOCK_ID_BOOTTIME = 6,
	CLOCK_ID_DELTA = 64, /* the first of those that belong to a sequence */

	FLAG_CLEARED = 1, /* forget what this sequence interned */
	FLAG_NEEDS = 2,	  /* not to be understood without what it interned */

	HEADER_MAX = 1 + FX_VARINT_MAX,

	/* The numbers of perfetto.proto. */
	FIELD_PACKET = 1,
	FIELD_TIMESTAMP = 8,
	FIELD_SEQUENCE_ID = 10,
	FIELD_TRACK_EVENT = 11,
	FIELD_INTERNED_DATA = 12,
	FIELD_SEQUENCE_FLAGS = 13,
	PACKET_FIELDS = 6,

	FIELD_CATEGORY_IIDS = 3, /* of an event */
	FIELD_TYPE = 9,
	FIELD_NAME_IID = 10,
	EVENT_FIELDS = 3,
};

void fx_packets_init(struct fx_packets *packets, struct fx_sink *sink, struct fx_texts *strings,
		     uint32_t first_sequence)
{
	memset(packets, 0, sizeof(*packets));
	packets->sink = sink;
	packets->strings = strings;
	packets->sequence = first_sequence - 1;
}

void fx_packets_release(struct fx_packets *packets)
{
	for (size_t kind = 0; kind < FX_INTERN_KIND_COUNT; kind++)
		fx_vector_free(&packets->seen[kind]);
	fx_vector_free(&packets->fresh);
	fx_vector_free(&packets->fresh_by_kind);
}

void fx_packets_write(struct fx_packets *packets, Fx__Pf__TracePacket *packet)
{
	size_t size = fx__pf__trace_packet__get_packed_size(packet);
	unsigned char *out = fx_sink_reserve(packets->sink, HEADER_MAX + size), *at;

	if (!out) {
		packets->error = -ENOMEM;
		return;
	}
	at = fx_wire_varint(fx_wire_tag(out, FIELD_PACKET, FX_WIRE_BYTES), size);
	at += fx__pf__trace_packet__pack(packet, at);
	fx_sink_commit(packets->sink, (size_t)(at - out));
}

static void set_sequence(struct fx_packets *packets, Fx__Pf__TracePacket *packet, uint32_t flags)
{
	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = packets->sequence;
	packet->has_sequence_flags = 1;
	packet->sequence_flags = flags;
}

/* The delta clock, set to the time of the packet that holds the snapshot. */
static void write_first_packet(struct fx_packets *packets, Fx__Pf__TracePacketDefaults *defaults,
			       uint64_t ts)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__ClockSnapshot snapshot = FX__PF__CLOCK_SNAPSHOT__INIT;
	Fx__Pf__Clock boottime = FX__PF__CLOCK__INIT;
	Fx__Pf__Clock delta = FX__PF__CLOCK__INIT;
	Fx__Pf__Clock *clocks[] = {&boottime, &delta};

	boottime.has_clock_id = delta.has_clock_id = 1;
	boottime.clock_id = CLOCK_ID_BOOTTIME;
	delta.clock_id = CLOCK_ID_DELTA;
	boottime.has_timestamp = delta.has_timestamp = 1;
	boottime.timestamp = delta.timestamp = ts;
	delta.has_is_incremental = delta.is_incremental = 1;
	snapshot.clocks = clocks;
	snapshot.n_clocks = 2;

	packet.has_timestamp = 1;
	packet.timestamp = ts;
	packet.has_timestamp_clock_id = 1;
	packet.timestamp_clock_id = CLOCK_ID_BOOTTIME;
	packet.clock_snapshot = &snapshot;
	packet.trace_packet_defaults = defaults;
	packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = 1;
	set_sequence(packets, &packet, FLAG_CLEARED | FLAG_NEEDS);
	fx_packets_write(packets, &packet);
}

void fx_packets_begin_sequence(struct fx_packets *packets, uint64_t track, uint64_t ts)
{
	Fx__Pf__TracePacketDefaults defaults = FX__PF__TRACE_PACKET_DEFAULTS__INIT;
	Fx__Pf__TrackEventDefaults event_defaults = FX__PF__TRACK_EVENT_DEFAULTS__INIT;

	event_defaults.has_track_uuid = 1;
	event_defaults.track_uuid = track;
	defaults.track_event_defaults = &event_defaults;
	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = CLOCK_ID_DELTA;
	packets->sequence++;
	packets->last_ts = ts;
	write_first_packet(packets, &defaults, ts);
}

/* Room for the mark of this string; false: no memory. */
static bool reserve_mark(struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id)
{
	size_t count = packets->seen[kind].count, wanted = (size_t)id + 1;

	if (count >= wanted)
		return true;
	if (fx_vector_reserve(&packets->seen[kind], wanted - count) < 0)
		return false;
	memset(packets->seen[kind].items + count, 0, (wanted - count) * sizeof(uint32_t));
	packets->seen[kind].count = wanted;
	return true;
}

static void add_fresh(struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id)
{
	struct fx_interned *fresh;

	if (fx_vector_reserve(&packets->fresh, 1) < 0) {
		packets->error = -ENOMEM;
		return;
	}
	fresh = &packets->fresh.items[packets->fresh.count++];
	fx__pf__interned_string__init(&fresh->message);
	fresh->message.has_iid = 1;
	fresh->message.iid = id;
	fresh->message.value = (char *)fx_texts_get(packets->strings, id)->data;
	fresh->kind = kind;
}

/* Whether the current sequence has named this before; 0 needs no name. */
static bool has_seen(const struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id)
{
	return id == 0 || (id < packets->seen[kind].count &&
			   packets->seen[kind].items[id] == packets->sequence);
}

bool fx_packets_is_new(struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id)
{
	if (!reserve_mark(packets, kind, id)) {
		packets->error = -ENOMEM;
		return false;
	}
	if (packets->seen[kind].items[id] == packets->sequence)
		return false;
	packets->seen[kind].items[id] = packets->sequence;
	return true;
}

uint64_t fx_packets_intern(struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id)
{
	if (fx_packets_is_new(packets, kind, id))
		add_fresh(packets, kind, id);
	return id;
}

/* Viewers want a mapping for each frame; where the code came from stands in its name. */
static uint64_t intern_mapping(struct fx_packets *packets)
{
	if (fx_packets_is_new(packets, FX_INTERN_MAPPING, 1)) {
		Fx__Pf__Mapping *mapping = &packets->fresh_stack.mapping;

		fx__pf__mapping__init(mapping);
		mapping->has_iid = 1;
		mapping->iid = 1;
		packets->fresh_stack.mappings[packets->fresh_stack.mapping_count++] = mapping;
	}
	return 1;
}

uint64_t fx_packets_intern_frame(struct fx_packets *packets, uint32_t name)
{
	if (fx_packets_is_new(packets, FX_INTERN_FUNCTION, name)) {
		Fx__Pf__Frame *frame =
		    &packets->fresh_stack.frames[packets->fresh_stack.frame_count];

		add_fresh(packets, FX_INTERN_FUNCTION, name);
		fx__pf__frame__init(frame);
		frame->has_iid = frame->has_function_name_id = frame->has_mapping_id = 1;
		frame->iid = frame->function_name_id = name;
		frame->mapping_id = intern_mapping(packets);
		packets->fresh_stack.frame_list[packets->fresh_stack.frame_count++] = frame;
	}
	return name;
}

void fx_packets_add_stack(struct fx_packets *packets, uint64_t id, const uint64_t *frames,
			  size_t count)
{
	Fx__Pf__Callstack *stack = &packets->fresh_stack.stack;

	fx__pf__callstack__init(stack);
	stack->has_iid = 1;
	stack->iid = id;
	memcpy(packets->fresh_stack.frame_ids, frames, count * sizeof(*frames));
	stack->frame_ids = packets->fresh_stack.frame_ids;
	stack->n_frame_ids = count;
	packets->fresh_stack.stacks[0] = stack;
	packets->fresh_stack.stack_count = 1;
}

/* Lists the fresh strings of a kind at the end of `fresh_by_kind'; returns how many. */
static size_t list_fresh(struct fx_packets *packets, enum fx_intern_kind kind,
			 Fx__Pf__InternedString ***ret)
{
	size_t first = packets->fresh_by_kind.count;

	for (size_t i = 0; i < packets->fresh.count; i++) {
		if (packets->fresh.items[i].kind == kind)
			packets->fresh_by_kind.items[packets->fresh_by_kind.count++] =
			    &packets->fresh.items[i].message;
	}
	*ret = packets->fresh_by_kind.items + first;
	return packets->fresh_by_kind.count - first;
}

static void list_interned(struct fx_packets *packets, Fx__Pf__InternedData *data)
{
	data->n_event_categories = list_fresh(packets, FX_INTERN_CATEGORY, &data->event_categories);
	data->n_event_names = list_fresh(packets, FX_INTERN_NAME, &data->event_names);
	data->n_debug_annotation_names =
	    list_fresh(packets, FX_INTERN_ARG_NAME, &data->debug_annotation_names);
	data->n_debug_annotation_string_values =
	    list_fresh(packets, FX_INTERN_ARG_VALUE, &data->debug_annotation_string_values);
	data->n_log_message_body = list_fresh(packets, FX_INTERN_LOG, &data->log_message_body);
	data->n_function_names = list_fresh(packets, FX_INTERN_FUNCTION, &data->function_names);
	data->n_frames = packets->fresh_stack.frame_count;
	data->frames = packets->fresh_stack.frame_list;
	data->n_callstacks = packets->fresh_stack.stack_count;
	data->callstacks = packets->fresh_stack.stacks;
	data->n_mappings = packets->fresh_stack.mapping_count;
	data->mappings = packets->fresh_stack.mappings;
}

static void forget_fresh(struct fx_packets *packets)
{
	packets->fresh.count = 0;
	packets->fresh_stack.mapping_count = packets->fresh_stack.frame_count = 0;
	packets->fresh_stack.stack_count = 0;
}

static bool has_fresh(const struct fx_packets *packets)
{
	return packets->fresh.count > 0 || packets->fresh_stack.stack_count > 0;
}

/* An event whose parts are not all known here. */
static void write_message(struct fx_packets *packets, uint64_t ts, Fx__Pf__TrackEvent *event,
			  Fx__Pf__InternedData *interned)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;

	packet.interned_data = interned;
	packet.has_timestamp = 1;
	packet.timestamp = ts - packets->last_ts;
	packet.track_event = event;
	set_sequence(packets, &packet, FLAG_NEEDS);
	fx_packets_write(packets, &packet);
}

/* What stands in a packet before its event. */
static unsigned char *put_head(const struct fx_packets *packets, unsigned char *out, uint64_t ts)
{
	out = fx_wire_uint(out, FIELD_TIMESTAMP, ts - packets->last_ts);
	return fx_wire_uint(out, FIELD_SEQUENCE_ID, packets->sequence);
}

static void write_encoded(struct fx_packets *packets, uint64_t ts, const Fx__Pf__TrackEvent *event,
			  const Fx__Pf__InternedData *interned)
{
	size_t interned_size = interned ? fx__pf__interned_data__get_packed_size(interned) : 0;
	size_t max = PACKET_FIELDS * FX_WIRE_FIELD_MAX + fx_encode_event_max(event) + interned_size;
	unsigned char *out = fx_sink_reserve(packets->sink, max), *packet, *inner, *at;

	if (!out) {
		packets->error = -ENOMEM;
		return;
	}
	packet = fx_wire_open(out, FIELD_PACKET);
	inner = fx_wire_open(put_head(packets, packet, ts), FIELD_TRACK_EVENT);
	at = fx_wire_close(inner, fx_encode_event(inner, event));
	if (interned) {
		at = fx_wire_tag(at, FIELD_INTERNED_DATA, FX_WIRE_BYTES);
		at = fx_wire_varint(at, interned_size);
		at += fx__pf__interned_data__pack(interned, at);
	}
	at = fx_wire_uint(at, FIELD_SEQUENCE_FLAGS, FLAG_NEEDS);
	at = fx_wire_close(packet, at);
	fx_sink_commit(packets->sink, (size_t)(at - out));
}

/* What the next packet is to name first; *ret is NULL if that is nothing. False: no room. */
static bool take_fresh(struct fx_packets *packets, Fx__Pf__InternedData *interned,
		       Fx__Pf__InternedData **ret)
{
	*ret = NULL;
	packets->fresh_by_kind.count = 0;
	if (fx_vector_reserve(&packets->fresh_by_kind, packets->fresh.count) < 0) {
		packets->error = -ENOMEM;
		return false;
	}
	if (has_fresh(packets)) {
		list_interned(packets, interned);
		*ret = interned;
	}
	return true;
}

void fx_packets_write_event(struct fx_packets *packets, uint64_t ts, Fx__Pf__TrackEvent *event)
{
	Fx__Pf__InternedData interned = FX__PF__INTERNED_DATA__INIT, *fresh;

	if (!take_fresh(packets, &interned, &fresh))
		return;
	if (event->log_message)
		write_message(packets, ts, event, fresh);
	else
		write_encoded(packets, ts, event, fresh);
	packets->last_ts = ts;
	forget_fresh(packets);
}

void fx_packets_write_next(struct fx_packets *packets, uint64_t ts,
			   const Fx__Pf__TracePacket *packet)
{
	Fx__Pf__InternedData interned = FX__PF__INTERNED_DATA__INIT, *fresh;
	Fx__Pf__TracePacket whole = *packet;

	if (!take_fresh(packets, &interned, &fresh))
		return;
	if (fresh)
		whole.interned_data = fresh;
	whole.has_timestamp = 1;
	whole.timestamp = ts - packets->last_ts;
	set_sequence(packets, &whole, FLAG_NEEDS);
	fx_packets_write(packets, &whole);
	packets->last_ts = ts;
	forget_fresh(packets);
}

bool fx_packets_write_plain(struct fx_packets *packets, uint64_t ts, Fx__Pf__TrackEvent__Type type,
			    uint32_t category, uint32_t name)
{
	size_t max = (PACKET_FIELDS + EVENT_FIELDS) * FX_WIRE_FIELD_MAX;
	unsigned char *out, *packet, *inner, *at;

	if (!has_seen(packets, FX_INTERN_CATEGORY, category) ||
	    !has_seen(packets, FX_INTERN_NAME, name))
		return false;
	out = fx_sink_reserve(packets->sink, max);
	if (!out) {
		packets->error = -ENOMEM;
		return true;
	}
	packet = fx_wire_open(out, FIELD_PACKET);
	inner = at = fx_wire_open(put_head(packets, packet, ts), FIELD_TRACK_EVENT);
	if (category)
		at = fx_wire_uint(at, FIELD_CATEGORY_IIDS, category);
	at = fx_wire_uint(at, FIELD_TYPE, type);
	if (name)
		at = fx_wire_uint(at, FIELD_NAME_IID, name);
	at = fx_wire_close(inner, at);
	at = fx_wire_uint(at, FIELD_SEQUENCE_FLAGS, FLAG_NEEDS);
	at = fx_wire_close(packet, at);
	fx_sink_commit(packets->sink, (size_t)(at - out));
	packets->last_ts = ts;
	return true;
}
