/* SPDX-License-Identifier: MIT */
#include "kernel/scheduling.h"

#include <linux/perf_event.h>
#include <string.h>

#include "kernel/event-record.h"
#include "kernel/records.h"

void fx_scheduling_switch(const struct fx_ring_record *record, bool has_tracepoints)
{
	enum fx_kernel_switch what = FX_SWITCH_IN;

	if (has_tracepoints && record->misc & PERF_RECORD_MISC_SWITCH_OUT)
		return;
	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		what = FX_SWITCH_PREEMPTED;
	else if (record->misc & PERF_RECORD_MISC_SWITCH_OUT)
		what = FX_SWITCH_WAITS;
	if (record->tid && record->tid <= INT32_MAX)
		fx_kernel_switch((struct fx_task){record->pid, record->tid}, record->ns,
				 record->cpu, what);
}

/* TASK_* of the kernel's, as sched_switch has them: 0 runnable, and bits; what is above them says that it was taken away. */
enum { TASK_DEEP = 0x2, TASK_STOPPED = 0x4 | 0x8, TASK_ENDS = 0x10 | 0x20, TASK_WAITS = 0xff };

static enum fx_kernel_switch switch_of_state(int64_t state)
{
	if (!(state & TASK_WAITS))
		return FX_SWITCH_PREEMPTED;
	if (state & TASK_ENDS)
		return FX_SWITCH_ENDS;
	if (state & TASK_STOPPED)
		return FX_SWITCH_STOPPED;
	return state & TASK_DEEP ? FX_SWITCH_WAITS_DEEP : FX_SWITCH_WAITS;
}

bool fx_scheduling_is_end(const struct fx_tracepoint_event *event)
{
	return event->tracepoint == FX_TRACEPOINT_SWITCH &&
	       switch_of_state(fx_tracepoint_value(event, FX_FIELD_SWITCH_STATE, 0)) ==
		   FX_SWITCH_ENDS;
}

/* A thread that has ended is in no process when it is switched away. */
static void scheduling_switched(const struct fx_tracepoint_event *event,
				const struct fx_ring_record *record)
{
	struct fx_task task = {record->pid,
			       (uint32_t)fx_tracepoint_value(event, FX_FIELD_SWITCH_TID, 0)};

	if (task.tid)
		fx_kernel_switch(
		    task, record->ns, record->cpu,
		    switch_of_state(fx_tracepoint_value(event, FX_FIELD_SWITCH_STATE, 0)));
}

/* In an interrupt the thread whose processor that took has woken nobody; and one that has ended has no number any more. */
static void scheduling_woken(const struct fx_tracepoint_event *event,
			     const struct fx_ring_record *record)
{
	int64_t tid = fx_tracepoint_value(event, FX_FIELD_WAKING_TID, 0);
	bool has_waker = !fx_tracepoint_is_of_interrupt(event) && record->tid <= INT32_MAX;

	if (tid > 0)
		fx_kernel_wakeup((uint32_t)tid, record->ns,
				 (uint32_t)fx_tracepoint_value(event, FX_FIELD_WAKING_CPU, 0),
				 has_waker ? record->tid : 0);
}

/* The thread that is moved is not the one that runs. */
static void scheduling_migrated(const struct fx_tracepoint_event *event,
				const struct fx_ring_record *record, const struct fx_tasks *tasks)
{
	uint32_t tid = (uint32_t)fx_tracepoint_value(event, FX_FIELD_MIGRATE_TID, 0);
	struct fx_kernel_event moved = {
	    .task = {fx_tasks_process(tasks, tid), tid},
	    .ns = record->ns,
	    .category = "sched",
	    .name = {"migrated", strlen("migrated")},
	};

	if (!moved.task.pid)
		return;
	fx_event_int(&moved, "from", fx_tracepoint_value(event, FX_FIELD_MIGRATE_FROM, 0));
	fx_event_int(&moved, "to", fx_tracepoint_value(event, FX_FIELD_MIGRATE_TO, 0));
	fx_kernel_record_event(&moved);
}

void fx_scheduling_tracepoint(const struct fx_tracepoint_event *event,
			      const struct fx_ring_record *record, const struct fx_tasks *tasks)
{
	if (event->tracepoint == FX_TRACEPOINT_SWITCH)
		scheduling_switched(event, record);
	else if (event->tracepoint == FX_TRACEPOINT_WAKING)
		scheduling_woken(event, record);
	else if (event->tracepoint == FX_TRACEPOINT_MIGRATE)
		scheduling_migrated(event, record, tasks);
}
