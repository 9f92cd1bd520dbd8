/* SPDX-License-Identifier: MIT */
/* The values of a row at which a cursor stands, as sqlite takes them. */
#ifndef FX_QUERY_VALUES_H
#define FX_QUERY_VALUES_H

#include <sqlite3.h>

#include "query/cursor.h"

/* Gives sqlite a column of the row, NULL where the row has none. Returns an SQLITE_ code. */
typedef int fx_query_show(struct fx_query_cursor *cursor, sqlite3_context *context, int column);

fx_query_show fx_query_show_slice, fx_query_show_count, fx_query_show_arg;

#endif
