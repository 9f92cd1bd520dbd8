/* SPDX-License-Identifier: MIT */
/* How wide the columns of a table are as text, and what a narrow terminal goes without: the table is narrow.def. */
#ifndef FX_REPORT_LAYOUT_H
#define FX_REPORT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/table.h"
#include "report/units.h"

enum {
	FX_LAYOUT_GAP = 2,	/* between columns */
	FX_LAYOUT_INDENT = 2,	/* a level of a tree */
	FX_LAYOUT_NARROWEST = 8 /* a text column is not made narrower, whatever the terminal */
};

struct fx_layout {
	size_t widths[FX_TABLE_COLUMNS_MAX];
	bool hidden[FX_TABLE_COLUMNS_MAX];
	bool wraps[FX_TABLE_COLUMNS_MAX]; /* what does not fit goes on in another line */
	size_t last;			  /* column that is not hidden */
};

/* Of a table that has columns. `width' is that of the terminal; 0: as wide as needed. */
void fx_layout_make(struct fx_layout *layout, const struct fx_table *table, size_t width);

/* The text of a cell that is no text. */
const char *fx_layout_number(const struct fx_column *column, const struct fx_cell *cell,
			     char text[FX_UNIT_TEXT_MAX]);

/* Columns that a text takes, each character one. */
size_t fx_layout_width_of(const char *text, size_t length);

/* Bytes of the first character of a text that is not empty: one byte where it is no UTF-8. */
size_t fx_layout_step(const char *text, size_t length);

#endif
