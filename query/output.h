/* SPDX-License-Identifier: MIT */
/* The rows of an answer as text for people, JSON, or CSV; they are written as they come. */
#ifndef FX_QUERY_OUTPUT_H
#define FX_QUERY_OUTPUT_H

#include <sqlite3.h>

#include "convert/sink.h"

enum fx_query_style { FX_QUERY_TEXT, FX_QUERY_JSON, FX_QUERY_CSV };

/* Steps through the statement. Returns what sqlite3_step() did last, or SQLITE_NOMEM; a sink that cannot be written to
 * ends it as SQLITE_DONE. */
int fx_query_write(sqlite3_stmt *statement, struct fx_sink *sink, enum fx_query_style style);

#endif
