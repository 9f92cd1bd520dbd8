/* SPDX-License-Identifier: MIT */
/* A thread of another process that is held by ptrace(2), one at a time. If this process ends, it goes on. */
#ifndef FX_ATTACH_THREAD_H
#define FX_ATTACH_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct fx_held {
	pid_t tid;
	bool stopped;
	int signal; /* that it was just to get, when it is let go on; 0: none */
};

/* Why it has stopped. */
enum fx_stop {
	FX_STOP_NOT,	/* it has not, so far */
	FX_STOP_GONE,	/* it has ended */
	FX_STOP_ASKED,	/* as it was told to; of another stop of the whole process, too */
	FX_STOP_SIGNAL, /* it is to get one */
	FX_STOP_ENTRY,	/* of a system call */
	FX_STOP_EXIT,
};

/* From now on it can be stopped; it runs. 0 or -errno. */
int fx_held_begin(struct fx_held *ret, pid_t tid);

/* Tells it to stop, if it is stopped already once more, and waits for that: FX_STOP_ASKED, or where it was on its way to another
 * stop, that. */
enum fx_stop fx_held_stop(struct fx_held *held, unsigned ms);

/* Of a thread that is stopped: up to the next begin or end of a system call, or until it is told to stop, or `ms` are over. Signals
 * that come are handed on. */
enum fx_stop fx_held_run(struct fx_held *held, unsigned ms);

/* Goes on waiting after FX_STOP_NOT. */
enum fx_stop fx_held_wait(struct fx_held *held, unsigned ms);

bool fx_held_registers(const struct fx_held *held, struct user_regs_struct *ret);
bool fx_held_set_registers(const struct fx_held *held, const struct user_regs_struct *registers);

/* Of a thread that is stopped: it is let go. */
void fx_held_end(struct fx_held *held);

#endif
