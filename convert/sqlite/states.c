/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sqlite/states.h"
#include "lists/hashes.h"
#include "convert/sqlite/tracks.h"

/* A thread as the scheduler knows it: by its tid alone. */
struct fx_sql_scheduled {
	uint64_t tid;
	int64_t utid;
	const char *state; /* NULL: not known */
	uint64_t since;
	uint32_t cpu;
	int64_t waker; /* utid; -1: none */
	UT_hash_handle hh;
};

struct fx_sql_cpu {
	uint32_t cpu;
	struct fx_sql_scheduled *running; /* NULL: not known */
	uint64_t since;
	int32_t priority;
	UT_hash_handle hh;
};

static const char sql_running[] = "Running";

void fx_sql_states_init(struct fx_sql_states *states, struct fx_sql_database *database,
			const struct fx_timeline *timeline)
{
	memset(states, 0, sizeof(*states));
	states->database = database;
	states->timeline = timeline;
}

void fx_sql_states_release(struct fx_sql_states *states)
{
	struct fx_sql_scheduled *thread = NULL, *next;
	struct fx_sql_cpu *cpu = NULL, *next_cpu;

	HASH_ITER (hh, states->threads, thread, next) {
		HASH_DEL(states->threads, thread);
		free(thread);
	}
	HASH_ITER (hh, states->cpus, cpu, next_cpu) {
		HASH_DEL(states->cpus, cpu);
		free(cpu);
	}
}

static struct fx_sql_scheduled *sql_states_add(struct fx_sql_states *states, uint64_t tid,
					       int64_t utid)
{
	struct fx_sql_scheduled *thread = calloc(1, sizeof(*thread));

	if (!thread) {
		states->database->error = -ENOMEM;
		return NULL;
	}
	thread->tid = tid;
	thread->utid = utid;
	thread->waker = -1;
	HASH_ADD(hh, states->threads, tid, sizeof(thread->tid), thread);
	return thread;
}

/* Of several threads of one tid, the last that has a name. */
void fx_sql_states_thread(struct fx_sql_states *states, const struct fx_thread *thread)
{
	struct fx_sql_scheduled *known;

	HASH_FIND(hh, states->threads, &thread->key.tid, sizeof(thread->key.tid), known);
	if (!known)
		known = sql_states_add(states, thread->key.tid, fx_sql_utid(thread));
	if (known && thread->name)
		known->utid = fx_sql_utid(thread);
}

/* A thread of which the archive has no more than that it ran. */
static void sql_states_insert_thread(struct fx_sql_states *states,
				     const struct fx_sql_scheduled *thread,
				     const struct fx_text *name)
{
	sqlite3_stmt *row = fx_sql_row(states->database, FX_SQL_THREAD);

	if (!row)
		return;
	sqlite3_bind_int64(row, 1, thread->utid);
	sqlite3_bind_int64(row, 2, (int64_t)thread->tid);
	if (thread->tid == 0)
		sqlite3_bind_text(row, 3, "swapper", -1, SQLITE_STATIC);
	else
		fx_sql_bind_text(row, 3, name);
	fx_sql_insert(states->database, row);
}

static struct fx_sql_scheduled *sql_states_find(struct fx_sql_states *states, uint64_t tid,
						const struct fx_text *name)
{
	struct fx_sql_scheduled *thread;

	HASH_FIND(hh, states->threads, &tid, sizeof(tid), thread);
	if (thread)
		return thread;
	if (!states->next_utid)
		states->next_utid = (int64_t)states->timeline->threads.count + 1;
	thread = sql_states_add(states, tid, tid == 0 ? 0 : states->next_utid++);
	if (thread)
		sql_states_insert_thread(states, thread, name);
	return thread;
}

static struct fx_sql_cpu *sql_states_cpu(struct fx_sql_states *states, uint32_t number)
{
	struct fx_sql_cpu *cpu;

	HASH_FIND(hh, states->cpus, &number, sizeof(number), cpu);
	if (cpu)
		return cpu;
	cpu = calloc(1, sizeof(*cpu));
	if (!cpu) {
		states->database->error = -ENOMEM;
		return NULL;
	}
	cpu->cpu = number;
	HASH_ADD(hh, states->cpus, cpu, sizeof(cpu->cpu), cpu);
	return cpu;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static int64_t sql_states_length(uint64_t since, uint64_t until)
{
	return until == UINT64_MAX ? -1 : (int64_t)(until - since);
}

/* What the thread has been doing ends; UINT64_MAX: it goes on. */
static void sql_states_close(struct fx_sql_states *states, struct fx_sql_scheduled *thread,
			     uint64_t until)
{
	sqlite3_stmt *row = NULL;

	if (thread->state && thread->tid != 0)
		row = fx_sql_row(states->database, FX_SQL_THREAD_STATE);
	if (row) {
		sqlite3_bind_int64(row, 2, (int64_t)thread->since);
		sqlite3_bind_int64(row, 3, sql_states_length(thread->since, until));
		if (thread->state == sql_running)
			sqlite3_bind_int64(row, 4, thread->cpu);
		sqlite3_bind_int64(row, 5, thread->utid);
		sqlite3_bind_text(row, 6, thread->state, -1, SQLITE_STATIC);
		if (thread->waker >= 0)
			sqlite3_bind_int64(row, 7, thread->waker);
		fx_sql_insert(states->database, row);
	}
	thread->state = NULL;
	thread->waker = -1;
}

static void sql_states_open(struct fx_sql_scheduled *thread, const char *state, uint64_t since)
{
	thread->state = state;
	thread->since = since;
}

/* The idle thread has no row, as in a trace processor's table of slices. */
static void sql_states_leave(struct fx_sql_states *states, const struct fx_sql_cpu *cpu,
			     uint64_t until, const char *state)
{
	sqlite3_stmt *row = NULL;

	if (cpu->running && cpu->running->tid != 0)
		row = fx_sql_row(states->database, FX_SQL_SCHED);
	if (!row)
		return;
	sqlite3_bind_int64(row, 2, (int64_t)cpu->since);
	sqlite3_bind_int64(row, 3, sql_states_length(cpu->since, until));
	sqlite3_bind_int64(row, 4, cpu->cpu);
	sqlite3_bind_int64(row, 5, cpu->running->utid);
	if (state)
		sqlite3_bind_text(row, 6, state, -1, SQLITE_STATIC);
	sqlite3_bind_int64(row, 7, cpu->priority);
	fx_sql_insert(states->database, row);
}

/* --- Events ----------------------------------------------------------------------------------- */

static const char *sql_states_name(uint8_t state, bool uninterruptible)
{
	if (state == FXT_THREAD_STATE_BLOCKED && uninterruptible)
		return "D";
	switch (state) {
	case FXT_THREAD_STATE_NEW:
	case FXT_THREAD_STATE_RUNNING:
		return "R";
	case FXT_THREAD_STATE_SUSPENDED:
		return "T";
	case FXT_THREAD_STATE_BLOCKED:
		return "S";
	case FXT_THREAD_STATE_DYING:
		return "Z";
	case FXT_THREAD_STATE_DEAD:
		return "X";
	default:
		return "?";
	}
}

void fx_sql_states_switch(struct fx_sql_states *states, const struct fx_switch *sched)
{
	struct fx_sql_scheduled *out =
	    sql_states_find(states, sched->outgoing.tid, sched->outgoing.name);
	struct fx_sql_scheduled *in =
	    sql_states_find(states, sched->incoming.tid, sched->incoming.name);
	struct fx_sql_cpu *cpu = sql_states_cpu(states, sched->cpu);
	const char *state = sql_states_name(sched->outgoing_state, sched->uninterruptible);

	if (!out || !in || !cpu)
		return;
	sql_states_leave(states, cpu, sched->ts, state);
	sql_states_close(states, out, sched->ts);
	sql_states_open(out, state, sched->ts);
	sql_states_close(states, in, sched->ts);
	sql_states_open(in, sql_running, sched->ts);
	in->cpu = sched->cpu;
	cpu->running = in;
	cpu->since = sched->ts;
	cpu->priority = sched->incoming.priority;
}

void fx_sql_states_wakeup(struct fx_sql_states *states, const struct fx_wakeup *wakeup)
{
	struct fx_sql_scheduled *thread =
	    sql_states_find(states, wakeup->thread.tid, wakeup->thread.name);
	struct fx_sql_scheduled *waker =
	    wakeup->waker ? sql_states_find(states, wakeup->waker, NULL) : NULL;

	/* A thread that runs, or waits for a processor, is woken in vain. */
	if (!thread || thread->state == sql_running ||
	    (thread->state && strcmp(thread->state, "R") == 0))
		return;
	sql_states_close(states, thread, wakeup->ts);
	sql_states_open(thread, "R", wakeup->ts);
	thread->waker = waker ? waker->utid : -1;
}

void fx_sql_states_end(struct fx_sql_states *states)
{
	struct fx_sql_scheduled *thread = NULL, *next;
	struct fx_sql_cpu *cpu = NULL, *next_cpu;

	HASH_ITER (hh, states->cpus, cpu, next_cpu) {
		sql_states_leave(states, cpu, UINT64_MAX, NULL);
	}
	HASH_ITER (hh, states->threads, thread, next) {
		sql_states_close(states, thread, UINT64_MAX);
	}
}
