/* SPDX-License-Identifier: MIT */
/* What the kernel says of who has a processor becomes records (kernel/records.h). */
#ifndef FX_KERNEL_SCHEDULING_H
#define FX_KERNEL_SCHEDULING_H

#include <stdbool.h>

#include "kernel/ring-record.h"
#include "kernel/tasks.h"
#include "kernel/tracepoint.h"

struct fx_scheduling;

/* NULL without memory. */
struct fx_scheduling *fx_scheduling_create(void);
void fx_scheduling_destroy(struct fx_scheduling *scheduling);

/* PERF_RECORD_SWITCH, which does not say all that a tracepoint in front of it may have said: then that counts. */
void fx_scheduling_switch(struct fx_scheduling *scheduling, const struct fx_ring_record *record);

/* Whether a thread loses its processor for good. */
bool fx_scheduling_is_end(const struct fx_tracepoint_event *event);

/* Its tracepoints; nothing if it is another one. The record is that of the event. `tasks': whose threads are told when they move to
 * another processor. */
void fx_scheduling_tracepoint(struct fx_scheduling *scheduling,
			      const struct fx_tracepoint_event *event,
			      const struct fx_ring_record *record, const struct fx_tasks *tasks);

#endif
