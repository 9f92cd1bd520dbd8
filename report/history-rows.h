/* SPDX-License-Identifier: MIT */
/* The uses of the objects that were asked for, as rows of a table; and what all tables of a history share. */
#ifndef FX_REPORT_HISTORY_ROWS_H
#define FX_REPORT_HISTORY_ROWS_H

#include "report/history-counts.h"

/* Locks move no bytes: where nothing else was asked for, tables have no columns of them. */
#define FX_HISTORY_BYTES_COLUMNS                                                                   \
	{"read_bytes", "read", FX_UNIT_BYTES},                                                     \
	{                                                                                          \
		"written_bytes", "written", FX_UNIT_BYTES                                          \
	}

enum { FX_HISTORY_BYTES_COUNT = 2 };

#define FX_HISTORY_TABLE(telling, name, title, columns, without)                                   \
	((telling)->has_bytes                                                                      \
	     ? fx_table_new(name, title, columns, sizeof(columns) / sizeof(*(columns)))            \
	     : fx_table_new(name, title, without, sizeof(without) / sizeof(*(without))))

/* The table of uses, without rows. NULL: there is no memory. */
struct fx_table *fx_history_rows_new(const struct fx_history_telling *telling);

/* The place of a column that stands behind those of bytes. */
size_t fx_history_behind(const struct fx_history_telling *telling, size_t column);

/* A cell: its name. */
void fx_history_set_thread(const struct fx_history_telling *telling, struct fx_table *table,
			   size_t column, uint64_t number);

/* A use of the life of this number; from: 1 + the thread that let it go on, or 0. */
void fx_history_add_row(struct fx_history_telling *telling, uint32_t number,
			const struct fx_use *use, uint32_t from);

#endif
