/* SPDX-License-Identifier: MIT */
#include "kernel/events.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/event-record.h"
#include "kernel/interrupts.h"
#include "kernel/packets.h"
#include "kernel/requests.h"

/* Bytes of an array that has no other form are shown as hexadecimal digits, so many of them. */
#define BYTES_SHOWN 32u

struct fx_events {
	const struct fx_points *points;
	struct fx_interrupts *interrupts;
	struct fx_requests *requests;
};

struct fx_events *fx_events_create(const struct fx_points *points)
{
	struct fx_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->points = points;
	events->interrupts = fx_interrupts_create();
	events->requests = fx_requests_create();
	if (events->interrupts && events->requests)
		return events;
	fx_events_destroy(events);
	return NULL;
}

void fx_events_destroy(struct fx_events *events)
{
	if (!events)
		return;
	fx_interrupts_destroy(events->interrupts);
	fx_requests_destroy(events->requests);
	free(events);
}

void fx_events_finish(struct fx_events *events)
{
	fx_requests_finish(events->requests);
}

void fx_events_take(struct fx_events *events, const struct fx_tracepoint_event *event,
		    const struct fx_ring_record *record)
{
	fx_interrupts_take(events->interrupts, event, record);
	fx_requests_take(events->requests, event, record);
	fx_packets_take(event, record);
}

void fx_events_fault(const struct fx_ring_record *record, uint64_t ip, uint64_t address,
		     const char *file, uint64_t offset)
{
	struct fx_kernel_event event = {
	    .task = {record->pid, record->tid},
	    .ns = record->ns,
	    .category = "kernel:fault",
	    .name = {"major fault", strlen("major fault")},
	};

	if (file) {
		fx_event_text(&event, "file", file, strlen(file));
		fx_event_uint(&event, "offset", offset);
	}
	fx_event_address(&event, "address", address);
	fx_event_address(&event, "ip", ip);
	fx_kernel_record_event(&event);
}

/* --- By name ------------------------------------------------------------------------------------ */

static uint64_t number_of(const uint8_t *bytes, size_t size, bool is_signed)
{
	uint64_t number = 0;
	unsigned above = 64 - 8 * (unsigned)size;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	memcpy((uint8_t *)&number + 8 - size, bytes, size);
#else
	memcpy(&number, bytes, size);
#endif
	if (is_signed)
		number = (uint64_t)((int64_t)(number << above) >> above);
	return number;
}

/* `room' is the text's, until the record is written. */
static void bytes_add(struct fx_kernel_event *event, const char *name, const uint8_t *bytes,
		      size_t size, char room[2 * BYTES_SHOWN])
{
	static const char digits[] = "0123456789abcdef";
	size_t shown = size < BYTES_SHOWN ? size : BYTES_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		room[2 * i] = digits[bytes[i] >> 4];
		room[2 * i + 1] = digits[bytes[i] & 0xf];
	}
	fx_event_text(event, name, room, 2 * shown);
}

static void field_add(struct fx_kernel_event *event, const struct fx_point_field *field,
		      const uint8_t *bytes, size_t size, char room[2 * BYTES_SHOWN])
{
	bool is_number = field->kind == FX_POINT_SIGNED || field->kind == FX_POINT_UNSIGNED ||
			 field->kind == FX_POINT_ADDRESS;

	if (is_number && (size == 0 || size > 8))
		return;
	switch (field->kind) {
	case FX_POINT_SIGNED:
		fx_event_int(event, field->name, (int64_t)number_of(bytes, size, true));
		break;
	case FX_POINT_UNSIGNED:
		fx_event_uint(event, field->name, number_of(bytes, size, false));
		break;
	case FX_POINT_ADDRESS:
		fx_event_address(event, field->name, number_of(bytes, size, false));
		break;
	case FX_POINT_TEXT:
		fx_event_text(event, field->name, (const char *)bytes,
			      strnlen((const char *)bytes, size));
		break;
	case FX_POINT_BYTES:
		bytes_add(event, field->name, bytes, size, room);
		break;
	}
}

static void point_record(const struct fx_point *point, const struct fx_ring_record *record,
			 const uint8_t *bytes, size_t size)
{
	struct fx_kernel_event event = {
	    .task = {record->pid, record->tid},
	    .ns = record->ns,
	    .category = point->category,
	    .name = {point->name, strlen(point->name)},
	};
	char rooms[FX_VALUES_MAX][2 * BYTES_SHOWN];

	for (unsigned i = 0; i < point->field_count && event.count < FX_VALUES_MAX; i++) {
		size_t length;
		const uint8_t *at = fx_point_bytes(&point->fields[i], bytes, size, &length);

		if (at)
			field_add(&event, &point->fields[i], at, length, rooms[event.count]);
	}
	fx_kernel_record_event(&event);
}

void fx_events_named(const struct fx_events *events, const struct fx_ring_record *record,
		     const uint8_t *bytes, size_t size)
{
	const struct fx_point *point = fx_points_of(events->points, bytes, size);

	if (point && record->tid && record->tid <= INT32_MAX && record->pid <= INT32_MAX)
		point_record(point, record, bytes, size);
}
