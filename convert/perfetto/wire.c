/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/perfetto/wire.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

enum {
	FIELD_PACKET = 1,	/* of Trace */
	FIELD_SEQUENCE_ID = 10, /* of TracePacket: trusted_packet_sequence_id */
};

struct field {
	uint64_t number;
	enum wire_type type;
	uint64_t value; /* varints */
	const unsigned char *bytes;
	size_t size;
};

struct cursor {
	const unsigned char *at;
	const unsigned char *end;
};

static bool read_varint(struct cursor *cursor, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
		unsigned char byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool skip(struct cursor *cursor, struct field *field, uint64_t size)
{
	if (size > (uint64_t)(cursor->end - cursor->at))
		return false;
	field->bytes = cursor->at;
	field->size = (size_t)size;
	cursor->at += size;
	return true;
}

/* The next field; false at the end and at what is malformed. */
static bool read_field(struct cursor *cursor, struct field *ret)
{
	uint64_t tag, size;

	if (!read_varint(cursor, &tag))
		return false;
	ret->number = tag >> 3;
	ret->type = (enum wire_type)(tag & 7);
	switch (ret->type) {
	case WIRE_VARINT:
		return read_varint(cursor, &ret->value);
	case WIRE_FIXED64:
		return skip(cursor, ret, sizeof(uint64_t));
	case WIRE_FIXED32:
		return skip(cursor, ret, sizeof(uint32_t));
	case WIRE_BYTES:
		return read_varint(cursor, &size) && skip(cursor, ret, size);
	default:
		return false;
	}
}

static bool read_packet(struct cursor *cursor, struct field *ret)
{
	return read_field(cursor, ret) && ret->number == FIELD_PACKET && ret->type == WIRE_BYTES;
}

static bool is_whole_packet(const struct field *packet)
{
	struct cursor cursor = {packet->bytes, packet->bytes + packet->size};
	struct field field;

	while (cursor.at < cursor.end) {
		if (!read_field(&cursor, &field))
			return false;
	}
	return true;
}

bool fx_packets_are_whole(const unsigned char *data, size_t size)
{
	struct cursor cursor = {data, data + size};
	struct field packet;

	while (cursor.at < cursor.end) {
		if (!read_packet(&cursor, &packet) || !is_whole_packet(&packet))
			return false;
	}
	return true;
}

static uint32_t sequence_of(const struct field *packet)
{
	struct cursor cursor = {packet->bytes, packet->bytes + packet->size};
	struct field field;

	while (cursor.at < cursor.end && read_field(&cursor, &field)) {
		if (field.number == FIELD_SEQUENCE_ID && field.type == WIRE_VARINT)
			return (uint32_t)field.value;
	}
	return 0;
}

uint32_t fx_packets_last_sequence(const unsigned char *data, size_t size)
{
	struct cursor cursor = {data, data + size};
	struct field packet;
	uint32_t last = 0;

	while (cursor.at < cursor.end && read_packet(&cursor, &packet)) {
		uint32_t sequence = sequence_of(&packet);

		if (sequence > last)
			last = sequence;
	}
	return last;
}
