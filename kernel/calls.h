/* SPDX-License-Identifier: MIT */
/*
 * System calls of processes in which nothing is preloaded: from the tracepoints of their begin and end to one record for each.
 */
#ifndef FX_KERNEL_CALLS_H
#define FX_KERNEL_CALLS_H

#include <stdint.h>

#include "kernel/call-table.h"
#include "kernel/task.h"
#include "kernel/texts.h"

struct fx_calls;

/* NULL without memory. */
struct fx_calls *fx_calls_create(void);
void fx_calls_destroy(struct fx_calls *calls);

/* A thread begins a call, and ends it: with what it returns, or a negative errno. */
void fx_calls_begin(struct fx_calls *calls, struct fx_task task, uint64_t ns, int64_t number,
		    const uint64_t args[FX_CALL_ARGS]);
void fx_calls_end(struct fx_calls *calls, struct fx_task task, uint64_t ns, int64_t number,
		  int64_t result);

/* A text that an argument of a call points to: of the one that begins next, or of the one that is under way. */
void fx_calls_text(struct fx_calls *calls, struct fx_task task, const struct fx_text_found *text);

/* A thread has ended: so has what it was in. */
void fx_calls_thread_ends(struct fx_calls *calls, uint32_t tid, uint64_t ns);

/* What a process has begun is not told: from now on it tells of its calls itself. */
void fx_calls_forget(struct fx_calls *calls, uint32_t pid);

/* All is over: what is open is so until then. */
void fx_calls_finish(struct fx_calls *calls, uint64_t ns);

#endif
