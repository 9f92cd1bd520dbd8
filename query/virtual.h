/* SPDX-License-Identifier: MIT */
/*
 * The tables of slices, of counters' values and of arguments, as virtual tables of sqlite: they hold nothing, their rows
 * are made from the archive (pages.h) when sqlite asks for them.
 */
#ifndef FX_QUERY_VIRTUAL_H
#define FX_QUERY_VIRTUAL_H

#include <sqlite3.h>

#include "query/named.h"

/* What these are, as fx_sql_make_tables() takes it. */
extern const bool fx_query_virtual_tables[FX_SQL_TABLE_COUNT];

/* Makes them. Nothing need be filled as long as no statement is run; the source has to live as long as the database.
 * Returns 0 or -errno. */
int fx_query_virtual_make(sqlite3 *db, struct fx_query_source *source);

#endif
