/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert/sqlite/arguments.h"

/* Columns of a row. */
enum { ARGS_SET = 2, ARGS_FLAT_KEY, ARGS_KEY, ARGS_INT, ARGS_STRING, ARGS_REAL, ARGS_TYPE };

static bool sql_args_is_row(const struct fxt_arg *arg)
{
	return arg->type <= FXT_ARG_BLOB;
}

/* Numbers that sqlite has not are its negative ones, as in a trace processor. */
static struct fx_sql_value sql_args_int(const char *type, int64_t number)
{
	return (struct fx_sql_value){.type = type, .is_int = true, .number = number};
}

static struct fx_sql_value sql_args_text(const struct fxt_string *text)
{
	return (struct fx_sql_value){.type = "string", .text = text};
}

struct fx_sql_value fx_sql_value_of(const struct fxt_arg *arg, struct fx_sql_scratch *scratch)
{
	scratch->string = (struct fxt_string){.data = "null", .length = 4};
	switch (arg->type) {
	case FXT_ARG_INT32:
		return sql_args_int("int", arg->int32);
	case FXT_ARG_UINT32:
		return sql_args_int("uint", arg->uint32);
	case FXT_ARG_INT64:
		return sql_args_int("int", arg->int64);
	case FXT_ARG_UINT64:
		return sql_args_int("uint", (int64_t)arg->uint64);
	case FXT_ARG_KOID:
		return sql_args_int("uint", (int64_t)arg->koid);
	case FXT_ARG_POINTER:
		return sql_args_int("pointer", (int64_t)arg->pointer);
	case FXT_ARG_BOOL:
		return sql_args_int("bool", arg->boolean);
	case FXT_ARG_DOUBLE:
		return (struct fx_sql_value){.type = "real", .real = arg->real};
	case FXT_ARG_STRING:
		return sql_args_text(&arg->string);
	case FXT_ARG_BLOB:
		scratch->string.data = scratch->text;
		scratch->string.length =
		    (uint32_t)snprintf(scratch->text, sizeof(scratch->text), "%" PRIu64 " bytes",
				       (uint64_t)arg->blob.size);
		return sql_args_text(&scratch->string);
	default:
		return sql_args_text(&scratch->string);
	}
}

/* --- The rows of an event --------------------------------------------------------------------- */

static const struct fxt_arg *sql_args_find(const struct fxt_arg *args, uint32_t nargs, uint32_t *at)
{
	for (uint32_t i = 0; i < nargs; i++) {
		if (sql_args_is_row(&args[i]) && (*at)-- == 0)
			return &args[i];
	}
	return NULL;
}

static void sql_args_set_text(struct fxt_string *string, const char *text)
{
	*string = (struct fxt_string){.data = text, .length = (uint32_t)strlen(text)};
}

/* Our own remarks on an event. */
static bool sql_args_remark(const struct fx_event *event, uint32_t at, struct fx_sql_arg *ret)
{
	struct fx_sql_scratch *scratch = &ret->scratch;

	if (event->payload > 0 && at-- == 0) {
		sql_args_set_text(&scratch->key, "blob_bytes");
		ret->key = &scratch->key;
		ret->value = sql_args_int("uint", (int64_t)event->payload);
		return true;
	}
	if (!(event->flags & (FX_ENTRY_UNFINISHED | FX_ENTRY_CUT)) || at > 0)
		return false;
	sql_args_set_text(&scratch->key, "fxtrace");
	sql_args_set_text(&scratch->string, event->flags & FX_ENTRY_UNFINISHED
						? "did not finish"
						: "cut off at the end of the slice around it");
	ret->key = &scratch->key;
	ret->value = sql_args_text(&scratch->string);
	return true;
}

bool fx_sql_arg_at(const struct fx_event *event, uint32_t at, struct fx_sql_arg *ret)
{
	const struct fxt_arg *arg = sql_args_find(event->args, event->nargs, &at);

	if (!arg)
		arg = sql_args_find(event->end_args, event->end_nargs, &at);
	if (!arg)
		return sql_args_remark(event, at, ret);
	ret->key = &arg->name;
	ret->value = fx_sql_value_of(arg, &ret->scratch);
	return true;
}

static uint32_t sql_args_count(const struct fxt_arg *args, uint32_t nargs)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < nargs; i++)
		count += sql_args_is_row(&args[i]);
	return count;
}

uint32_t fx_sql_count_args(const struct fx_event *event)
{
	return sql_args_count(event->args, event->nargs) +
	       sql_args_count(event->end_args, event->end_nargs) + (event->payload > 0) +
	       ((event->flags & (FX_ENTRY_UNFINISHED | FX_ENTRY_CUT)) != 0);
}

/* --- Inserting -------------------------------------------------------------------------------- */

static void sql_args_insert(struct fx_sql_database *database, int64_t set,
			    const struct fx_sql_arg *arg)
{
	const struct fx_sql_value *value = &arg->value;
	sqlite3_stmt *row = fx_sql_row(database, FX_SQL_ARGS);

	if (!row)
		return;
	sqlite3_bind_int64(row, ARGS_SET, set);
	fx_sql_bind_string(database, row, ARGS_FLAT_KEY, arg->key);
	fx_sql_bind_string(database, row, ARGS_KEY, arg->key);
	if (value->text) {
		sqlite3_bind_text(row, ARGS_STRING, "", 0, SQLITE_STATIC);
		fx_sql_bind_string(database, row, ARGS_STRING, value->text);
	} else if (value->is_int) {
		sqlite3_bind_int64(row, ARGS_INT, value->number);
	} else {
		sqlite3_bind_double(row, ARGS_REAL, value->real);
	}
	sqlite3_bind_text(row, ARGS_TYPE, value->type, -1, SQLITE_STATIC);
	fx_sql_insert(database, row);
}

bool fx_sql_add_args(struct fx_sql_database *database, int64_t set, const struct fx_event *event)
{
	struct fx_sql_arg arg;

	if (!database->wants.tables[FX_SQL_ARGS])
		return fx_sql_count_args(event) > 0;
	for (uint32_t i = 0; fx_sql_arg_at(event, i, &arg); i++)
		sql_args_insert(database, set, &arg);
	return fx_sql_count_args(event) > 0;
}
