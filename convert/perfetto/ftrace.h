/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler did, as events of ftrace, which is how Perfetto takes it: bundles of events of
 * one processor.
 */
#ifndef FX_CONVERT_PERFETTO_FTRACE_H
#define FX_CONVERT_PERFETTO_FTRACE_H

#include "convert/export.h"
#include "convert/perfetto/packet.h"

enum {
	FX_FTRACE_MAX = 256, /* events in a bundle */
	FX_COMM_LENGTH = 16, /* bytes of a thread's name, with the terminator */
};

/* The events that wait for their packet, all of one processor. All zeros but @packets: none. */
struct fx_ftrace {
	struct fx_packets *packets; /* where they go */
	uint32_t cpu;
	size_t count;
	Fx__Pf__FtraceEvent events[FX_FTRACE_MAX];
	Fx__Pf__FtraceEvent *list[FX_FTRACE_MAX];
	Fx__Pf__SchedSwitch switches[FX_FTRACE_MAX];
	Fx__Pf__SchedWaking wakings[FX_FTRACE_MAX];
	char comms[FX_FTRACE_MAX][2][FX_COMM_LENGTH];
	bool system_described; /* set if it is before the first event */
};

void fx_ftrace_add_switch(struct fx_ftrace *ftrace, const struct fx_switch *sched);
void fx_ftrace_add_wakeup(struct fx_ftrace *ftrace, const struct fx_wakeup *wakeup);

/* Writes what waits. */
void fx_ftrace_flush(struct fx_ftrace *ftrace);

#endif
