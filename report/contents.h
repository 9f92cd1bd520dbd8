/* SPDX-License-Identifier: MIT */
/*
 * What an archive holds: counted in one pass through its records. Memory grows with processes, threads and categories
 * alone.
 */
#ifndef FX_REPORT_CONTENTS_H
#define FX_REPORT_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <fxtrace/reader.h>

#include "format/host-record.h"
#include "lists/vector.h"

/* A text and how often, or whose. The text is UTF-8, terminated, owned. */
struct fx_tally {
	char *text;
	uint64_t count; /* of a process: its id */
};

typedef FX_VECTOR(struct fx_tally) fx_tallies;

struct fx_contents {
	uint64_t bytes; /* of records, before compression */
	uint64_t records;
	uint64_t records_of[FXT_KIND_COUNT];
	uint64_t events_of[FXT_MAX(EVENT_TYPE) + 1]; /* by enum fxt_event_type */
	uint64_t events;
	uint64_t first_ns,
	    last_ns; /* of events, logs and scheduling; first_ns UINT64_MAX: there are none */
	uint64_t ticks_per_second;  /* of the first provider that says it; 0: none does */
	bool has_clocks;	    /* several providers count differently */
	int64_t epoch;		    /* ns since 1970 when the clock was 0; 0: not recorded */
	struct fx_host_record host; /* all "": not recorded */
	char *command;		    /* of the first process that has one; NULL: not recorded */
	uint64_t providers;
	uint64_t threads;
	fx_tallies processes;  /* in order of appearance; the text is "" where there is no name */
	fx_tallies categories; /* the most frequent first */
	fx_tallies losses; /* records that are said to be lost, by cause, the most frequent first */
	uint64_t full_buffers; /* how often a provider said that its buffer was full */
	uint64_t faults;
	struct fxt_fault fault; /* the first one */
	struct fx_contents_index *index;
};

/*
 * Reads all of an archive. Returns 0 or -errno: -EBADMSG if it is none, -ENOMEM, what read(2) said. The contents are
 * to be freed either way.
 */
int fx_contents_read(struct fx_contents *contents, struct fxt_reader *reader);

void fx_contents_free(struct fx_contents *contents);

#endif
