/* SPDX-License-Identifier: MIT */
/*
 * An exporter that makes the rows of a server's tables: of slices, arguments and counters at once, in batches. The others, of
 * which there are few, are put into a database of sqlite's by convert/sqlite/, and taken from there in the end.
 */
#ifndef FX_LOAD_ROWS_H
#define FX_LOAD_ROWS_H

#include "convert/export.h"
#include "load/batches.h"

struct fx_load_rows;

/* Both are borrowed. Returns 0 or -errno. */
int fx_load_rows_new(struct fx_timeline *timeline, struct fx_batches *batches,
		     struct fx_load_rows **ret);
/* NULL is allowed. */
void fx_load_rows_free(struct fx_load_rows *rows);

/* For fx_convert(). It ends where a batch cannot be sent: the others are then not made. */
struct fx_exporter *fx_load_rows_exporter(struct fx_load_rows *rows);

#endif
