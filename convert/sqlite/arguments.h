/* SPDX-License-Identifier: MIT */
/* Arguments of events, as sets of rows. */
#ifndef FX_CONVERT_SQLITE_ARGUMENTS_H
#define FX_CONVERT_SQLITE_ARGUMENTS_H

#include "convert/export.h"
#include "convert/sqlite/database.h"

/* Inserts what the event says, and our remarks on it, as a set of this number. Returns whether there is any. */
bool fx_sql_add_args(struct fx_sql_database *database, int64_t set, const struct fx_event *event);

#endif
