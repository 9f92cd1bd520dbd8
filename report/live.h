/* SPDX-License-Identifier: MIT */
/*
 * What processes and threads do, counted record by record as an archive grows: a row for each process (thread id 0) and
 * for each of its threads. A call counts when it has ended, with the whole of its time.
 */
#ifndef FX_REPORT_LIVE_H
#define FX_REPORT_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <fxtrace/reader.h>

#include "lists/hashes.h"
#include "lists/vector.h"

/* X(NAME, "name", "unit of the number in a second") */
#define FX_LIVE_COUNTS(X)                                                                          \
	X(CALLS, "calls", "calls")                                                                 \
	X(WAITING, "waiting", "ns in calls that wait")                                             \
	X(BYTES, "bytes", "bytes read and written")                                                \
	X(LOCKS, "locks", "calls that wait for a lock")

#define FX_ENUM_LIVE_(name, text, unit) FX_LIVE_##name,
enum fx_live_count { FX_LIVE_COUNTS(FX_ENUM_LIVE_) FX_LIVE_COUNT };

struct fx_live_key {
	uint64_t pid, tid; /* tid 0: the process */
};

struct fx_live_open {
	uint64_t ts;
	uint8_t wait; /* enum fx_wait_kind */
};

struct fx_live_row {
	struct fx_live_key key;
	char name[64]; /* as it stands in the archive, cut; "" if it is not known */
	uint64_t totals[FX_LIVE_COUNT];
	uint64_t before[FX_LIVE_COUNT];	     /* the totals when fx_live_step() was called last */
	double rates[FX_LIVE_COUNT];	     /* in a second, between the last two of those */
	int64_t heap;			     /* bytes; of processes */
	FX_VECTOR(struct fx_live_open) open; /* calls of begin and end records */
	UT_hash_handle hh;
};

/* All zeros but @since: nothing was counted yet. */
struct fx_live {
	uint64_t since; /* CLOCK_BOOTTIME: what ended before counts in totals alone */
	struct fx_live_row *rows;
	FX_VECTOR(uint8_t) names; /* what is known of them, by serial of the string */
	struct fx_live_row sum;	  /* of all processes */
};

/* Returns 0 or -ENOMEM. */
int fx_live_record(struct fx_live *live, const struct fxt_record *record);

/* Makes the rates of what was counted since it was called last, @ns ago. */
void fx_live_step(struct fx_live *live, uint64_t ns);

/* Sorts the rows: by the rate of a count, else by heap or ids. */
enum fx_live_order { FX_LIVE_BY_HEAP = FX_LIVE_COUNT, FX_LIVE_BY_PID };
void fx_live_sort(struct fx_live *live, int order);

void fx_live_free(struct fx_live *live);

#endif
