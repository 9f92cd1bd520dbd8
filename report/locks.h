/* SPDX-License-Identifier: MIT */
/*
 * What is told of a lock beside the waits for it: the threads that held it, where it was taken, where it was waited for,
 * how many did so at one time, and how long it was held. Locks are numbers from 0 on.
 */
#ifndef FX_REPORT_LOCKS_H
#define FX_REPORT_LOCKS_H

#include "report/convoys.h"
#include "report/holds.h"
#include "report/section.h"
#include "report/shares.h"

/* Begun by fx_locks_begin(). */
struct fx_locks {
	struct fx_report *report;
	struct fx_shares holders; /* tids */
	struct fx_shares places;  /* where they were waited for: stacks */
	struct fx_shares taken;	  /* where their holders had taken them: functions */
	struct fx_convoys convoys;
	struct fx_holds holds;
	bool has_stacks; /* of places */
	/* From fx_locks_finish() on: sorted by lock, and from where on that of the next lock is. */
	struct fx_share *all_holders, *all_places, *all_taken;
	const struct fx_share *next_holder, *next_place, *next_taken;
	uint32_t *most; /* waits at one time, by lock */
};

void fx_locks_begin(struct fx_locks *locks, struct fx_report *report, size_t limit);
void fx_locks_free(struct fx_locks *locks);

/* To be shown each call of kind PTHREAD, whether it waits or not. */
void fx_locks_enter(struct fx_locks *locks, const struct fx_open_call *call,
		    const struct fx_event *event);

/* A call that waited for the lock. */
void fx_locks_add(struct fx_locks *locks, size_t lock, const struct fx_open_call *call,
		  const struct fx_event *event);

/* The columns of the table: first those of all waits, and what they were for. */
enum fx_lock_column {
	FX_LOCK_TOTAL,
	FX_LOCK_COUNT,
	FX_LOCK_LONGEST,
	FX_LOCK_AT,
	FX_LOCK_LONGEST_THREAD,
	FX_LOCK_CONVOY,
	FX_LOCK_PID,
	FX_LOCK_OBJECT,
	FX_LOCK_HOLDERS,
	FX_LOCK_PLACE,
	FX_LOCK_TAKEN,
	FX_LOCK_HELD
};

/* When all have been shown, of so many locks: a table without rows. NULL: no memory. */
struct fx_table *fx_locks_table(struct fx_locks *locks, size_t count);

/* What is known of a lock, in the table's last row; locks come in rising order. Its key is its address and the process's
 * number; `total' is how long it was waited for. */
void fx_locks_tell(struct fx_locks *locks, struct fx_table *table, size_t lock, struct fx_key key,
		   uint64_t total);

/* What the columns mean, and what would tell more. */
void fx_locks_note(const struct fx_locks *locks, struct fx_table *table);

#endif
