/* SPDX-License-Identifier: MIT */
/*
 * Whether the slices of each thread nest.
 *
 * A viewer sorts all events by time, those of equal time by their order in the file, and keeps a
 * stack of open slices per thread. What it would drop or cut there is an error here: a complete
 * event that partly overlaps an earlier one, an end without a begin, a begin/end pair that
 * crosses a complete event's end, nesting too deep, a flow where no slice is.
 *
 * Takes 24 bytes per event, in a file where they are many (lists/runs.h).
 */
#ifndef FX_FORMAT_CHECK_SLICES_H
#define FX_FORMAT_CHECK_SLICES_H

#include <stdint.h>

#include "format/violations.h"
#include "lists/runs.h"

/* A viewer drops what is nested deeper. */
#define FX_MAX_SLICE_DEPTH 512

struct fx_slices;

/* The pool has to outlive it. NULL without memory. */
struct fx_slices *fx_slices_new(struct fx_runs_pool *pool);
void fx_slices_free(struct fx_slices *slices);

/*
 * Times in nanoseconds. @offset orders the records within the file. An instant is a complete
 * event whose end is its start. Each returns 0 or -ENOMEM.
 */
int fx_slices_begin(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t time,
		    uint64_t offset);
int fx_slices_end(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t time,
		  uint64_t offset);
int fx_slices_complete(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t start,
		       uint64_t end, uint64_t offset);
int fx_slices_flow(struct fx_slices *slices, uint64_t pid, uint64_t tid, uint64_t time,
		   uint64_t offset);

/* Notes a thread that has no events. */
int fx_slices_thread(struct fx_slices *slices, uint64_t pid, uint64_t tid);

/* It is a virtual one, where an end without a begin and a flow without a slice are worth a warning alone. */
int fx_slices_virtual(struct fx_slices *slices, uint64_t pid, uint64_t tid);

/* How many threads were seen. */
uint64_t fx_slices_thread_count(const struct fx_slices *slices);

/*
 * After the last event: checks every thread. Sets *@ret_open to the number of begin events that
 * no end followed, which is no violation: a program may end at any time. Once only. Returns 0 or -errno.
 */
int fx_slices_check(struct fx_slices *slices, struct fx_violations *violations, uint64_t *ret_open);

#endif /* FX_FORMAT_CHECK_SLICES_H */
