/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "load/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sqlite/arguments.h"
#include "convert/sqlite/tables.h"
#include "convert/utf8.h"
#include "lists/hashes.h"
#include "load/small.h"
#include "report/kinds.h"
#include "report/show.h"
#include "report/spread.h"
#include "report/walk.h"

/* As in schema.def. */
enum rows_form { ROWS_CALL, ROWS_INSTANT, ROWS_ASYNC, ROWS_LOG, ROWS_NOTE };

/* A slice whose row waits for what becomes known later: a call, for its end; an async operation, for its own. */
struct rows_slice {
	int64_t id, dur, set;
	uint64_t ts, end;    /* cut to the archive */
	uint64_t inside;     /* ns in the calls that it made */
	uint32_t name;	     /* number of a text */
	uint8_t kind;	     /* enum fx_call_kind */
	fx_load_bytes bytes; /* the columns from its id on */
	UT_hash_handle hh;   /* of async operations, by id */
};

struct fx_load_rows {
	struct fx_sql_tables tables; /* first: the exporter */
	struct fx_exporter_ops ops;
	struct fx_sql_taker taker;
	struct fx_batches *batches;
	sqlite3 *db;
	enum rows_form form;		  /* of the event at hand */
	const struct fx_process *process; /* where that has no thread; NULL: none */
	uint64_t begin, end;		  /* of the archive */
	/* The thread at hand. */
	FX_VECTOR(struct rows_slice) calls; /* open, the first `depth' of them */
	size_t depth;
	FX_VECTOR(uint32_t) open; /* calls of each function, by number of the name */
	struct rows_slice *asyncs;
	int64_t counts, args; /* ids given out */
	FX_VECTOR(char) clean;
};

static struct fx_load_rows *rows_of(struct fx_exporter *exporter)
{
	return (struct fx_load_rows *)exporter;
}

static struct fx_load_rows *rows_of_taker(struct fx_sql_taker *taker)
{
	return (struct fx_load_rows *)((char *)taker - offsetof(struct fx_load_rows, taker));
}

static void rows_fail(struct fx_load_rows *rows, int error)
{
	if (rows->tables.exporter.error == 0)
		rows->tables.exporter.error = error;
}

static void rows_done(struct fx_load_rows *rows, enum fx_load_table table)
{
	fx_batches_done(rows->batches, table);
	if (fx_batches_error(rows->batches) < 0)
		rows_fail(rows, fx_batches_error(rows->batches));
}

/* --- Values ----------------------------------------------------------------------------------- */

static void rows_put_bytes(struct fx_load_rows *rows, fx_load_bytes *bytes, const char *text,
			   size_t length)
{
	if (length == 0 || fx_utf8_is_clean(text, length)) {
		fx_load_put_text(bytes, text, length);
		return;
	}
	rows->clean.count = 0;
	if (fx_vector_reserve(&rows->clean, FX_UTF8_CLEAN_MAX(length)) < 0) {
		rows_fail(rows, -ENOMEM);
		return;
	}
	length = fx_utf8_clean(text, length, rows->clean.items);
	fx_load_put_text(bytes, rows->clean.items, length);
}

static void rows_put_string(struct fx_load_rows *rows, fx_load_bytes *bytes,
			    const struct fxt_string *string)
{
	if (!string)
		fx_load_put_text(bytes, "", 0);
	else if (string->serial)
		fx_load_put_text(bytes, string->data, string->length);
	else
		rows_put_bytes(rows, bytes, string->data, string->length);
}

/* A number that may be missing, as 0. */
static void rows_put_some(fx_load_bytes *bytes, int64_t number)
{
	fx_load_put_8(bytes, number == 0);
	if (number)
		fx_load_put_64(bytes, (uint64_t)number);
}

/* --- Slices ----------------------------------------------------------------------------------- */

static uint64_t rows_cut(const struct fx_load_rows *rows, uint64_t ts)
{
	return ts < rows->begin ? rows->begin : ts > rows->end ? rows->end : ts;
}

static void rows_put_names(struct fx_load_rows *rows, fx_load_bytes *bytes,
			   const struct fx_event *event, enum fx_call_kind kind)
{
	char scratch[FX_SHOW_NAME_MAX], joined[FX_SHOW_PATH_MAX];
	struct fxt_string call = *event->name, path = {0};
	const struct fxt_string *error = NULL, *file = NULL;

	if (rows->form == ROWS_CALL && kind != FX_CALL_OTHER && kind != FX_CALL_FUNCTION) {
		call = fx_show_name_of(event, scratch);
		error = fx_event_string(event, "errno");
	}
	if (error) {
		file = fx_event_string(event, "file");
		path = fx_show_path_of(event, joined);
	}
	rows_put_string(rows, bytes, event->category);
	rows_put_string(rows, bytes, event->name);
	rows_put_string(rows, bytes, call.data == event->name->data ? NULL : &call);
	rows_put_string(rows, bytes, error);
	rows_put_string(rows, bytes, &path);
	rows_put_string(rows, bytes, file);
}

static void rows_put_text(fx_load_bytes *bytes, const struct fx_text *text)
{
	fx_load_put_text(bytes, text ? text->data : "", text ? text->length : 0);
}

static void rows_put_whose(struct fx_load_rows *rows, fx_load_bytes *bytes,
			   const struct fx_thread *thread)
{
	const struct fx_process *process = thread ? thread->process : rows->process;

	fx_load_put_64(bytes, thread ? (uint64_t)fx_sql_utid(thread) : 0);
	fx_load_put_64(bytes, process ? (uint64_t)fx_sql_upid(process) : 0);
	fx_load_put_64(bytes, thread ? thread->key.tid : 0);
	fx_load_put_64(bytes, process ? process->pid : 0);
	rows_put_text(bytes, thread ? thread->name : NULL);
	rows_put_text(bytes, process ? process->name : NULL);
}

/* From the id on. */
static void rows_put_slice(struct fx_load_rows *rows, fx_load_bytes *bytes,
			   const struct fx_sql_slice *slice, bool unfinished,
			   enum fx_call_kind kind)
{
	const struct fx_event *event = slice->event;

	fx_load_put_64(bytes, (uint64_t)slice->id);
	fx_load_put_64(bytes, event->ts);
	fx_load_put_64(bytes, event->ts - rows->begin);
	fx_load_put_64(bytes, (uint64_t)slice->place->track);
	fx_load_put_32(bytes, (uint32_t)slice->place->depth);
	rows_put_some(bytes, slice->place->parent);
	fx_load_put_8(bytes, (uint8_t)rows->form);
	fx_load_put_8(bytes, (uint8_t)kind);
	fx_load_put_8(bytes, unfinished);
	rows_put_names(rows, bytes, event, kind);
	rows_put_whose(rows, bytes, rows->form == ROWS_ASYNC ? NULL : event->thread);
}

/* The columns in front of the id. */
static void rows_put_times(fx_load_bytes *bytes, const struct rows_slice *slice, bool is_outermost)
{
	uint64_t time = slice->end - slice->ts;

	fx_load_put_64(bytes, slice->inside < time ? time - slice->inside : 0);
	fx_load_put_64(bytes, time);
	fx_load_put_64(bytes, (uint64_t)slice->dur);
	rows_put_some(bytes, slice->set);
	fx_load_put_8(bytes, is_outermost);
	fx_load_put_16(bytes, (uint16_t)fx_spread_bucket(time));
}

static void rows_send_slice(struct fx_load_rows *rows, const struct rows_slice *slice,
			    bool is_outermost)
{
	fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_SLICE);

	rows_put_times(row, slice, is_outermost);
	fx_load_put(row, slice->bytes.items, slice->bytes.count);
	row->failed |= slice->bytes.failed;
	rows_done(rows, FX_LOAD_SLICE);
}

static bool rows_is_function(const struct rows_slice *slice)
{
	return slice->kind == FX_CALL_OTHER || slice->kind == FX_CALL_FUNCTION;
}

/* How many calls of this name are open; NULL: no memory. */
static uint32_t *rows_open(struct fx_load_rows *rows, uint32_t name)
{
	size_t count = rows->open.count;

	if (name >= count) {
		size_t more = name + 1 - count;

		if (fx_vector_reserve(&rows->open, more) < 0) {
			rows_fail(rows, -ENOMEM);
			return NULL;
		}
		memset(rows->open.items + count, 0, more * sizeof(*rows->open.items));
		rows->open.count += more;
	}
	return &rows->open.items[name];
}

static void rows_enter(struct fx_load_rows *rows, const struct fx_sql_slice *slice)
{
	const struct fx_event *event = slice->event;
	enum fx_call_kind kind = fx_call_kind_of(event->category->data);
	struct rows_slice *call;
	uint32_t *open;

	if (rows->depth == rows->calls.count) {
		if (fx_vector_reserve(&rows->calls, 1) < 0) {
			rows_fail(rows, -ENOMEM);
			return;
		}
		memset(&rows->calls.items[rows->calls.count++], 0, sizeof(*rows->calls.items));
	}
	call = &rows->calls.items[rows->depth++];
	call->id = slice->id;
	call->dur = slice->place->length;
	call->set = slice->set;
	call->ts = rows_cut(rows, event->ts);
	call->end = rows_cut(rows, event->end);
	call->inside = 0;
	call->name = event->name->serial;
	call->kind = (uint8_t)kind;
	call->bytes.count = 0;
	rows_put_slice(rows, &call->bytes, slice, fx_report_is_unfinished(event, kind), kind);
	open = rows_is_function(call) ? rows_open(rows, call->name) : NULL;
	if (open)
		++*open;
}

static void rows_leave(struct fx_load_rows *rows)
{
	struct rows_slice *call = &rows->calls.items[--rows->depth];
	uint32_t *open = rows_is_function(call) ? rows_open(rows, call->name) : NULL;

	rows_send_slice(rows, call, !open || (*open > 0 && --*open == 0));
	if (rows->depth > 0)
		rows->calls.items[rows->depth - 1].inside += call->end - call->ts;
}

static void rows_leave_all(struct fx_load_rows *rows)
{
	while (rows->depth > 0)
		rows_leave(rows);
}

static void rows_add_async(struct fx_load_rows *rows, const struct fx_sql_slice *slice)
{
	struct rows_slice *async = calloc(1, sizeof(*async));

	if (!async) {
		rows_fail(rows, -ENOMEM);
		return;
	}
	async->id = slice->id;
	async->dur = -1;
	async->set = slice->set;
	async->ts = rows_cut(rows, slice->event->ts);
	async->end = rows->end;
	rows_put_slice(rows, &async->bytes, slice, false,
		       fx_call_kind_of(slice->event->category->data));
	HASH_ADD(hh, rows->asyncs, id, sizeof(async->id), async);
}

static void rows_end_async(struct fx_load_rows *rows, struct rows_slice *async)
{
	HASH_DEL(rows->asyncs, async);
	rows_send_slice(rows, async, true);
	fx_vector_free(&async->bytes);
	free(async);
}

/* What lasts no time. */
static void rows_add_moment(struct fx_load_rows *rows, const struct fx_sql_slice *slice)
{
	struct rows_slice moment = {.id = slice->id, .set = slice->set};
	fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_SLICE);

	rows_put_times(row, &moment, true);
	rows_put_slice(rows, row, slice, false, fx_call_kind_of(slice->event->category->data));
	rows_done(rows, FX_LOAD_SLICE);
}

/* --- What the tables hand over ---------------------------------------------------------------- */

static void rows_take_slice(struct fx_sql_taker *taker, const struct fx_sql_slice *slice)
{
	struct fx_load_rows *rows = rows_of_taker(taker);

	/* Once a batch could not be sent, no more are made. */
	if (rows->tables.exporter.error < 0)
		return;
	if (rows->form == ROWS_CALL)
		rows_enter(rows, slice);
	else if (rows->form == ROWS_ASYNC && slice->place->length < 0)
		rows_add_async(rows, slice);
	else
		rows_add_moment(rows, slice);
}

static void rows_take_ended(struct fx_sql_taker *taker, int64_t id, int64_t length, int64_t set)
{
	struct fx_load_rows *rows = rows_of_taker(taker);
	struct rows_slice *async;

	HASH_FIND(hh, rows->asyncs, &id, sizeof(id), async);
	if (!async)
		return;
	async->dur = length;
	async->set = set;
	async->end = rows_cut(rows, async->ts + (uint64_t)length);
	rows_end_async(rows, async);
}

static void rows_put_value(struct fx_load_rows *rows, fx_load_bytes *row,
			   const struct fx_sql_value *value)
{
	bool is_text = value->text, is_int = !is_text && value->is_int;

	fx_load_put_8(row, !is_int);
	if (is_int)
		fx_load_put_64(row, (uint64_t)value->number);
	fx_load_put_8(row, !is_text);
	if (is_text)
		rows_put_string(rows, row, value->text);
	fx_load_put_8(row, is_text || is_int);
	if (!is_text && !is_int)
		fx_load_put_real(row, value->real);
	fx_load_put_text(row, value->type, strlen(value->type));
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
		rows_put_string(rows, row, arg.key);
		rows_put_value(rows, row, &arg.value);
		rows_done(rows, FX_LOAD_ARGS);
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
	rows_done(rows, FX_LOAD_COUNTER);
}

/* --- The exporter: the calls of the tables', and what kind of event it is ---------------------- */

static void rows_enter_thread(struct fx_exporter *exporter, const struct fx_thread *thread)
{
	rows_leave_all(rows_of(exporter));
	fx_sql_tables_ops.enter_thread(exporter, thread);
}

static void rows_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	rows_of(exporter)->form = ROWS_CALL;
	fx_sql_tables_ops.slice_begin(exporter, event);
}

static void rows_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	struct fx_load_rows *rows = rows_of(exporter);

	fx_sql_tables_ops.slice_end(exporter, thread, ts);
	if (rows->depth > 0)
		rows_leave(rows);
}

static void rows_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	rows_of(exporter)->form = ROWS_INSTANT;
	fx_sql_tables_ops.instant(exporter, event);
}

static void rows_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	rows_of(exporter)->form = ROWS_LOG;
	fx_sql_tables_ops.log(exporter, event, message);
}

static void rows_set_async(struct fx_exporter *exporter, const struct fx_async_track *track)
{
	struct fx_load_rows *rows = rows_of(exporter);

	rows_leave_all(rows);
	rows->form = ROWS_ASYNC;
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

	rows_leave_all(rows);
	rows->form = ROWS_NOTE;
	rows->process = note->process;
	fx_sql_tables_ops.note(exporter, note);
}

static void rows_finish(struct fx_exporter *exporter)
{
	struct fx_load_rows *rows = rows_of(exporter);
	struct rows_slice *async, *next;
	int r;

	rows_leave_all(rows);
	HASH_ITER (hh, rows->asyncs, async, next)
		rows_end_async(rows, async);
	fx_sql_tables_finish(exporter);
	if (exporter->error < 0)
		return;
	r = fx_small_send(rows->db, rows->batches);
	if (r < 0)
		rows_fail(rows, r);
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
	struct rows_slice *async, *next;

	if (!rows)
		return;
	HASH_ITER (hh, rows->asyncs, async, next) {
		HASH_DEL(rows->asyncs, async);
		fx_vector_free(&async->bytes);
		free(async);
	}
	for (size_t i = 0; i < rows->calls.count; i++)
		fx_vector_free(&rows->calls.items[i].bytes);
	fx_vector_free(&rows->calls);
	fx_vector_free(&rows->open);
	fx_vector_free(&rows->clean);
	fx_sql_tables_release(&rows->tables);
	sqlite3_close(rows->db);
	free(rows);
}
