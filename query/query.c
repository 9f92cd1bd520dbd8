/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "query/query.h"
#include "query/rules.h"
#include "query/virtual.h"

enum { QUERY_FAULT_MAX = 512 };

struct fx_query {
	sqlite3 *db;
	char *sql;
	struct fx_query_rules rules;
	struct fx_query_source source;
	sqlite3_stmt *extract; /* of extract_arg(); NULL: not called yet */
	char fault[QUERY_FAULT_MAX];
};

/* --- What is wrong ---------------------------------------------------------------------------- */

/* Where sqlite found the fault in the statement, in bytes; -1: not known. */
static int query_offset(sqlite3 *db)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_error_offset(db);
#else
	(void)db;
	return -1;
#endif
}

/* Characters before the place, which are what the user counts. */
static size_t query_place(const char *sql, int offset)
{
	size_t place = 1;

	for (int i = 0; i < offset; i++)
		place += (sql[i] & 0xc0) != 0x80;
	return place;
}

static int query_fault(struct fx_query *query, const char *text, int offset)
{
	char place[40] = "";
	size_t used;

	if (offset >= 0)
		snprintf(place, sizeof(place), "character %zu: ", query_place(query->sql, offset));
	used = (size_t)snprintf(query->fault, sizeof(query->fault), "%s", place);
	used += fx_escape(query->fault + used, sizeof(query->fault) - 1 - used, text, strlen(text),
			  FX_ESCAPE_CONTROLS | FX_ESCAPE_KEEP_BACKSLASHES);
	query->fault[used] = '\0';
	return -EINVAL;
}

/* What sqlite says to a statement. */
static int query_sqlite_fault(struct fx_query *query, int code)
{
	int r = fx_sql_errno(query->db, code);

	if (query->rules.refused)
		return query_fault(query, "only statements that read are allowed (SELECT)", -1);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return r;
	default:
		return query_fault(query, sqlite3_errmsg(query->db), query_offset(query->db));
	}
}

const char *fx_query_fault(const struct fx_query *query)
{
	return query->fault;
}

/* --- extract_arg(arg_set_id, key), as a trace processor has it --------------------------------- */

static void query_extract(sqlite3_context *context, sqlite3_value **values)
{
	struct fx_query *query = sqlite3_user_data(context);
	const char *key = (const char *)sqlite3_value_text(values[1]);

	if (!query->extract &&
	    sqlite3_prepare_v3(query->db,
			       "SELECT coalesce(string_value, real_value, int_value) FROM args"
			       " WHERE arg_set_id = ?1 AND key = ?2",
			       -1, SQLITE_PREPARE_PERSISTENT, &query->extract, NULL) != SQLITE_OK) {
		sqlite3_result_error(context, sqlite3_errmsg(query->db), -1);
		return;
	}
	if (!key)
		return;
	/* Perfetto's own converter puts this before the names of arguments. */
	if (strncmp(key, "debug.", strlen("debug.")) == 0)
		key += strlen("debug.");
	sqlite3_bind_value(query->extract, 1, values[0]);
	sqlite3_bind_text(query->extract, 2, key, -1, SQLITE_STATIC);
	if (sqlite3_step(query->extract) == SQLITE_ROW)
		sqlite3_result_value(context, sqlite3_column_value(query->extract, 0));
	sqlite3_reset(query->extract);
	sqlite3_clear_bindings(query->extract);
}

static void query_call_extract(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	query_extract(context, values);
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* The name "" is a database of sqlite's own: in memory, and beyond that in a file without a name. */
static int query_open_database(struct fx_query *query)
{
	int r = sqlite3_open_v2("", &query->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_exec(query->db,
				 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
				 "PRAGMA cache_size = -65536",
				 NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = sqlite3_create_function_v2(query->db, "extract_arg", 2, SQLITE_UTF8, query,
					       query_call_extract, NULL, NULL, NULL);
	if (r != SQLITE_OK)
		return fx_sql_errno(query->db, r);
	sqlite3_limit(query->db, SQLITE_LIMIT_ATTACHED, 0);
	r = fx_sql_make_tables(query->db, fx_query_virtual_tables);
	return r < 0 ? r : fx_query_virtual_make(query->db, &query->source);
}

/* Whether there is anything but spaces and comments. */
static bool query_has_statement(struct fx_query *query, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(query->db, sql, -1, &statement, NULL);

	sqlite3_finalize(statement);
	return r != SQLITE_OK || statement;
}

/* The one statement. Returns 0 or as fx_query_open() does. */
static int query_prepare(struct fx_query *query, sqlite3_stmt **ret)
{
	const char *rest;
	int r = sqlite3_prepare_v2(query->db, query->sql, -1, ret, &rest);

	if (r != SQLITE_OK)
		return query_sqlite_fault(query, r);
	if (!*ret)
		return query_fault(query, "no statement", -1);
	if (query_has_statement(query, rest)) {
		while (*rest == ' ' || *rest == '\n' || *rest == '\t')
			rest++;
		return query_fault(query, "more than one statement", (int)(rest - query->sql));
	}
	if (query->rules.refused || !sqlite3_stmt_readonly(*ret) || sqlite3_column_count(*ret) == 0)
		return query_fault(query, "only statements that read are allowed (SELECT)", -1);
	if (sqlite3_bind_parameter_count(*ret) > 0)
		return query_fault(query, "parameters (?, :name) have no values here", -1);
	return 0;
}

int fx_query_open(const char *sql, struct fx_query **ret)
{
	struct fx_query *query = calloc(1, sizeof(*query));
	sqlite3_stmt *statement = NULL;
	int r;

	*ret = query;
	if (!query)
		return -ENOMEM;
	query->sql = strdup(sql);
	r = query->sql ? query_open_database(query) : -ENOMEM;
	if (r < 0)
		return r;
	fx_query_rules_enter(&query->rules, query->db);
	r = query_prepare(query, &statement);
	if (r == 0)
		fx_query_rules_names(&query->rules, query->sql);
	fx_query_rules_leave(query->db);
	sqlite3_finalize(statement);
	return r;
}

void fx_query_empty(struct fx_query *query)
{
	sqlite3_finalize(query->extract);
	query->extract = NULL;
	fx_query_source_close(&query->source);
}

void fx_query_close(struct fx_query *query)
{
	if (!query)
		return;
	fx_query_empty(query);
	sqlite3_close(query->db);
	free(query->sql);
	free(query);
}

/* --- Filling and asking ----------------------------------------------------------------------- */

int fx_query_fill(struct fx_query *query, struct fx_timeline *timeline)
{
	return fx_query_pages_open(query->db, &query->rules.wants, timeline, &query->source.pages);
}

int fx_query_answer(struct fx_query *query, struct fx_sink *sink, enum fx_query_style style)
{
	sqlite3_stmt *statement = NULL;
	int code, r;

	fx_query_rules_enter(&query->rules, query->db);
	r = query_prepare(query, &statement);
	if (r == 0) {
		code = fx_query_write(statement, sink, style);
		if (code != SQLITE_DONE)
			r = query_sqlite_fault(query, code);
	}
	sqlite3_finalize(statement);
	fx_query_rules_leave(query->db);
	return r;
}
