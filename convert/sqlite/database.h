/* SPDX-License-Identifier: MIT */
/*
 * The tables that a timeline is put into: what they are, which of them are wanted, and how a row gets there.
 *
 *     sqlite3_stmt *row = fx_sql_row(database, FX_SQL_SLICE);
 *     sqlite3_bind_int64(row, 1, 12);
 *     fx_sql_insert(database, row);
 *
 * What is not bound is NULL. The first error stays, and later rows are thrown away.
 */
#ifndef FX_CONVERT_SQLITE_DATABASE_H
#define FX_CONVERT_SQLITE_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include <fxtrace/reader.h>

#include "convert/texts.h"
#include "lists/vector.h"

#define FX_SQL_ENUM_(id, name, values, columns) FX_SQL_##id,
enum fx_sql_table {
#define FX_SQL_TABLE FX_SQL_ENUM_
#include "convert/sqlite/schema.def"
#undef FX_SQL_TABLE
	FX_SQL_TABLE_COUNT
};

enum { FX_SQL_INDICES_MAX = 32 };

/* What is to be filled in. */
struct fx_sql_wants {
	bool tables[FX_SQL_TABLE_COUNT];
	bool indices[FX_SQL_INDICES_MAX]; /* by line of indices.def */
	bool names;			  /* of slices */
	bool categories;
};

/* All of it. */
void fx_sql_want_all(struct fx_sql_wants *wants);

/* What a query needs to read a column; "" is any of them. */
void fx_sql_want(struct fx_sql_wants *wants, const char *table, const char *column);

const char *fx_sql_table_name(enum fx_sql_table table);

/* As CREATE TABLE has them. */
const char *fx_sql_table_columns(enum fx_sql_table table);

/* Makes the tables and views, empty; but for the tables in @others, by number, which may be NULL. Returns 0 or -errno. */
int fx_sql_make_tables(sqlite3 *db, const bool *others);

struct fx_sql_database {
	sqlite3 *db;
	struct fx_sql_wants wants;
	sqlite3_stmt *inserts[FX_SQL_TABLE_COUNT];
	FX_VECTOR(char) text; /* of the row in work: what had to be cleaned */
	int error;	      /* 0 or -errno */
};

/* Begins to fill tables that were made. `db' and `wants' are borrowed. */
void fx_sql_begin(struct fx_sql_database *database, sqlite3 *db, const struct fx_sql_wants *wants);

/* A row to be bound; NULL: the table is not wanted, or there was an error. */
sqlite3_stmt *fx_sql_row(struct fx_sql_database *database, enum fx_sql_table table);

/* Texts as UTF-8 without zeros; what is empty is NULL. They have to live until the row is inserted, and of those
 * that are no text of a timeline a row has one. */
void fx_sql_bind_text(sqlite3_stmt *row, int column, const struct fx_text *text);
void fx_sql_bind_string(struct fx_sql_database *database, sqlite3_stmt *row, int column,
			const struct fxt_string *string);

/* Returns the id of the row. */
int64_t fx_sql_insert(struct fx_sql_database *database, sqlite3_stmt *row);

/* Makes the indices and ends. */
void fx_sql_end(struct fx_sql_database *database);

/* An error of sqlite as -errno. */
int fx_sql_errno(sqlite3 *db, int code);

#endif
