/* SPDX-License-Identifier: MIT */
/* What the kernel says of who has a processor becomes records (kernel/records.h). */
#ifndef FX_KERNEL_SCHEDULING_H
#define FX_KERNEL_SCHEDULING_H

#include <stdbool.h>

#include "kernel/ring-record.h"
#include "kernel/tasks.h"
#include "kernel/tracepoint.h"

/* PERF_RECORD_SWITCH. `has_tracepoints': they come as well, and say better how a thread lost its processor. */
void fx_scheduling_switch(const struct fx_ring_record *record, bool has_tracepoints);

/* Whether a thread loses its processor for good. */
bool fx_scheduling_is_end(const struct fx_tracepoint_event *event);

/* Its tracepoints; nothing if it is another one. The record is that of the event. `tasks': whose threads are told when they move to
 * another processor. */
void fx_scheduling_tracepoint(const struct fx_tracepoint_event *event,
			      const struct fx_ring_record *record, const struct fx_tasks *tasks);

#endif
