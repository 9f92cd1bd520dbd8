/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/perfetto/encode.h"

/* The numbers of perfetto.proto; fields are written in their order. */
enum {
	FIELD_CATEGORY_IIDS = 3,
	FIELD_DEBUG_ANNOTATIONS = 4,
	FIELD_TYPE = 9,
	FIELD_NAME_IID = 10,
	FIELD_TRACK_UUID = 11,
	FIELD_NAME = 23,
	FIELD_COUNTER_VALUE = 30,
	FIELD_DOUBLE_COUNTER_VALUE = 44,
	FIELD_FLOW_IDS = 47,
	FIELD_CALLSTACK_IID = 56,

	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL_VALUE = 2,
	ANNOTATION_UINT_VALUE = 3,
	ANNOTATION_INT_VALUE = 4,
	ANNOTATION_DOUBLE_VALUE = 5,
	ANNOTATION_STRING_VALUE = 6,
	ANNOTATION_POINTER_VALUE = 7,
	ANNOTATION_STRING_VALUE_IID = 17,

	EVENT_FIELDS = 12,	/* those that are not repeated, and more */
	ANNOTATION_FIELDS = 10, /* with its own tag and size */
};

static unsigned char *put_fixed64(unsigned char *out, uint32_t field, uint64_t value)
{
	out = fx_wire_tag(out, field, FX_WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		*out++ = (unsigned char)(value >> 8 * i);
	return out;
}

static unsigned char *wire_put_double(unsigned char *out, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return put_fixed64(out, field, bits);
}

static unsigned char *put_text(unsigned char *out, uint32_t field, const char *text)
{
	size_t length = strlen(text);

	out = fx_wire_varint(fx_wire_tag(out, field, FX_WIRE_BYTES), length);
	memcpy(out, text, length);
	return out + length;
}

static size_t annotation_max(const Fx__Pf__DebugAnnotation *annotation)
{
	size_t size = ANNOTATION_FIELDS * FX_WIRE_FIELD_MAX;

	return annotation->string_value ? size + strlen(annotation->string_value) : size;
}

static unsigned char *put_annotation(unsigned char *out, const Fx__Pf__DebugAnnotation *annotation)
{
	unsigned char *start = out = fx_wire_open(out, FIELD_DEBUG_ANNOTATIONS);

	if (annotation->has_name_iid)
		out = fx_wire_uint(out, ANNOTATION_NAME_IID, annotation->name_iid);
	if (annotation->has_bool_value)
		out = fx_wire_uint(out, ANNOTATION_BOOL_VALUE, annotation->bool_value ? 1 : 0);
	if (annotation->has_uint_value)
		out = fx_wire_uint(out, ANNOTATION_UINT_VALUE, annotation->uint_value);
	if (annotation->has_int_value)
		out = fx_wire_uint(out, ANNOTATION_INT_VALUE, (uint64_t)annotation->int_value);
	if (annotation->has_double_value)
		out = wire_put_double(out, ANNOTATION_DOUBLE_VALUE, annotation->double_value);
	if (annotation->string_value)
		out = put_text(out, ANNOTATION_STRING_VALUE, annotation->string_value);
	if (annotation->has_pointer_value)
		out = fx_wire_uint(out, ANNOTATION_POINTER_VALUE, annotation->pointer_value);
	if (annotation->has_string_value_iid)
		out = fx_wire_uint(out, ANNOTATION_STRING_VALUE_IID, annotation->string_value_iid);
	return fx_wire_close(start, out);
}

size_t fx_encode_event_max(const Fx__Pf__TrackEvent *event)
{
	size_t numbers = EVENT_FIELDS + event->n_category_iids + event->n_flow_ids;
	size_t size = numbers * FX_WIRE_FIELD_MAX;

	if (event->name)
		size += strlen(event->name);
	for (size_t i = 0; i < event->n_debug_annotations; i++)
		size += annotation_max(event->debug_annotations[i]);
	return size;
}

unsigned char *fx_encode_event(unsigned char *out, const Fx__Pf__TrackEvent *event)
{
	for (size_t i = 0; i < event->n_category_iids; i++)
		out = fx_wire_uint(out, FIELD_CATEGORY_IIDS, event->category_iids[i]);
	for (size_t i = 0; i < event->n_debug_annotations; i++)
		out = put_annotation(out, event->debug_annotations[i]);
	if (event->has_type)
		out = fx_wire_uint(out, FIELD_TYPE, event->type);
	if (event->has_name_iid)
		out = fx_wire_uint(out, FIELD_NAME_IID, event->name_iid);
	if (event->has_track_uuid)
		out = fx_wire_uint(out, FIELD_TRACK_UUID, event->track_uuid);
	if (event->name)
		out = put_text(out, FIELD_NAME, event->name);
	if (event->has_counter_value)
		out = fx_wire_uint(out, FIELD_COUNTER_VALUE, (uint64_t)event->counter_value);
	if (event->has_double_counter_value)
		out = wire_put_double(out, FIELD_DOUBLE_COUNTER_VALUE, event->double_counter_value);
	for (size_t i = 0; i < event->n_flow_ids; i++)
		out = put_fixed64(out, FIELD_FLOW_IDS, event->flow_ids[i]);
	if (event->has_callstack_iid)
		out = fx_wire_uint(out, FIELD_CALLSTACK_IID, event->callstack_iid);
	return out;
}
