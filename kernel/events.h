/* SPDX-License-Identifier: MIT */
/* The kernel's categories beside switches and system calls: kernel:irq and its like, and tracepoints by name. */
#ifndef FX_KERNEL_EVENTS_H
#define FX_KERNEL_EVENTS_H

#include "kernel/points.h"
#include "kernel/ring-record.h"
#include "kernel/tracepoint.h"

struct fx_events;

/* `points' outlive it. NULL without memory. */
struct fx_events *fx_events_create(const struct fx_points *points);
void fx_events_destroy(struct fx_events *events);

/* One of our own tracepoints; nothing if it is of none of these categories. */
void fx_events_take(struct fx_events *events, const struct fx_tracepoint_event *event,
		    const struct fx_ring_record *record);

/* What a tracepoint's record says; nothing if it is none that the user has named. */
void fx_events_named(const struct fx_events *events, const struct fx_ring_record *record,
		     const uint8_t *bytes, size_t size);

/* A page fault. `file' and where in it, NULL: not known. */
void fx_events_fault(const struct fx_ring_record *record, uint64_t ip, uint64_t address,
		     const char *file, uint64_t offset);

/* No more records come. */
void fx_events_finish(struct fx_events *events);

#endif
