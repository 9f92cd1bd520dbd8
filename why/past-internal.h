/* SPDX-License-Identifier: MIT */
/*
 * What the files that collect the past share: a walk through all events (past-seen.c), of each thread the waits (past-waits.c), and the
 * arrows that end them, of which both ends must be known (past-arrows.c).
 */
#ifndef FX_WHY_PAST_INTERNAL_H
#define FX_WHY_PAST_INTERNAL_H

#include "why/past.h"

/* Where an arrow begins. */
struct fx_past_beginning {
	uint64_t chain;
	uint64_t ts;
	uint64_t thread;
};

struct fx_past_call {
	uint32_t name;
	uint8_t kind; /* enum fx_call_kind */
};

struct fx_past_collector {
	struct fx_exporter exporter; /* first: the walk hands it to us */
	struct fx_why_past *past;
	const char *slice;
	struct fx_waiting waiting;
	struct fx_runs beginnings;
	/* Of the thread at hand: */
	struct fx_why_life *life;
	const struct fx_thread *thread;
	FX_VECTOR(struct fx_past_call) open;
	struct fx_why_wait wait; /* the last one, not in the list yet */
	bool has_wait;
	uint32_t
	    file; /* that it has found, if it is a poll, or reads: the number of a text; 0: not one alone */
	uint32_t found;		  /* that of the wait before, if that is a poll, and in the list */
	FX_VECTOR(uint8_t) kinds; /* of categories: 1 + enum fx_call_kind */
};

/* A call of the thread at hand that waits, until `end'. */
void fx_past_begin_wait(struct fx_past_collector *collector, const struct fx_event *event,
			uint64_t end, enum fx_wait_kind kind);

/* The last wait goes into the list: nothing more is to be said of it. */
void fx_past_keep_wait(struct fx_past_collector *collector);

/* How beginnings are sorted. */
extern const struct fx_runs_kind fx_past_beginnings_kind;

void fx_past_arrow_begins(struct fx_past_collector *collector, const struct fx_event *event,
			  uint64_t chain);
void fx_past_arrow_ends(struct fx_past_collector *collector, const struct fx_event *event,
			uint64_t chain);

/* The ends of messages' arrows that stand at the call itself. */
void fx_past_messages(struct fx_past_collector *collector, const struct fx_event *event);

/* Once all is seen: gives what arrows end in the times at which they begin. 0 or -errno. */
int fx_past_resolve(struct fx_past_collector *collector);

/* What is done with each event. */
extern const struct fx_exporter_ops fx_past_ops;

#endif
