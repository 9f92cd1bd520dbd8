/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/perfetto/ftrace.h"
#include "convert/perfetto/system.h"
#include "convert/utf8.h"

void fx_ftrace_flush(struct fx_ftrace *ftrace)
{
	Fx__Pf__TracePacket packet = FX__PF__TRACE_PACKET__INIT;
	Fx__Pf__FtraceEventBundle bundle = FX__PF__FTRACE_EVENT_BUNDLE__INIT;

	if (ftrace->count == 0)
		return;
	bundle.has_cpu = 1;
	bundle.cpu = ftrace->cpu;
	bundle.event = ftrace->list;
	bundle.n_event = ftrace->count;
	packet.ftrace_events = &bundle;
	fx_packets_write(ftrace->packets, &packet);
	ftrace->count = 0;
}

/* A place for an event in the bundle of its processor. */
static size_t add_to_bundle(struct fx_ftrace *ftrace, uint32_t cpu, uint64_t ts, uint64_t tid)
{
	size_t at;

	if (!ftrace->system_described)
		fx_system_write_any(ftrace->packets);
	ftrace->system_described = true;
	if (ftrace->count == FX_FTRACE_MAX || ftrace->cpu != cpu)
		fx_ftrace_flush(ftrace);
	ftrace->cpu = cpu;
	at = ftrace->count++;
	fx__pf__ftrace_event__init(&ftrace->events[at]);
	ftrace->list[at] = &ftrace->events[at];
	ftrace->events[at].has_timestamp = ftrace->events[at].has_pid = 1;
	ftrace->events[at].timestamp = ts;
	ftrace->events[at].pid = (uint32_t)tid;
	return at;
}

static char *set_comm(char *comm, const struct fx_sched_side *side, uint32_t cpu)
{
	if (side->tid == 0)
		snprintf(comm, FX_COMM_LENGTH, "swapper/%u", cpu);
	else
		snprintf(comm, FX_COMM_LENGTH, "%s", side->name ? side->name->data : "");
	/* What the cut took the end of is no character any more. */
	while (*comm && !fx_utf8_is_clean(comm, strlen(comm)))
		comm[strlen(comm) - 1] = '\0';
	return comm;
}

/* The kernel's numbers for states. */
static int64_t linux_state(uint8_t state, bool uninterruptible)
{
	switch (state) {
	case FXT_THREAD_STATE_SUSPENDED:
		return 0x04; /* stopped */
	case FXT_THREAD_STATE_BLOCKED:
		return uninterruptible ? 0x02 : 0x01; /* sleep */
	case FXT_THREAD_STATE_DYING:
		return 0x20; /* zombie */
	case FXT_THREAD_STATE_DEAD:
		return 0x10;
	default:
		return 0; /* runnable */
	}
}

void fx_ftrace_add_switch(struct fx_ftrace *ftrace, const struct fx_switch *sched)
{
	size_t at = add_to_bundle(ftrace, sched->cpu, sched->ts, sched->outgoing.tid);
	Fx__Pf__SchedSwitch *message = &ftrace->switches[at];

	fx__pf__sched_switch__init(message);
	message->prev_comm = set_comm(ftrace->comms[at][0], &sched->outgoing, sched->cpu);
	message->next_comm = set_comm(ftrace->comms[at][1], &sched->incoming, sched->cpu);
	message->has_prev_pid = message->has_next_pid = 1;
	message->prev_pid = (int32_t)sched->outgoing.tid;
	message->next_pid = (int32_t)sched->incoming.tid;
	message->has_prev_prio = message->has_next_prio = 1;
	message->prev_prio = sched->outgoing.priority;
	message->next_prio = sched->incoming.priority;
	message->has_prev_state = 1;
	message->prev_state = linux_state(sched->outgoing_state, sched->uninterruptible);
	ftrace->events[at].sched_switch = message;
}

void fx_ftrace_add_wakeup(struct fx_ftrace *ftrace, const struct fx_wakeup *wakeup)
{
	size_t at = add_to_bundle(ftrace, wakeup->cpu, wakeup->ts, wakeup->waker);
	Fx__Pf__SchedWaking *message = &ftrace->wakings[at];

	fx__pf__sched_waking__init(message);
	message->comm = set_comm(ftrace->comms[at][0], &wakeup->thread, wakeup->cpu);
	message->has_pid = message->has_prio = 1;
	message->pid = (int32_t)wakeup->thread.tid;
	message->prio = wakeup->thread.priority;
	message->has_success = message->success = 1;
	message->has_target_cpu = 1;
	message->target_cpu = (int32_t)wakeup->cpu;
	ftrace->events[at].sched_waking = message;
}
