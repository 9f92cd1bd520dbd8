/* SPDX-License-Identifier: MIT */
/*
 * An archive, indexed: what happened on each thread, in time.
 *
 * Reading an archive once leaves 24 bytes for each event: when, and where its record stands. They are
 * sorted thread by thread, and beyond some memory in a file without a name (runs.h). The records
 * themselves stay where they are (the mapped file, or a copy of what came compressed or through a
 * pipe) and are decoded again, one at a time, when an exporter wants them. For that, each provider
 * keeps every meaning that a string index ever had, with the position from which it holds.
 *
 * All times are nanoseconds of CLOCK_BOOTTIME.
 */
#ifndef FX_CONVERT_TIMELINE_H
#define FX_CONVERT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "base/about.h"
#include "lists/hashes.h"
#include "convert/entry.h"
#include "lists/runs.h"
#include "convert/texts.h"
#include "format/host-record.h"
#include "lists/vector.h"

struct fx_process {
	uint64_t pid;
	uint32_t number;			     /* counts from 0 in order of appearance */
	const struct fx_text *name;		     /* NULL: not known */
	const struct fx_text *about[FX_ABOUT_COUNT]; /* the same: of its newest program */
	uint64_t start_ts, end_ts; /* as its parent and the manager tell; 0: not known */
	uint64_t parent;	   /* pid; 0: not known */
	UT_hash_handle hh;
};

struct fx_thread_key {
	uint64_t pid;
	uint64_t tid;
};

/* There may be a million of them: what is added here is added to each. */
struct fx_thread {
	struct fx_thread_key key;
	uint32_t number; /* counts from 0 in order of appearance */
	bool has_flows;
	bool has_pairs; /* begins or ends */
	struct fx_process *process;
	const struct fx_text *name; /* NULL: not known */
	/* Of what is no end: */
	uint64_t first_ts;
	uint64_t count;
	struct fx_entry last; /* the newest, while the index is made */
	struct fx_runs entries;
	struct fx_runs
	    *ends; /* struct fx_entry_end, made by fx_thread_arrange(); NULL: it has no pairs */
};

/* Threads by their ids: numbers, each 1 more than the thread's, or 0. */
struct fx_thread_numbers {
	uint32_t *slots;
	size_t size; /* a power of two */
};

/* Something that the reader of a timeline has to know. */
struct fx_note {
	uint64_t ts;
	const struct fx_process *process; /* NULL: the whole trace */
	const struct fx_text *text;
	uint32_t provider;
};

/* What cannot be shown as it was recorded is counted: X(NAME, "what was done, to what") */
#define FX_MISFITS(X)                                                                              \
	X(BAD_TIME, "left out: events whose time is out of range")                                 \
	X(UNMATCHED_END, "left out: ends without a begin")                                         \
	X(TOO_DEEP, "left out: events nested deeper than 512")                                     \
	X(COUNTER_VALUE, "left out: counter values that are no numbers")                           \
	X(ASYNC_END, "left out: async ends without a begin")                                       \
	X(SCHED_GAP, "put in: switches that must have been lost")                                  \
	X(CPU, "left out: scheduling on processors of impossible numbers")                         \
	X(EMBEDDED, "left out: embedded Perfetto blobs that are malformed")                        \
	X(OTHER_FORMAT, "left out: events that this format cannot hold")                           \
	X(ATTACHMENT, "left out: blobs")                                                           \
	X(OBJECT, "left out: userspace objects")                                                   \
	X(PROFILER, "left out: call stacks")                                                       \
	X(PATH, "merged with others: calls whose path was one too many (see --max-paths)")

#define FX_ENUM_MISFIT_(name, text) FX_MISFIT_##name,
enum fx_misfit { FX_MISFITS(FX_ENUM_MISFIT_) FX_MISFIT_COUNT };

struct fx_timeline_provider;
struct fx_records;

struct fx_timeline {
	struct fx_texts *strings;
	FX_VECTOR(struct fx_timeline_provider *) providers;
	FX_VECTOR(struct fx_process *) processes;
	FX_VECTOR(struct fx_thread *) threads;
	struct fx_runs_pool pool;
	struct fx_runs asyncs; /* struct fx_async_entry */
	struct fx_runs scheds; /* struct fx_sched_entry */
	FX_VECTOR(struct fx_note) notes;
	FX_VECTOR(unsigned char) embedded; /* what the Perfetto blobs hold, joined */
	uint64_t first_ts;		   /* of all events; UINT64_MAX: there is none */
	uint64_t last_ts;
	uint64_t misfits[FX_MISFIT_COUNT];
	struct fx_host_record host; /* the first one; has_host: there is one */
	bool has_host;
	int64_t unix_offset; /* ns; what is added to a time to have it since 1970 */
	bool has_unix_offset;
	struct fxt_fault fault; /* the first one; kind FXT_FAULT_NONE: the archive is whole */
	uint64_t fault_count;

	struct fx_process *process_table;
	struct fx_thread_numbers thread_table;
	FX_VECTOR(struct fx_thread *) thread_slabs; /* in which they lie */
	struct fx_records *records;
};

/* @done and @total in bytes; @total 0: not known. */
typedef void fx_progress(void *opaque, uint64_t done, uint64_t total);

/* Also after an error of fx_timeline_open() (indexer.h). */
void fx_timeline_close(struct fx_timeline *timeline);

/*
 * Decodes the record at @word. Its strings are those of the timeline's table, with their number in
 * `serial' (0: empty), but for inline values of string arguments, which stay as they are, serial
 * 0. Returns 0, -ENOMEM, or -EBADMSG.
 */
int fx_timeline_decode(struct fx_timeline *timeline, uint32_t provider, uint64_t word,
		       struct fxt_record *ret);

/* The number of the name of an event; 0: it has none. */
uint32_t fx_timeline_event_name(struct fx_timeline *timeline, const struct fx_entry *entry);

/* The process of this id, made if it is new; NULL: no memory. */
struct fx_process *fx_timeline_process(struct fx_timeline *timeline, uint64_t pid);

/* The thread of these ids; NULL: there is none. */
struct fx_thread *fx_timeline_find_thread(const struct fx_timeline *timeline, uint64_t pid,
					  uint64_t tid);

/* The same, made if it is new; NULL: no memory. */
struct fx_thread *fx_timeline_thread(struct fx_timeline *timeline, uint64_t pid, uint64_t tid);

/* Frees the events of a thread, once they have been exported. */
void fx_thread_release(struct fx_thread *thread);

#endif
