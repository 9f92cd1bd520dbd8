/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler did: which thread had which processor (sched), and what each thread was doing meanwhile
 * (thread_state). Rows are inserted when what they say has ended; at the end, with the length -1, what has not.
 */
#ifndef FX_CONVERT_SQLITE_STATES_H
#define FX_CONVERT_SQLITE_STATES_H

#include "convert/export.h"
#include "convert/sqlite/database.h"

struct fx_sql_scheduled;
struct fx_sql_cpu;

struct fx_sql_states {
	struct fx_sql_database *database;
	struct fx_sql_scheduled *threads; /* by tid */
	struct fx_sql_cpu *cpus;
	int64_t next_utid; /* for threads that have no events; 0: not known yet */
	const struct fx_timeline *timeline;
};

void fx_sql_states_init(struct fx_sql_states *states, struct fx_sql_database *database,
			const struct fx_timeline *timeline);
void fx_sql_states_release(struct fx_sql_states *states);

/* All threads of the timeline are made known before the first switch. */
void fx_sql_states_thread(struct fx_sql_states *states, const struct fx_thread *thread);
void fx_sql_states_switch(struct fx_sql_states *states, const struct fx_switch *sched);
void fx_sql_states_wakeup(struct fx_sql_states *states, const struct fx_wakeup *wakeup);
void fx_sql_states_end(struct fx_sql_states *states);

#endif
