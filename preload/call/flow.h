/* SPDX-License-Identifier: MIT */
/*
 * Flows: arrows of the viewer from what caused something to what it caused.
 *
 * A flow binds to the slice or instant that stands before it at the same time. So each end of an arrow is
 * written together with an anchor of its own, an instant; and both ends are written by the thread that the arrow comes
 * to, in one piece: the whole arrow is in the trace, or nothing of it.
 */
#ifndef FX_PRELOAD_FLOW_H
#define FX_PRELOAD_FLOW_H

#include <sys/types.h>

#include "engine/provider/engine.h"
#include "preload/call/waits.h"

/* Builtin strings: what an end of an arrow is called, and an address that is shown there (NULL: none). */
struct fx_flow_end {
	unsigned category, name;
	unsigned arg;
	const volatile void *object;
	bool tells; /* the instant that the arrow comes to says from which thread */
};

/* Two instants, one with an address, one with a thread and a length of time, and two flow records. */
#define FX_ARROW_WORDS 19

/* Writes an arrow from `from` (whose tid is known) to what calling thread `t` does at `to_time`: an instant called
 * `anchor`. Returns the next free word. */
uint64_t *fx_arrow_put(uint64_t *words, struct fx_thread *t, const struct fx_source *from,
		       const struct fx_flow_end *to, unsigned anchor, uint64_t to_time);

/* Where an arrow is to begin later: the calling thread does something of this name now. */
struct fx_source fx_source_now(struct fx_thread *t, unsigned name);

/* Writes an instant, and with a source that is known an arrow to it. */
void fx_flow_in(struct fx_thread *t, unsigned category, unsigned name,
		const struct fx_source *from);

/* Tells the manager what the calling thread does to process `pid` now: the manager draws the arrow, if it knows that
 * process. Nothing if the category process is off. */
void fx_tie_now(enum fx_tie_kind kind, pid_t pid, int value);

/* That it has made a process since `time` (ticks; 0: not known, and nothing is told). Whether the process will be heard
 * of is told whatever is recorded. */
void fx_tie_created(pid_t pid, bool registers, uint64_t time);

/* That the process becomes a program that will register (preload/call/execs.h tells more of it where that is to be
 * shown); or, told that before, that it has not. Whatever is recorded, too. */
void fx_tie_execs(bool execs);

/* What a tie says of a process that is made or becomes another program. */
int fx_tie_value(bool registers);

/* When a call begins that may send or take a signal; 0: nobody wants to know. */
uint64_t fx_signal_begin(void);

/* It has sent one: to process `pid` (0: to some), to `thread` of it alone (0: to any, -1: not known). */
void fx_signal_sent(uint64_t begin, pid_t pid, pid_t thread, int signal, enum fx_signal_way way);

/* It has taken one, which `pid` sent (0: not known), by what siginfo_t calls its code. */
void fx_signal_taken(uint64_t begin, int signal, int code, pid_t pid);

/* The same by sigwait(), which says no more. */
void fx_signal_waited(uint64_t begin, int signal);

#endif
