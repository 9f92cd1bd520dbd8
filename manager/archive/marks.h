/* SPDX-License-Identifier: MIT */
/*
 * What the manager adds to a provider's records: the calls that were open at the end, how many records were lost and
 * when, and the heap counter's last value.
 */
#ifndef FX_MANAGER_MARKS_H
#define FX_MANAGER_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/reader/drain.h"
#include "manager/archive/stream.h"

/* What is known of the thread of a slot: its losses. */
void fx_marks_thread(struct fx_stream *s, uint32_t slot, const struct fx_thread_facts *facts);

/* The open calls of a thread. */
void fx_marks_frames(struct fx_stream *s, const struct fx_piece *piece,
		     const struct fx_frame *frames, uint64_t end_ticks);

/* That one of the clocks has jumped at `ns`, or the counter's rate has changed: on the process's first thread. */
void fx_marks_clock(struct fx_stream *s, enum fx_timebase_finding found, int64_t by, uint64_t ns);

/* Whether the names of these calls, and of what they wait for, are known, as far as they will be. */
bool fx_marks_frames_are_named(struct fx_stream *s, const struct fx_piece *piece,
			       const struct fx_frame *frames);

/* What is to be said last. */
void fx_marks_last(struct fx_stream *s, const struct fx_stream_end *end);

#endif
