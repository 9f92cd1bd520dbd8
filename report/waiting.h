/* SPDX-License-Identifier: MIT */
/* Calls that wait, and for what: the table is waiting.def. */
#ifndef FX_REPORT_WAITING_H
#define FX_REPORT_WAITING_H

#include "lists/vector.h"
#include "report/section.h"

/* X(NAME, "for people") */
#define FX_WAIT_KINDS(X)                                                                           \
	X(LOCK, "a lock")                                                                          \
	X(CONDITION, "a condition")                                                                \
	X(SEMAPHORE, "a semaphore")                                                                \
	X(BARRIER, "a barrier")                                                                    \
	X(THREAD, "a thread's end")                                                                \
	X(CHILD, "a child")                                                                        \
	X(SLEEP, "time to pass")                                                                   \
	X(POLL, "one of several descriptors")                                                      \
	X(SIGNAL, "a signal")                                                                      \
	X(PEER, "a peer")

#define FX_ENUM_WAIT_KIND_(name, text) FX_WAIT_##name,
enum fx_wait_kind {
	FX_WAIT_NONE, /* it does not wait */
	FX_WAIT_KINDS(FX_ENUM_WAIT_KIND_) FX_WAIT_KIND_COUNT
};

/* What is remembered of names; all zeros is an empty one. */
struct fx_waiting {
	FX_VECTOR(uint8_t)
	kinds; /* by the number of the name: 1 + enum fx_wait_kind; 0: not looked at */
};

void fx_waiting_free(struct fx_waiting *waiting);

/* Calls of other kinds wait for nothing. */
#define FX_KINDS_THAT_WAIT (FX_KIND(SYSCALL) | FX_KIND(PTHREAD) | FX_KIND(PROCESS) | FX_KIND(STDIO))

static inline bool fx_waiting_may(const struct fx_open_call *call)
{
	return FX_KINDS_THAT_WAIT >> call->kind & 1;
}

/* What a call waits for; its name is a number of these texts. */
enum fx_wait_kind fx_waiting_of(struct fx_waiting *waiting, const struct fx_texts *texts,
				const struct fx_open_call *call, const struct fx_event *event);

/* What a call of this name may wait for; one for a PEER does only where its descriptor leads to one. */
enum fx_wait_kind fx_waiting_of_name(const char *name);

/* "a lock" */
const char *fx_wait_kind_text(enum fx_wait_kind kind);

#endif
