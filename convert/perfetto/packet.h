/* SPDX-License-Identifier: MIT */
/*
 * Packets of Perfetto's format: sequences, clocks, interned strings. What stands above, in
 * events.c, is the mapping of events to packets, with its parts: tracks (tracks.h), arguments (args.h),
 * scheduling (ftrace.h).
 */
#ifndef FX_CONVERT_PERFETTO_PACKET_H
#define FX_CONVERT_PERFETTO_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/sink.h"
#include "convert/perfetto/perfetto.pb-c.h"
#include "convert/texts.h"
#include "lists/vector.h"

/* The kinds of strings that a sequence interns; each counts ids of its own. */
enum fx_intern_kind {
	FX_INTERN_CATEGORY,
	FX_INTERN_NAME,
	FX_INTERN_ARG_NAME,
	FX_INTERN_ARG_VALUE,
	FX_INTERN_LOG,
	FX_INTERN_FUNCTION,
	FX_INTERN_STACK,   /* no string of its own: see fx_packets_add_stack() */
	FX_INTERN_MAPPING, /* the one that all frames belong to */
	FX_INTERN_KIND_COUNT,
};

/* Frames of one stack. */
enum { FX_STACK_FRAMES = 256 };

struct fx_interned {
	Fx__Pf__InternedString message;
	enum fx_intern_kind kind;
};

struct fx_packets {
	struct fx_sink *sink;
	struct fx_texts *strings; /* borrowed */
	uint32_t sequence;	  /* the current one; 0: none yet */
	uint64_t last_ts;	  /* of the current sequence; the next packet is at or behind it */

	/* By number of the string: the sequence that interned it last. */
	FX_VECTOR(uint32_t) seen[FX_INTERN_KIND_COUNT];
	/* What the packet in work is the first of its sequence to name. */
	FX_VECTOR(struct fx_interned) fresh;
	FX_VECTOR(Fx__Pf__InternedString *) fresh_by_kind;
	/* The same of stacks; an event has one at most. */
	struct {
		Fx__Pf__Mapping mapping, *mappings[1];
		Fx__Pf__Frame frames[FX_STACK_FRAMES], *frame_list[FX_STACK_FRAMES];
		Fx__Pf__Callstack stack, *stacks[1];
		uint64_t frame_ids[FX_STACK_FRAMES];
		size_t mapping_count, frame_count, stack_count;
	} fresh_stack;
	int error; /* 0 or -ENOMEM */
};

/* @first_sequence: ids below belong to others. */
void fx_packets_init(struct fx_packets *packets, struct fx_sink *sink, struct fx_texts *strings,
		     uint32_t first_sequence);
void fx_packets_release(struct fx_packets *packets);

/* Begins a sequence whose events stand, unless they say otherwise, on @track, from @ts on. */
void fx_packets_begin_sequence(struct fx_packets *packets, uint64_t track, uint64_t ts);

/*
 * The id of a string, which goes into the next packet if it is new to the sequence. @id: its number
 * in the table, not 0.
 */
uint64_t fx_packets_intern(struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id);

/* Whether the current sequence names this for the first time; from now on it does not. */
bool fx_packets_is_new(struct fx_packets *packets, enum fx_intern_kind kind, uint32_t id);

/* The id of a stack's frame in the function of this name. */
uint64_t fx_packets_intern_frame(struct fx_packets *packets, uint32_t name);

/* A stack of @count frames, at most FX_STACK_FRAMES, the outermost first; for the next packet. */
void fx_packets_add_stack(struct fx_packets *packets, uint64_t id, const uint64_t *frames,
			  size_t count);

/* Writes an event of the current sequence. */
void fx_packets_write_event(struct fx_packets *packets, uint64_t ts, Fx__Pf__TrackEvent *event);

/*
 * The same for an event that has no more than these, 0: none. False, and nothing was written: a string is
 * new to the sequence.
 */
bool fx_packets_write_plain(struct fx_packets *packets, uint64_t ts, Fx__Pf__TrackEvent__Type type,
			    uint32_t category, uint32_t name);

/*
 * Writes a packet of the current sequence that is no event, with what it is the first to name. @packet: without
 * sequence, flags, time, interned data.
 */
void fx_packets_write_next(struct fx_packets *packets, uint64_t ts,
			   const Fx__Pf__TracePacket *packet);

/* Writes any other packet. @packet: without sequence, flags, time. */
void fx_packets_write(struct fx_packets *packets, Fx__Pf__TracePacket *packet);

#endif
