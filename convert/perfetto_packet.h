/* SPDX-License-Identifier: MIT */
/*
 * Packets of Perfetto's format: sequences, clocks, interned strings. What stands above, in
 * perfetto.c, is the mapping of events to packets, with its parts: tracks (perfetto_tracks.h),
 * arguments (perfetto_args.h), scheduling (perfetto_ftrace.h).
 */
#ifndef FX_CONVERT_PERFETTO_PACKET_H
#define FX_CONVERT_PERFETTO_PACKET_H

#include <stdint.h>

#include "convert/sink.h"
#include "convert/perfetto.pb-c.h"
#include "convert/texts.h"
#include "convert/vector.h"

/* The kinds of strings that a sequence interns; each counts ids of its own. */
enum fx_intern_kind {
	FX_INTERN_CATEGORY,
	FX_INTERN_NAME,
	FX_INTERN_ARG_NAME,
	FX_INTERN_ARG_VALUE,
	FX_INTERN_LOG,
	FX_INTERN_KIND_COUNT,
};

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

/* Writes an event of the current sequence. */
void fx_packets_write_event(struct fx_packets *packets, uint64_t ts, Fx__Pf__TrackEvent *event);

/* Writes any other packet. @packet: without sequence, flags, time. */
void fx_packets_write(struct fx_packets *packets, Fx__Pf__TracePacket *packet);

#endif
