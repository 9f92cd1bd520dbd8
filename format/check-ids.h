/* SPDX-License-Identifier: MIT */
/*
 * Whether async and flow events that share an id belong together.
 *
 * Both kinds may go from thread to thread, whose buffers reach the file in any order; so they are
 * judged by time, those of equal time by their order in the file. Ids are those of the whole
 * machine, not of a process: so viewers read them.
 *
 * Takes 56 bytes per event, in a file where they are many (lists/runs.h).
 */
#ifndef FX_FORMAT_CHECK_IDS_H
#define FX_FORMAT_CHECK_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/check-slices.h"
#include "format/violations.h"
#include "lists/runs.h"

enum fx_id_event { FX_ID_BEGIN, FX_ID_STEP, FX_ID_END };

struct fx_id_entry {
	uint64_t id;   /* the key */
	uint64_t time; /* nanoseconds */
	uint64_t pid;
	uint64_t tid;
	uint64_t name; /* a hash of category and name */
	uint64_t offset;
	enum fx_id_event event;
};

/* Events of one kind, async or flow, are a list of these. */
extern const struct fx_runs_kind fx_ids_kind;

/*
 * Async: an instant or end needs an open begin of the same id, the end one of the same name and
 * category; and two processes must not use an id at once. Begins left open are no violation, but
 * are counted. Returns 0 or -errno.
 */
int fx_ids_check_async(struct fx_runs *ids, struct fx_violations *violations, uint64_t *ret_open);

/*
 * Flows: the same id must not begin again before its end; a step or end needs a begin. Those that
 * have one go to @slices, to see whether there is a slice for them to bind to: check that later.
 * Returns 0 or -errno.
 */
int fx_ids_check_flows(struct fx_runs *ids, struct fx_violations *violations,
		       struct fx_slices *slices);

#endif /* FX_FORMAT_CHECK_IDS_H */
