/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/rows-state.h"
#include "load/small.h"

static struct fx_load_rows *rows_of(struct fx_exporter *exporter)
{
	return (struct fx_load_rows *)exporter;
}

static struct fx_load_rows *rows_of_taker(struct fx_sql_taker *taker)
{
	return (struct fx_load_rows *)((char *)taker - offsetof(struct fx_load_rows, taker));
}

void fx_load_row_fail(struct fx_load_rows *rows, int error)
{
	if (rows->tables.exporter.error == 0)
		rows->tables.exporter.error = error;
}

void fx_load_row_done(struct fx_load_rows *rows, enum fx_load_table table)
{
	fx_batches_done(rows->batches, table);
	if (fx_batches_error(rows->batches) < 0)
		fx_load_row_fail(rows, fx_batches_error(rows->batches));
}

/* --- What the tables hand over ---------------------------------------------------------------- */

static void rows_take_slice(struct fx_sql_taker *taker, const struct fx_sql_slice *slice)
{
	struct fx_load_rows *rows = rows_of_taker(taker);

	/* Once a batch could not be sent, no more are made. */
	if (rows->tables.exporter.error < 0)
		return;
	if (rows->form == FX_LOAD_ROW_CALL)
		fx_load_row_enter(rows, slice);
	else if (rows->form == FX_LOAD_ROW_ASYNC && slice->place->length < 0)
		fx_load_row_add_async(rows, slice);
	else
		fx_load_row_add_moment(rows, slice);
}

static void rows_take_ended(struct fx_sql_taker *taker, int64_t id, int64_t length, int64_t set)
{
	fx_load_row_async_ended(rows_of_taker(taker), id, length, set);
}

static void rows_take_args(struct fx_sql_taker *taker, int64_t set, const struct fx_event *event)
{
	struct fx_load_rows *rows = rows_of_taker(taker);
	struct fx_sql_arg arg;

	for (uint32_t i = 0; rows->tables.exporter.error == 0 && fx_sql_arg_at(event, i, &arg);
	     i++) {
		fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_ARGS);

		fx_load_put_64(row, (uint64_t)set);
		fx_load_put_64(row, (uint64_t)++rows->args);
		fx_load_row_put_string(rows, row, arg.key);
		fx_load_row_put_value(rows, row, &arg.value);
		fx_load_row_done(rows, FX_LOAD_ARGS);
	}
}

static void rows_take_counter(struct fx_sql_taker *taker, const struct fx_event *event,
			      const struct fx_sql_count *count)
{
	struct fx_load_rows *rows = rows_of_taker(taker);
	fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_COUNTER);

	if (rows->tables.exporter.error < 0)
		return;
	fx_load_put_64(row, (uint64_t)++rows->counts);
	fx_load_put_64(row, event->ts);
	fx_load_put_64(row, (uint64_t)count->track);
	fx_load_put_real(row, count->value);
	fx_load_put_64(row, (uint64_t)fx_sql_utid(event->thread));
	fx_load_put_64(row, count->number);
	fx_load_row_put_string(rows, row, event->category);
	fx_load_row_put_string(rows, row, event->name);
	fx_load_row_put_string(rows, row, count->key);
	fx_load_row_done(rows, FX_LOAD_COUNTER);
}

/* --- The exporter: the calls of the tables', and what kind of event it is ---------------------- */

static void rows_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	fx_load_row_leave_all(rows_of(exporter));
	fx_sql_tables_ops.enter_thread(exporter, thread);
}

static void rows_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	rows_of(exporter)->form = FX_LOAD_ROW_CALL;
	fx_sql_tables_ops.slice_begin(exporter, event);
}

static void rows_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	struct fx_load_rows *rows = rows_of(exporter);

	fx_sql_tables_ops.slice_end(exporter, thread, ts);
	if (rows->depth > 0)
		fx_load_row_leave(rows);
}

static void rows_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	rows_of(exporter)->form = FX_LOAD_ROW_INSTANT;
	fx_sql_tables_ops.instant(exporter, event);
}

static void rows_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	rows_of(exporter)->form = FX_LOAD_ROW_LOG;
	fx_sql_tables_ops.log(exporter, event, message);
}

static void rows_set_async(struct fx_exporter *exporter, const struct fx_async_track *track)
{
	struct fx_load_rows *rows = rows_of(exporter);

	fx_load_row_leave_all(rows);
	rows->form = FX_LOAD_ROW_ASYNC;
	rows->process = track->process;
}

static void rows_async_begin(struct fx_exporter *exporter, const struct fx_async_track *track,
			     uint64_t id, const struct fx_event *event)
{
	rows_set_async(exporter, track);
	fx_sql_tables_ops.async_begin(exporter, track, id, event);
}

static void rows_async_end(struct fx_exporter *exporter, const struct fx_async_track *track,
			   uint64_t id, const struct fx_event *event)
{
	rows_set_async(exporter, track);
	fx_sql_tables_ops.async_end(exporter, track, id, event);
}

static void rows_async_instant(struct fx_exporter *exporter, const struct fx_async_track *track,
			       uint64_t id, const struct fx_event *event)
{
	rows_set_async(exporter, track);
	fx_sql_tables_ops.async_instant(exporter, track, id, event);
}

static void rows_note(struct fx_exporter *exporter, const struct fx_note *note)
{
	struct fx_load_rows *rows = rows_of(exporter);

	fx_load_row_leave_all(rows);
	rows->form = FX_LOAD_ROW_NOTE;
	rows->process = note->process;
	fx_sql_tables_ops.note(exporter, note);
}

static void rows_put_sched(struct fx_load_rows *rows, const struct fx_switch *sched, bool is_wakeup)
{
	fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_SCHED_EVENT);

	if (rows->tables.exporter.error < 0)
		return;
	fx_load_put_64(row, (uint64_t)++rows->scheds);
	fx_load_put_64(row, sched->ts);
	fx_load_put_8(row, is_wakeup);
	fx_load_put_32(row, sched->cpu);
	fx_load_put_64(row, sched->incoming.tid);
	fx_load_put_64(row, sched->outgoing.tid);
	fx_load_put_8(row, sched->outgoing_state);
	fx_load_row_done(rows, FX_LOAD_SCHED_EVENT);
}

static void rows_sched_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	fx_load_row_leave_all(rows_of(exporter));
	fx_sql_tables_ops.sched_switch(exporter, sched);
	rows_put_sched(rows_of(exporter), sched, false);
}

static void rows_sched_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	struct fx_switch sched = {.ts = wakeup->ts,
				  .cpu = wakeup->cpu,
				  .outgoing = {.tid = wakeup->waker},
				  .incoming = wakeup->thread};

	fx_load_row_leave_all(rows_of(exporter));
	fx_sql_tables_ops.sched_wakeup(exporter, wakeup);
	rows_put_sched(rows_of(exporter), &sched, true);
}

static void rows_finish(struct fx_exporter *exporter)
{
	struct fx_load_rows *rows = rows_of(exporter);
	int r;

	fx_load_row_leave_all(rows);
	fx_load_row_end_asyncs(rows);
	fx_sql_tables_finish(exporter);
	if (exporter->error < 0)
		return;
	r = fx_small_send(rows->db, rows->batches);
	if (r < 0)
		fx_load_row_fail(rows, r);
}

struct fx_exporter *fx_load_rows_exporter(struct fx_load_rows *rows)
{
	return &rows->tables.exporter;
}

static void rows_init(struct fx_load_rows *rows, struct fx_timeline *timeline)
{
	struct fx_sql_wants wants;

	rows->ops = fx_sql_tables_ops;
	rows->ops.enter_thread = rows_enter_thread;
	rows->ops.slice_begin = rows_slice_begin;
	rows->ops.slice_end = rows_slice_end;
	rows->ops.instant = rows_instant;
	rows->ops.log = rows_log;
	rows->ops.async_begin = rows_async_begin;
	rows->ops.async_end = rows_async_end;
	rows->ops.async_instant = rows_async_instant;
	rows->ops.note = rows_note;
	rows->ops.sched_switch = rows_sched_switch;
	rows->ops.sched_wakeup = rows_sched_wakeup;
	rows->ops.finish = rows_finish;
	rows->taker = (struct fx_sql_taker){.args = rows_take_args,
					    .slice = rows_take_slice,
					    .ended = rows_take_ended,
					    .counter = rows_take_counter};
	rows->begin = timeline->first_ts == UINT64_MAX ? 0 : timeline->first_ts;
	rows->end = timeline->last_ts;
	fx_sql_want_all(&wants);
	wants.tables[FX_SQL_SLICE] = wants.tables[FX_SQL_ARGS] = wants.tables[FX_SQL_COUNTER] =
	    false;
	memset(wants.indices, 0, sizeof(wants.indices));
	fx_sql_tables_init(&rows->tables, &rows->ops, timeline, NULL);
	rows->tables.taker = &rows->taker;
	fx_sql_tables_begin(&rows->tables, rows->db, &wants);
}

int fx_load_rows_new(struct fx_timeline *timeline, struct fx_batches *batches,
		     struct fx_load_rows **ret)
{
	struct fx_load_rows *rows = calloc(1, sizeof(*rows));
	int r;

	*ret = NULL;
	if (!rows)
		return -ENOMEM;
	rows->batches = batches;
	r = fx_small_open(&rows->db);
	if (r < 0) {
		sqlite3_close(rows->db);
		free(rows);
		return r;
	}
	rows_init(rows, timeline);
	*ret = rows;
	return 0;
}

void fx_load_rows_free(struct fx_load_rows *rows)
{
	if (!rows)
		return;
	fx_load_slices_release(rows);
	fx_vector_free(&rows->clean);
	fx_sql_tables_release(&rows->tables);
	sqlite3_close(rows->db);
	free(rows);
}
