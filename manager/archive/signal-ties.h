/* SPDX-License-Identifier: MIT */
/*
 * The thread that sent a signal that another took by sigwait(), sigwaitinfo(), sigtimedwait() or from a signalfd. Each side tells
 * when its call began and ended, in whatever order the manager comes to read it; so both are kept until the archive
 * ends, and then put together as the kernel's queues would have.
 *
 * A send that could have come later than another, or may have gone to a handler, or that another thread may have
 * taken, leaves a choice: then there is no arrow. Nor is there one for processes of which something told is missing,
 * and none at all once more than FX_SIGNALS_MAX were told.
 */
#ifndef FX_MANAGER_SIGNAL_TIES_H
#define FX_MANAGER_SIGNAL_TIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/layout.h"

#define FX_SIGNALS_MAX 65536u

/* Of a thread that nobody knows. */
#define FX_SIGNAL_ANY_THREAD UINT32_MAX

/* A process that nobody has heard of. */
#define FX_SIGNAL_UNKNOWN_PID UINT32_MAX

enum fx_signal_state {
	FX_SIGNAL_PENDING,
	FX_SIGNAL_DOUBTFUL, /* it may be gone */
	FX_SIGNAL_GONE,
};

/* A signal that was sent, or taken, as it is told. */
struct fx_signal {
	uint32_t provider;
	uint32_t pid, tid;	       /* the kernel's, and as the process calls the thread */
	uint32_t shown_pid, shown_tid; /* as the archive has them */
	uint64_t begin, end;	       /* of the call, ns */
	uint64_t number;	       /* of what the process tells of signals, one by one */
	uint64_t since;		       /* taken: the process began; ns */
	uint32_t other;	 /* to this process, 0: to some; or taken from this one, 0: nobody knows */
	uint32_t thread; /* to this thread of it; 0: to any */
	int32_t signal;
	enum fx_signal_way way;
	bool taken;
	bool sole; /* taken: those that are not taken this way stay pending */
	/* of fx_signals_settle() */
	enum fx_signal_state state;
	bool torn;
};

struct fx_signals {
	struct fx_signal *told;
	size_t count, room;
	bool full;
};

/* False, and it is not kept: it cannot be, or there is no room. */
bool fx_signals_add(struct fx_signals *signals, const struct fx_signal *signal);

typedef void fx_signals_draw(void *context, const struct fx_signal *sent,
			     const struct fx_signal *taken);

/* Draws all that is certain, and forgets all. */
void fx_signals_settle(struct fx_signals *signals, fx_signals_draw *draw, void *context);

void fx_signals_forget(struct fx_signals *signals);

#endif
