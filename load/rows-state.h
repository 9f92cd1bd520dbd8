/* SPDX-License-Identifier: MIT */
/* Rows in the making (rows.h), between its units: rows.c has the exporter, row-slices.c the slices, row-values.c the values. */
#ifndef FX_LOAD_ROWS_STATE_H
#define FX_LOAD_ROWS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/sqlite/arguments.h"
#include "convert/sqlite/tables.h"
#include "lists/hashes.h"
#include "lists/vector.h"
#include "load/batches.h"

/* As in schema.def. */
enum fx_load_row_form {
	FX_LOAD_ROW_CALL,
	FX_LOAD_ROW_INSTANT,
	FX_LOAD_ROW_ASYNC,
	FX_LOAD_ROW_LOG,
	FX_LOAD_ROW_NOTE
};

/* A slice whose row waits for what becomes known later: a call, for its end; an async operation, for its own. */
struct fx_load_row_slice {
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
	enum fx_load_row_form form;	  /* of the event at hand */
	const struct fx_process *process; /* where that has no thread; NULL: none */
	uint64_t begin, end;		  /* of the archive */
	/* The thread at hand. */
	FX_VECTOR(struct fx_load_row_slice) calls; /* open, the first `depth' of them */
	size_t depth;
	FX_VECTOR(uint32_t) open; /* calls of each function, by number of the name */
	struct fx_load_row_slice *asyncs;
	int64_t counts, args, scheds; /* ids given out */
	FX_VECTOR(char) clean;
};

/* The first error, -errno, is kept. */
void fx_load_row_fail(struct fx_load_rows *rows, int error);

/* The row of this table is complete. */
void fx_load_row_done(struct fx_load_rows *rows, enum fx_load_table table);

/* --- row-values.c --- */

/* A text, as UTF-8; NULL: an empty one. */
void fx_load_row_put_string(struct fx_load_rows *rows, fx_load_bytes *bytes,
			    const struct fxt_string *string);

/* A number that may be missing, as 0. */
void fx_load_row_put_some(fx_load_bytes *bytes, int64_t number);
void fx_load_row_put_value(struct fx_load_rows *rows, fx_load_bytes *row,
			   const struct fx_sql_value *value);

/* --- row-slices.c --- */

/* A call begins on the thread at hand; its row is made once it is left. */
void fx_load_row_enter(struct fx_load_rows *rows, const struct fx_sql_slice *slice);
void fx_load_row_leave(struct fx_load_rows *rows);
void fx_load_row_leave_all(struct fx_load_rows *rows);

/* An async operation begins; ends, after `length' ns; or all that are open end with the archive. */
void fx_load_row_add_async(struct fx_load_rows *rows, const struct fx_sql_slice *slice);
void fx_load_row_async_ended(struct fx_load_rows *rows, int64_t id, int64_t length, int64_t set);
void fx_load_row_end_asyncs(struct fx_load_rows *rows);

/* What lasts no time. */
void fx_load_row_add_moment(struct fx_load_rows *rows, const struct fx_sql_slice *slice);

/* Gives back all that waits. */
void fx_load_slices_release(struct fx_load_rows *rows);

#endif
