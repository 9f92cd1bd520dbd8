/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "convert/sqlite/arguments.h"

/* Columns of a row. */
enum { ARGS_SET = 2, ARGS_FLAT_KEY, ARGS_KEY, ARGS_INT, ARGS_STRING, ARGS_REAL, ARGS_TYPE };

static sqlite3_stmt *sql_args_row(struct fx_sql_database *database, int64_t set)
{
	sqlite3_stmt *row = fx_sql_row(database, FX_SQL_ARGS);

	if (row)
		sqlite3_bind_int64(row, ARGS_SET, set);
	return row;
}

static void sql_args_type(sqlite3_stmt *row, const char *type)
{
	sqlite3_bind_text(row, ARGS_TYPE, type, -1, SQLITE_STATIC);
}

/* Numbers that sqlite has not are its negative ones, as in a trace processor. */
static void sql_args_int(sqlite3_stmt *row, const char *type, int64_t value)
{
	sqlite3_bind_int64(row, ARGS_INT, value);
	sql_args_type(row, type);
}

static void sql_args_literal(sqlite3_stmt *row, const char *text)
{
	sqlite3_bind_text(row, ARGS_STRING, text, -1, SQLITE_TRANSIENT);
	sql_args_type(row, "string");
}

static void sql_args_value(struct fx_sql_database *database, sqlite3_stmt *row,
			   const struct fxt_arg *arg)
{
	char text[40];

	switch (arg->type) {
	case FXT_ARG_INT32:
		sql_args_int(row, "int", arg->int32);
		break;
	case FXT_ARG_UINT32:
		sql_args_int(row, "uint", arg->uint32);
		break;
	case FXT_ARG_INT64:
		sql_args_int(row, "int", arg->int64);
		break;
	case FXT_ARG_UINT64:
		sql_args_int(row, "uint", (int64_t)arg->uint64);
		break;
	case FXT_ARG_KOID:
		sql_args_int(row, "uint", (int64_t)arg->koid);
		break;
	case FXT_ARG_POINTER:
		sql_args_int(row, "pointer", (int64_t)arg->pointer);
		break;
	case FXT_ARG_BOOL:
		sql_args_int(row, "bool", arg->boolean);
		break;
	case FXT_ARG_DOUBLE:
		sqlite3_bind_double(row, ARGS_REAL, arg->real);
		sql_args_type(row, "real");
		break;
	case FXT_ARG_STRING:
		sqlite3_bind_text(row, ARGS_STRING, "", 0, SQLITE_STATIC);
		fx_sql_bind_string(database, row, ARGS_STRING, &arg->string);
		sql_args_type(row, "string");
		break;
	case FXT_ARG_BLOB:
		snprintf(text, sizeof(text), "%" PRIu64 " bytes", (uint64_t)arg->blob.size);
		sql_args_literal(row, text);
		break;
	default:
		sql_args_literal(row, "null");
		break;
	}
}

static bool sql_args_add(struct fx_sql_database *database, int64_t set, const struct fxt_arg *args,
			 uint32_t nargs)
{
	bool some = false;

	for (uint32_t i = 0; i < nargs; i++) {
		sqlite3_stmt *row;

		if (args[i].type > FXT_ARG_BLOB)
			continue;
		some = true;
		row = sql_args_row(database, set);
		if (!row)
			continue;
		fx_sql_bind_string(database, row, ARGS_FLAT_KEY, &args[i].name);
		fx_sql_bind_string(database, row, ARGS_KEY, &args[i].name);
		sql_args_value(database, row, &args[i]);
		fx_sql_insert(database, row);
	}
	return some;
}

/* Our own remark on an event. NULL: the table is not wanted. */
static sqlite3_stmt *sql_args_remark(struct fx_sql_database *database, int64_t set, const char *key)
{
	sqlite3_stmt *row = sql_args_row(database, set);

	if (row) {
		sqlite3_bind_text(row, ARGS_FLAT_KEY, key, -1, SQLITE_STATIC);
		sqlite3_bind_text(row, ARGS_KEY, key, -1, SQLITE_STATIC);
	}
	return row;
}

static void sql_args_say(struct fx_sql_database *database, int64_t set, const char *text)
{
	sqlite3_stmt *row = sql_args_remark(database, set, "fxtrace");

	if (row) {
		sql_args_literal(row, text);
		fx_sql_insert(database, row);
	}
}

static void sql_args_payload(struct fx_sql_database *database, int64_t set, uint64_t payload)
{
	sqlite3_stmt *row = sql_args_remark(database, set, "blob_bytes");

	if (row) {
		sql_args_int(row, "uint", (int64_t)payload);
		fx_sql_insert(database, row);
	}
}

bool fx_sql_add_args(struct fx_sql_database *database, int64_t set, const struct fx_event *event)
{
	bool some = sql_args_add(database, set, event->args, event->nargs);

	some |= sql_args_add(database, set, event->end_args, event->end_nargs);
	if (event->payload > 0)
		sql_args_payload(database, set, event->payload);
	if (event->flags & FX_ENTRY_UNFINISHED)
		sql_args_say(database, set, "did not finish");
	else if (event->flags & FX_ENTRY_CUT)
		sql_args_say(database, set, "cut off at the end of the slice around it");
	return some || event->payload > 0 || (event->flags & (FX_ENTRY_UNFINISHED | FX_ENTRY_CUT));
}
