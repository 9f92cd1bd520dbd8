/* SPDX-License-Identifier: MIT */
#include "kernel/ring-read.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "kernel/registers.h"

struct ring_reading {
	const struct fx_ring *ring;
	struct fx_ring_queue *queue;
	int64_t clock; /* ns from the clock of its records to CLOCK_BOOTTIME */
};

/* Bytes of a ring from a position on; they may go round. */
static void ring_copy(const struct fx_ring *ring, uint64_t at, void *to, size_t size)
{
	uint64_t offset = at & (ring->size - 1);
	size_t first = size < ring->size - offset ? size : (size_t)(ring->size - offset);

	memcpy(to, ring->data + offset, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

/* How much of a sample is of use: its stack is as long as it is, whatever it was given room for. The places of the two
 * sizes, at which the kernel says so. */
static size_t sample_used(const struct fx_ring *ring, uint64_t at, size_t size)
{
	size_t place = sizeof(struct fx_ring_place_begin);
	uint64_t word = 0, room = 0, used = 0;

	if (size < place + 8)
		return size;
	ring_copy(ring, at + place, &word, 8);
	if (word >= (size - place) / 8)
		return size;
	place += 8 + 8 * (size_t)word;
	ring_copy(ring, at + place, &word, 8);
	place += 8 + (word ? 8 * FX_REGISTER_COUNT : 0);
	if (size < place + 8)
		return size;
	ring_copy(ring, at + place, &room, 8);
	place += 8;
	if (!room || size < place + room + 8)
		return size;
	ring_copy(ring, at + place + room, &used, 8);
	return used < room ? place + (size_t)used : place + (size_t)room;
}

static size_t begin_size(const struct fx_ring *ring)
{
	return ring->is_tracepoints ? sizeof(struct fx_ring_sample_begin)
				    : sizeof(struct fx_ring_place_begin);
}

/* A record without its header; -1: it is none of ours. */
static ssize_t body_size(const struct fx_ring *ring, uint64_t body, uint32_t type, size_t size)
{
	size_t least =
	    type == PERF_RECORD_SAMPLE ? begin_size(ring) : sizeof(struct fx_ring_trailer);

	if (size < least)
		return -1;
	if (type == PERF_RECORD_SAMPLE)
		return (ssize_t)(ring->is_tracepoints ? size : sample_used(ring, body, size));
	return (ssize_t)(size - sizeof(struct fx_ring_trailer));
}

/* Samples have it at their begin, all others at their end. */
static struct fx_ring_trailer trailer_read(const struct fx_ring *ring,
					   const struct perf_event_header *header, uint64_t body)
{
	struct fx_ring_trailer ret;
	struct fx_ring_place_begin begin;

	if (header->type != PERF_RECORD_SAMPLE) {
		ring_copy(ring, body + header->size - sizeof(*header) - sizeof(ret), &ret,
			  sizeof(ret));
	} else if (ring->is_tracepoints) {
		ring_copy(ring, body + offsetof(struct fx_ring_sample_begin, trailer), &ret,
			  sizeof(ret));
	} else {
		ring_copy(ring, body, &begin, sizeof(begin));
		ret = (struct fx_ring_trailer){begin.pid, begin.tid, begin.ns, begin.cpu, 0};
	}
	return ret;
}

/* NULL without memory. */
static struct fx_ring_record *record_copy(const struct ring_reading *reading,
					  const struct perf_event_header *header, uint64_t body,
					  size_t size)
{
	struct fx_ring_record *record = malloc(sizeof(*record) + size);
	struct fx_ring_trailer trailer;

	if (!record)
		return NULL;
	trailer = trailer_read(reading->ring, header, body);
	*record = (struct fx_ring_record){
	    .ns = trailer.ns + (uint64_t)reading->clock,
	    .pid = trailer.pid,
	    .tid = trailer.tid,
	    .cpu = trailer.cpu,
	    .type = header->type,
	    .misc = header->misc,
	    .is_tracepoint = header->type == PERF_RECORD_SAMPLE && reading->ring->is_tracepoints,
	    .size = size,
	};
	ring_copy(reading->ring, body, record->body, size);
	return record;
}

/* PERF_RECORD_LOST: an id, and how many. */
static void take_lost(const struct ring_reading *reading, uint64_t body, size_t size)
{
	uint64_t lost[2];

	if (size < sizeof(lost))
		return;
	ring_copy(reading->ring, body, lost, sizeof(lost));
	fx_ring_queue_lose(reading->queue, lost[1]);
}

static void take_record(const struct ring_reading *reading, const struct perf_event_header *header,
			uint64_t body)
{
	size_t whole = header->size - sizeof(*header);
	ssize_t size;

	if (header->type == PERF_RECORD_LOST) {
		take_lost(reading, body, whole);
		return;
	}
	size = body_size(reading->ring, body, header->type, whole);
	if (size >= 0)
		fx_ring_queue_put(reading->queue, record_copy(reading, header, body, (size_t)size));
}

/* How long the machine has slept, in ns: by so much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. Of three looks that one counts
 * which took the least time, for a thread may be kept from going on between two readings. */
static int64_t time_slept(void)
{
	uint64_t least = UINT64_MAX;
	int64_t slept = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t before = fx_monotonic_ns(), boot = fx_boottime_ns(),
			 took = fx_monotonic_ns() - before;

		if (took >= least)
			continue;
		least = took;
		slept = boot - before <= took ? 0 : (int64_t)(boot - before - took / 2);
	}
	return slept;
}

void fx_ring_read(const struct fx_ring *ring, struct fx_ring_queue *queue)
{
	const struct ring_reading reading = {
	    .ring = ring,
	    .queue = queue,
	    .clock = ring->is_tracepoints ? time_slept() : 0,
	};
	/* acquire: pairs with the kernel's store behind the records (perf_event_open(2), data_head) */
	uint64_t head = fx_load_acquire(&ring->page->data_head), at = ring->page->data_tail;

	while (at < head) {
		struct perf_event_header header;

		ring_copy(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		take_record(&reading, &header, at + sizeof(header));
		at += header.size;
	}
	/* release: what was read is read. Pairs with the kernel's load before it writes there */
	fx_store_release(&ring->page->data_tail, at);
}
