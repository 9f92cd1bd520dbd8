/* SPDX-License-Identifier: MIT */
/* The tables of which there are few rows, by way of a database of sqlite's: in memory, and beyond that in a file without a name. */
#ifndef FX_LOAD_SMALL_H
#define FX_LOAD_SMALL_H

#include <sqlite3.h>

#include "load/batches.h"

/* One with the tables, empty. Returns 0 or -errno; *ret is to be closed either way. */
int fx_small_open(sqlite3 **ret);

/* Makes rows of what it has. Returns 0 or -errno. */
int fx_small_send(sqlite3 *db, struct fx_batches *batches);

#endif
