/* SPDX-License-Identifier: MIT */
/*
 * What the manager adds to a provider's records: how many were lost and when, what the clocks did, and the heap counter's
 * last value. The calls that were open at the end are added by open-calls.h.
 */
#ifndef FX_MANAGER_MARKS_H
#define FX_MANAGER_MARKS_H

#include <stdint.h>

#include "engine/reader/drain.h"
#include "manager/archive/stream.h"

/* What is known of the thread of a slot: its losses. */
void fx_marks_thread(struct fx_stream *s, uint32_t slot, const struct fx_thread_facts *facts);

/* That one of the clocks has jumped at `ns`, or the counter's rate has changed: on the process's first thread. */
void fx_marks_clock(struct fx_stream *s, enum fx_timebase_finding found, int64_t by, uint64_t ns);

/* What is to be said last. */
void fx_marks_last(struct fx_stream *s, const struct fx_stream_end *end);

#endif
