/* SPDX-License-Identifier: MIT */
/*
 * What a statement may do: read the tables, and nothing else. It comes from the user that has the archive, or from a
 * page that it was copied from; so it neither writes nor opens files, loads libraries, or changes settings.
 */
#ifndef FX_QUERY_RULES_H
#define FX_QUERY_RULES_H

#include <stdbool.h>

#include "convert/sqlite/database.h"

struct fx_query_rules {
	struct fx_sql_wants wants; /* what the statements were seen to read */
	bool refused;		   /* one of them wanted more */
};

/* Holds for all statements that are prepared from now on. The rules have to live until fx_query_rules_leave(). */
void fx_query_rules_enter(struct fx_query_rules *rules, sqlite3 *db);
void fx_query_rules_leave(sqlite3 *db);

/* Whatever the text of a statement names is wanted as well: of columns that stand in USING alone sqlite tells nothing. */
void fx_query_rules_names(struct fx_query_rules *rules, const char *sql);

#endif
