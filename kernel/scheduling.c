/* SPDX-License-Identifier: MIT */
#include "kernel/scheduling.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/event-record.h"
#include "kernel/records.h"

/* Of each processor the thread of which a tracepoint has said how it lost it, as long as its record of the switch has yet to come; 0: none. */
struct fx_scheduling {
	uint32_t cpus;
	uint32_t told[];
};

struct fx_scheduling *fx_scheduling_create(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct fx_scheduling *scheduling;

	if (cpus < 1)
		cpus = 1;
	scheduling = calloc(1, sizeof(*scheduling) + (size_t)cpus * sizeof(scheduling->told[0]));
	if (scheduling)
		scheduling->cpus = (uint32_t)cpus;
	return scheduling;
}

void fx_scheduling_destroy(struct fx_scheduling *scheduling)
{
	free(scheduling);
}

/* Whether it was that one; then it is no more. */
static bool told_take(struct fx_scheduling *scheduling, const struct fx_ring_record *record)
{
	bool is_told =
	    record->cpu < scheduling->cpus && scheduling->told[record->cpu] == record->tid;

	if (record->cpu < scheduling->cpus)
		scheduling->told[record->cpu] = 0;
	return is_told;
}

void fx_scheduling_switch(struct fx_scheduling *scheduling, const struct fx_ring_record *record)
{
	enum fx_kernel_switch what = FX_SWITCH_IN;

	if (told_take(scheduling, record) && record->misc & PERF_RECORD_MISC_SWITCH_OUT)
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

/* A thread that has ended has no number, and is in no process, when it is switched away; but the number that the tracepoint says is not that of
 * this pid namespace. */
static void scheduling_switched(struct fx_scheduling *scheduling,
				const struct fx_tracepoint_event *event,
				const struct fx_ring_record *record)
{
	struct fx_task task = {record->pid, record->tid};

	if (task.tid > INT32_MAX)
		task.tid = (uint32_t)fx_tracepoint_value(event, FX_FIELD_SWITCH_TID, 0);

	if (!task.tid || record->cpu >= scheduling->cpus)
		return;
	scheduling->told[record->cpu] = task.tid;
	fx_kernel_switch(task, record->ns, record->cpu,
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

void fx_scheduling_tracepoint(struct fx_scheduling *scheduling,
			      const struct fx_tracepoint_event *event,
			      const struct fx_ring_record *record, const struct fx_tasks *tasks)
{
	if (event->tracepoint == FX_TRACEPOINT_SWITCH)
		scheduling_switched(scheduling, event, record);
	else if (event->tracepoint == FX_TRACEPOINT_WAKING)
		scheduling_woken(event, record);
	else if (event->tracepoint == FX_TRACEPOINT_MIGRATE)
		scheduling_migrated(event, record, tasks);
}
