/* SPDX-License-Identifier: MIT */
/*
 * What an output format implements. fx_convert() (convert.h) reads an archive, puts its events in
 * order, and makes these calls:
 *
 *     begin
 *     process, thread              each once, before their events
 *     for each thread:             enter_thread; slice_begin, slice_end, instant, counter, log
 *                                  in order of time, properly nested
 *     async_*                      in order of time, properly nested within each track
 *     note, sched_*, embedded
 *     finish                       always, also after errors
 *
 * Some may be NULL, as said there; what a format cannot hold is counted as left out. No call
 * returns an error: those of output stay in the struct fx_sink, those of memory in `error',
 * until the end. What the calls are given lives as long as the call.
 */
#ifndef FX_CONVERT_EXPORT_H
#define FX_CONVERT_EXPORT_H

#include <stdbool.h>

#include "convert/flows.h"
#include "convert/sink.h"
#include "convert/timeline.h"

/* An event: where and when, and what its record or records say. */
struct fx_event {
	const struct fx_thread *thread;
	uint64_t ts;
	uint64_t end;			   /* slices: when; UINT64_MAX: it did not finish */
	const struct fxt_string *category; /* `serial' is the number in the timeline's strings */
	const struct fxt_string *name;
	const struct fxt_arg *args;
	uint32_t nargs;
	const struct fxt_arg *end_args; /* slices of begin and end: those of the end record */
	uint32_t end_nargs;
	/* Where its records stand, for fx_timeline_decode(). */
	uint32_t provider;
	uint64_t word;
	uint64_t end_word;		  /* slices of begin and end; FX_NO_WORD: no end record */
	uint64_t payload;		  /* bytes of a large event's blob; 0: it is none */
	const struct fx_flow_link *links; /* the flows that it is part of */
	size_t link_count;
	unsigned flags;	      /* FX_ENTRY_CUT, FX_ENTRY_UNFINISHED */
	enum fxt_scope scope; /* instants */
};

/*
 * A row of async operations below a process. Operations of one name share rows, as many as were
 * under way at one time.
 */
struct fx_async_track {
	uint64_t number; /* counts from 1 over the whole trace */
	const struct fx_process *process;
	uint32_t name; /* of its outermost operations; number of a string, 0: empty */
};

/* A thread as the scheduler sees it. */
struct fx_sched_side {
	uint64_t tid;		    /* 0: the idle thread */
	const struct fx_text *name; /* NULL: not known */
	int32_t priority;
};

struct fx_switch {
	uint64_t ts;
	uint32_t cpu;
	struct fx_sched_side outgoing;
	struct fx_sched_side incoming;
	uint8_t outgoing_state; /* enum fxt_thread_state */
	bool uninterruptible;	/* it waits so that no signal wakes it */
};

struct fx_wakeup {
	uint64_t ts;
	uint32_t cpu;
	struct fx_sched_side thread;
	uint64_t waker; /* tid; 0: not known */
};

struct fx_picture_options;

struct fx_exporter {
	const struct fx_exporter_ops *ops;
	struct fx_sink *sink;
	struct fx_timeline *timeline;
	int error; /* 0 or -errno: the first failure that is not the output's */
	/* Set by the caller before the conversion, for formats that are pictures; NULL: the defaults. */
	const struct fx_picture_options *picture;
	const char *remark; /* what is to be said of the output, NULL: nothing */
	/* Spans: whether an event is to be one; NULL: all are. */
	bool (*wants)(void *opaque, const struct fx_event *event);
	void *wants_opaque;
	/* Formats that show what a report says take it before they finish: JSON of its tables. NULL: there is none. */
	bool takes_tables;
	const char *tables;
};

struct fx_exporter_ops {
	void (*begin)(struct fx_exporter *exporter);
	void (*process)(struct fx_exporter *exporter, const struct fx_process *process);
	void (*thread)(struct fx_exporter *exporter, const struct fx_thread *thread);
	/* NULL: not of interest. */
	void (*enter_thread)(struct fx_exporter *exporter, const struct fx_thread *thread);
	/* `end' is known already here. */
	void (*slice_begin)(struct fx_exporter *exporter, const struct fx_event *event);
	/* NULL: not of interest. Not called for slices that did not finish. */
	void (*slice_end)(struct fx_exporter *exporter, const struct fx_thread *thread,
			  uint64_t ts);
	void (*instant)(struct fx_exporter *exporter, const struct fx_event *event);
	/* All args are numeric, one at least. */
	void (*counter)(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id);
	void (*log)(struct fx_exporter *exporter, const struct fx_event *event,
		    const struct fxt_string *message);
	/* All three, or NULL: the format cannot hold them. */
	void (*async_begin)(struct fx_exporter *exporter, const struct fx_async_track *track,
			    uint64_t id, const struct fx_event *event);
	/* Category and name are those of the begin. */
	void (*async_end)(struct fx_exporter *exporter, const struct fx_async_track *track,
			  uint64_t id, const struct fx_event *event);
	void (*async_instant)(struct fx_exporter *exporter, const struct fx_async_track *track,
			      uint64_t id, const struct fx_event *event);
	void (*note)(struct fx_exporter *exporter, const struct fx_note *note);
	/* Both, or NULL: the format cannot hold them. */
	void (*sched_switch)(struct fx_exporter *exporter, const struct fx_switch *sched);
	void (*sched_wakeup)(struct fx_exporter *exporter, const struct fx_wakeup *wakeup);
	/* Packets of the Perfetto format. NULL: the format cannot hold them. */
	void (*embedded)(struct fx_exporter *exporter, const unsigned char *data, size_t size);
	void (*finish)(struct fx_exporter *exporter);
};

#endif
