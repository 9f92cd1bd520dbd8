/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "convert/sqlite/database.h"
#include "convert/utf8.h"

static const struct {
	const char *name;
	int values;
	const char *columns;
} sql_tables[] = {
#define FX_SQL_TABLE(id, name, values, columns) {name, values, columns},
#include "convert/sqlite/schema.def"
#undef FX_SQL_TABLE
};

static const struct {
	const char *name;
	const char *select;
} sql_views[] = {
#define FX_SQL_VIEW(name, select) {name, select},
#include "convert/sqlite/views.def"
#undef FX_SQL_VIEW
};

static const struct {
	enum fx_sql_table id;
	const char *table;
	const char *column;
	bool in_query;
} sql_indices[] = {
#define FX_SQL_INDEX(id, table, column, in_query) {FX_SQL_##id, table, column, in_query},
#include "convert/sqlite/indices.def"
#undef FX_SQL_INDEX
};

#define SQL_COUNT(array) (sizeof(array) / sizeof((array)[0]))
_Static_assert(SQL_COUNT(sql_indices) <= FX_SQL_INDICES_MAX, "room for the indices");

int fx_sql_errno(sqlite3 *db, int code)
{
	int error = db ? sqlite3_system_errno(db) : 0;

	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_TOOBIG:
		return -E2BIG;
	default:
		return error > 0 ? -error : -EIO;
	}
}

/* --- What is wanted --------------------------------------------------------------------------- */

void fx_sql_want_all(struct fx_sql_wants *wants)
{
	memset(wants, 0, sizeof(*wants));
	wants->names = wants->categories = true;
	for (size_t i = 0; i < FX_SQL_TABLE_COUNT; i++)
		wants->tables[i] = true;
	for (size_t i = 0; i < SQL_COUNT(sql_indices); i++)
		wants->indices[i] = true;
}

void fx_sql_want(struct fx_sql_wants *wants, const char *table, const char *column)
{
	for (size_t i = 0; i < FX_SQL_TABLE_COUNT; i++) {
		if (sqlite3_stricmp(table, sql_tables[i].name) == 0)
			wants->tables[i] = true;
	}
	for (size_t i = 0; i < SQL_COUNT(sql_indices); i++) {
		if (sql_indices[i].in_query && sqlite3_stricmp(table, sql_indices[i].table) == 0 &&
		    sqlite3_stricmp(column, sql_indices[i].column) == 0)
			wants->indices[i] = true;
	}
	if (sqlite3_stricmp(table, sql_tables[FX_SQL_SLICE].name) != 0)
		return;
	if (sqlite3_stricmp(column, "name") == 0)
		wants->names = true;
	if (sqlite3_stricmp(column, "category") == 0 || sqlite3_stricmp(column, "cat") == 0)
		wants->categories = true;
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* Runs a statement of three parts, of which the second is put in quotation marks. */
static int sql_run(sqlite3 *db, const char *head, const char *name, const char *tail)
{
	char *sql = sqlite3_mprintf("%s\"%w\"%s", head, name, tail);
	int r = SQLITE_NOMEM;

	if (sql)
		r = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return fx_sql_errno(db, r);
}

static int sql_make_table(sqlite3 *db, size_t i)
{
	char *tail = sqlite3_mprintf("(%s)", sql_tables[i].columns);
	int r = tail ? sql_run(db, "CREATE TABLE ", sql_tables[i].name, tail) : -ENOMEM;

	sqlite3_free(tail);
	return r;
}

static int sql_make_view(sqlite3 *db, size_t i)
{
	char *tail = sqlite3_mprintf(" AS %s", sql_views[i].select);
	int r = tail ? sql_run(db, "CREATE VIEW ", sql_views[i].name, tail) : -ENOMEM;

	sqlite3_free(tail);
	return r;
}

const char *fx_sql_table_name(enum fx_sql_table table)
{
	return sql_tables[table].name;
}

const char *fx_sql_table_columns(enum fx_sql_table table)
{
	return sql_tables[table].columns;
}

int fx_sql_make_tables(sqlite3 *db, const bool *others)
{
	int r = 0;

	for (size_t i = 0; i < SQL_COUNT(sql_tables) && r == 0; i++)
		r = others && others[i] ? 0 : sql_make_table(db, i);
	for (size_t i = 0; i < SQL_COUNT(sql_views) && r == 0; i++)
		r = sql_make_view(db, i);
	return r;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void sql_fail(struct fx_sql_database *database, int error)
{
	if (database->error == 0)
		database->error = error;
}

static void sql_exec(struct fx_sql_database *database, const char *sql)
{
	if (database->error == 0)
		sql_fail(database, fx_sql_errno(database->db,
						sqlite3_exec(database->db, sql, NULL, NULL, NULL)));
}

void fx_sql_begin(struct fx_sql_database *database, sqlite3 *db, const struct fx_sql_wants *wants)
{
	memset(database, 0, sizeof(*database));
	database->db = db;
	database->wants = *wants;
	sql_exec(database, "BEGIN");
}

static sqlite3_stmt *sql_prepare_insert(struct fx_sql_database *database, enum fx_sql_table table)
{
	char sql[128];
	int used =
	    snprintf(sql, sizeof(sql), "INSERT INTO \"%s\" VALUES (?1", sql_tables[table].name);

	for (int i = 2; i <= sql_tables[table].values; i++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used, ",?%d", i);
	snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
	sql_fail(database,
		 fx_sql_errno(database->db,
			      sqlite3_prepare_v3(database->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
						 &database->inserts[table], NULL)));
	return database->inserts[table];
}

sqlite3_stmt *fx_sql_row(struct fx_sql_database *database, enum fx_sql_table table)
{
	sqlite3_stmt *row = database->inserts[table];

	if (!database->wants.tables[table] || database->error < 0)
		return NULL;
	return row ? row : sql_prepare_insert(database, table);
}

void fx_sql_bind_text(sqlite3_stmt *row, int column, const struct fx_text *text)
{
	if (text && text->length > 0)
		sqlite3_bind_text(row, column, text->data, (int)text->length, SQLITE_STATIC);
}

void fx_sql_bind_string(struct fx_sql_database *database, sqlite3_stmt *row, int column,
			const struct fxt_string *string)
{
	size_t length = string->length;

	if (length == 0)
		return;
	if (string->serial || fx_utf8_is_clean(string->data, length)) {
		sqlite3_bind_text(row, column, string->data, (int)length, SQLITE_STATIC);
		return;
	}
	database->text.count = 0;
	if (fx_vector_reserve(&database->text, FX_UTF8_CLEAN_MAX(length)) < 0) {
		sql_fail(database, -ENOMEM);
		return;
	}
	length = fx_utf8_clean(string->data, length, database->text.items);
	sqlite3_bind_text(row, column, database->text.items, (int)length, SQLITE_STATIC);
}

int64_t fx_sql_insert(struct fx_sql_database *database, sqlite3_stmt *row)
{
	int r = sqlite3_step(row);

	if (r != SQLITE_DONE)
		sql_fail(database, fx_sql_errno(database->db, r));
	sqlite3_reset(row);
	sqlite3_clear_bindings(row);
	return sqlite3_last_insert_rowid(database->db);
}

/* --- The end ---------------------------------------------------------------------------------- */

static int sql_make_index(sqlite3 *db, size_t i)
{
	char *tail =
	    sqlite3_mprintf(" ON \"%w\"(\"%w\")", sql_indices[i].table, sql_indices[i].column);
	char *name = sqlite3_mprintf("%s_%s", sql_indices[i].table, sql_indices[i].column);
	int r = tail && name ? sql_run(db, "CREATE INDEX ", name, tail) : -ENOMEM;

	sqlite3_free(name);
	sqlite3_free(tail);
	return r;
}

void fx_sql_end(struct fx_sql_database *database)
{
	for (size_t i = 0; i < FX_SQL_TABLE_COUNT; i++)
		sqlite3_finalize(database->inserts[i]);
	for (size_t i = 0; i < SQL_COUNT(sql_indices) && database->error == 0; i++) {
		if (database->wants.indices[i] && database->wants.tables[sql_indices[i].id])
			sql_fail(database, sql_make_index(database->db, i));
	}
	sql_exec(database, "COMMIT");
	fx_vector_free(&database->text);
}
