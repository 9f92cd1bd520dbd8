/* SPDX-License-Identifier: MIT */
/* Rows of slices: what has a length waits until that is known. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/rows-state.h"
#include "report/kinds.h"
#include "report/show.h"
#include "report/spread.h"
#include "report/walk.h"

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

	if (rows->form == FX_LOAD_ROW_CALL && kind != FX_CALL_OTHER && kind != FX_CALL_FUNCTION) {
		call = fx_show_name_of(event, scratch);
		error = fx_event_string(event, "errno");
	}
	if (error) {
		file = fx_event_string(event, "file");
		path = fx_show_path_of(event, joined);
	}
	fx_load_row_put_string(rows, bytes, event->category);
	fx_load_row_put_string(rows, bytes, event->name);
	fx_load_row_put_string(rows, bytes, call.data == event->name->data ? NULL : &call);
	fx_load_row_put_string(rows, bytes, error);
	fx_load_row_put_string(rows, bytes, &path);
	fx_load_row_put_string(rows, bytes, file);
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
	fx_load_row_put_some(bytes, slice->place->parent);
	fx_load_put_8(bytes, (uint8_t)rows->form);
	fx_load_put_8(bytes, (uint8_t)kind);
	fx_load_put_8(bytes, unfinished);
	rows_put_names(rows, bytes, event, kind);
	rows_put_whose(rows, bytes, rows->form == FX_LOAD_ROW_ASYNC ? NULL : event->thread);
}

/* The columns in front of the id. */
static void rows_put_times(fx_load_bytes *bytes, const struct fx_load_row_slice *slice,
			   bool is_outermost)
{
	uint64_t time = slice->end - slice->ts;

	fx_load_put_64(bytes, slice->inside < time ? time - slice->inside : 0);
	fx_load_put_64(bytes, time);
	fx_load_put_64(bytes, (uint64_t)slice->dur);
	fx_load_row_put_some(bytes, slice->set);
	fx_load_put_8(bytes, is_outermost);
	fx_load_put_16(bytes, (uint16_t)fx_spread_bucket(time));
}

static void rows_send_slice(struct fx_load_rows *rows, const struct fx_load_row_slice *slice,
			    bool is_outermost)
{
	fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_SLICE);

	rows_put_times(row, slice, is_outermost);
	fx_load_put(row, slice->bytes.items, slice->bytes.count);
	row->failed |= slice->bytes.failed;
	fx_load_row_done(rows, FX_LOAD_SLICE);
}

static bool rows_is_function(const struct fx_load_row_slice *slice)
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
			fx_load_row_fail(rows, -ENOMEM);
			return NULL;
		}
		memset(rows->open.items + count, 0, more * sizeof(*rows->open.items));
		rows->open.count += more;
	}
	return &rows->open.items[name];
}

void fx_load_row_enter(struct fx_load_rows *rows, const struct fx_sql_slice *slice)
{
	const struct fx_event *event = slice->event;
	enum fx_call_kind kind = fx_call_kind_of(event->category->data);
	struct fx_load_row_slice *call;
	uint32_t *open;

	if (rows->depth == rows->calls.count) {
		if (fx_vector_reserve(&rows->calls, 1) < 0) {
			fx_load_row_fail(rows, -ENOMEM);
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

void fx_load_row_leave(struct fx_load_rows *rows)
{
	struct fx_load_row_slice *call = &rows->calls.items[--rows->depth];
	uint32_t *open = rows_is_function(call) ? rows_open(rows, call->name) : NULL;

	rows_send_slice(rows, call, !open || (*open > 0 && --*open == 0));
	if (rows->depth > 0)
		rows->calls.items[rows->depth - 1].inside += call->end - call->ts;
}

void fx_load_row_leave_all(struct fx_load_rows *rows)
{
	while (rows->depth > 0)
		fx_load_row_leave(rows);
}

void fx_load_row_add_async(struct fx_load_rows *rows, const struct fx_sql_slice *slice)
{
	struct fx_load_row_slice *async = calloc(1, sizeof(*async));

	if (!async) {
		fx_load_row_fail(rows, -ENOMEM);
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

static void rows_end_async(struct fx_load_rows *rows, struct fx_load_row_slice *async)
{
	HASH_DEL(rows->asyncs, async);
	rows_send_slice(rows, async, true);
	fx_vector_free(&async->bytes);
	free(async);
}

void fx_load_row_add_moment(struct fx_load_rows *rows, const struct fx_sql_slice *slice)
{
	struct fx_load_row_slice moment = {.id = slice->id, .set = slice->set};
	fx_load_bytes *row = fx_batches_row(rows->batches, FX_LOAD_SLICE);

	rows_put_times(row, &moment, true);
	rows_put_slice(rows, row, slice, false, fx_call_kind_of(slice->event->category->data));
	fx_load_row_done(rows, FX_LOAD_SLICE);
}

void fx_load_row_async_ended(struct fx_load_rows *rows, int64_t id, int64_t length, int64_t set)
{
	struct fx_load_row_slice *async;

	HASH_FIND(hh, rows->asyncs, &id, sizeof(id), async);
	if (!async)
		return;
	async->dur = length;
	async->set = set;
	async->end = rows_cut(rows, async->ts + (uint64_t)length);
	rows_end_async(rows, async);
}

void fx_load_row_end_asyncs(struct fx_load_rows *rows)
{
	struct fx_load_row_slice *async, *next;

	HASH_ITER (hh, rows->asyncs, async, next)
		rows_end_async(rows, async);
}

void fx_load_slices_release(struct fx_load_rows *rows)
{
	struct fx_load_row_slice *async, *next;

	HASH_ITER (hh, rows->asyncs, async, next) {
		HASH_DEL(rows->asyncs, async);
		fx_vector_free(&async->bytes);
		free(async);
	}
	for (size_t i = 0; i < rows->calls.count; i++)
		fx_vector_free(&rows->calls.items[i].bytes);
	fx_vector_free(&rows->calls);
	fx_vector_free(&rows->open);
}
