/* SPDX-License-Identifier: MIT */
/*
 * Events of tracks on the wire. They are what nearly all of a trace consists of; protobuf-c, which writes
 * all else, takes several times as long for them. The bytes are the same.
 */
#ifndef FX_CONVERT_PERFETTO_ENCODE_H
#define FX_CONVERT_PERFETTO_ENCODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "convert/perfetto/perfetto.pb-c.h"

enum fx_wire {
	FX_WIRE_VARINT,
	FX_WIRE_FIXED64,
	FX_WIRE_BYTES,
};

enum {
	FX_VARINT_MAX = 10,	/* bytes */
	FX_WIRE_FIELD_MAX = 13, /* a tag and a number */
};

/* Each of these returns where the next byte goes. */
static inline unsigned char *fx_wire_varint(unsigned char *out, uint64_t value)
{
	while (value >= 0x80) {
		*out++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*out++ = (unsigned char)value;
	return out;
}

static inline unsigned char *fx_wire_tag(unsigned char *out, uint32_t field, enum fx_wire type)
{
	return fx_wire_varint(out, (uint64_t)field << 3 | type);
}

static inline unsigned char *fx_wire_uint(unsigned char *out, uint32_t field, uint64_t value)
{
	return fx_wire_varint(fx_wire_tag(out, field, FX_WIRE_VARINT), value);
}

/* A message inside another: its tag, and a byte of room for its size, which fx_wire_close() knows. */
static inline unsigned char *fx_wire_open(unsigned char *out, uint32_t field)
{
	return fx_wire_tag(out, field, FX_WIRE_BYTES) + 1;
}

/* Ends the message that began at @start, with its size in front. A large one has to move for that. */
static inline unsigned char *fx_wire_close(unsigned char *start, unsigned char *out)
{
	size_t size = (size_t)(out - start), more = 0;

	for (size_t rest = size >> 7; rest > 0; rest >>= 7)
		more++;
	if (more > 0)
		memmove(start + more, start, size);
	fx_wire_varint(start - 1, size);
	return out + more;
}

/* How many bytes fx_encode_event() writes at most. */
size_t fx_encode_event_max(const Fx__Pf__TrackEvent *event);

/* The fields of @event, without log messages, which it must not have. */
unsigned char *fx_encode_event(unsigned char *out, const Fx__Pf__TrackEvent *event);

#endif
