/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "report/layout.h"

enum {
	ROWS_LOOKED_AT = 10000,
	/* A text that is cut to less says too little; the last column is what the row is about. */
	READABLE = 22,
	LAST_READABLE = 34,
};

struct narrow {
	const char *table, *key;
};

static const struct narrow layout_without[] = {
#define FX_NARROW_WITHOUT(table, key) {table, key},
#define FX_NARROW_WRAPS(table, key)
#include "report/narrow.def"
#undef FX_NARROW_WITHOUT
#undef FX_NARROW_WRAPS
};

static const struct narrow layout_wraps[] = {
#define FX_NARROW_WITHOUT(table, key)
#define FX_NARROW_WRAPS(table, key) {table, key},
#include "report/narrow.def"
#undef FX_NARROW_WITHOUT
#undef FX_NARROW_WRAPS
};

size_t fx_layout_step(const char *text, size_t length)
{
	size_t bytes = fx_utf8_sequence(text, length);

	return bytes > 0 ? bytes : 1;
}

size_t fx_layout_width_of(const char *text, size_t length)
{
	size_t width = 0;

	for (size_t i = 0; i < length; i += fx_layout_step(text + i, length - i))
		width++;
	return width;
}

const char *fx_layout_number(const struct fx_column *column, const struct fx_cell *cell,
			     char text[FX_UNIT_TEXT_MAX])
{
	if (cell->kind == FX_CELL_NUMBER)
		fx_unit_number(column->unit, cell->number, text);
	else if (cell->kind == FX_CELL_REAL)
		fx_unit_real(column->unit, cell->real, text);
	else
		text[0] = 0;
	return text;
}

static size_t layout_cell(const struct fx_table *table, size_t row, size_t column,
			  const struct fx_column *columns, bool is_last)
{
	const struct fx_cell *cell = fx_table_cell(table, row, column);
	char text[FX_UNIT_TEXT_MAX];

	if (cell->kind == FX_CELL_TEXT)
		return fx_layout_width_of(fx_table_text_of(table, cell), cell->length) +
		       (is_last ? fx_table_indent_of(table, row) * FX_LAYOUT_INDENT : 0);
	return strlen(fx_layout_number(&columns[column], cell, text));
}

/* How wide the table is; texts count as no wider than they need to be to be read, if `readable'. */
static size_t layout_total(const struct fx_layout *layout, const struct fx_column *columns,
			   size_t count, bool readable)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		size_t most = i == layout->last ? LAST_READABLE : READABLE;

		if (layout->hidden[i])
			continue;
		total += total > 0 ? FX_LAYOUT_GAP : 0;
		total += readable && columns[i].unit == FX_UNIT_TEXT && layout->widths[i] > most
			     ? most
			     : layout->widths[i];
	}
	return total;
}

/* Of columns that are hidden, the others need not be the last. */
static void layout_find_last(struct fx_layout *layout, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!layout->hidden[i])
			layout->last = i;
	}
}

static size_t layout_find(const struct fx_table *table, const struct narrow *narrow)
{
	size_t count;
	const struct fx_column *columns = fx_table_columns(table, &count);

	if (strcmp(fx_table_name(table), narrow->table) != 0)
		return count;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(columns[i].key, narrow->key) == 0)
			return i;
	}
	return count;
}

static void layout_hide(struct fx_layout *layout, const struct fx_table *table, size_t width)
{
	size_t count;
	const struct fx_column *columns = fx_table_columns(table, &count);

	for (size_t i = 0; i < sizeof(layout_without) / sizeof(*layout_without); i++) {
		size_t column = layout_find(table, &layout_without[i]);

		if (layout_total(layout, columns, count, true) <= width)
			return;
		if (column < count) {
			layout->hidden[column] = true;
			layout_find_last(layout, count);
		}
	}
}

/* The widest column of texts that may be narrower, and by how much until it is as wide as the next one. `count': none. */
static size_t layout_widest(const struct fx_layout *layout, const struct fx_column *columns,
			    size_t count, size_t *ret_more)
{
	const size_t *widths = layout->widths;
	size_t widest = count, next = FX_LAYOUT_NARROWEST;

	for (size_t i = 0; i < count; i++) {
		if (layout->hidden[i] || columns[i].unit != FX_UNIT_TEXT ||
		    widths[i] <= FX_LAYOUT_NARROWEST)
			continue;
		if (widest == count || widths[i] > widths[widest]) {
			if (widest < count)
				next = widths[widest];
			widest = i;
		} else if (widths[i] > next) {
			next = widths[i];
		}
	}
	if (widest < count)
		*ret_more = widths[widest] > next ? widths[widest] - next : 1;
	return widest;
}

/* The wide columns give way to the terminal's width, the widest first, until they are alike. */
static void layout_fit(struct fx_layout *layout, const struct fx_column *columns, size_t count,
		       size_t width)
{
	size_t total = layout_total(layout, columns, count, false), more = 0;

	while (total > width) {
		size_t widest = layout_widest(layout, columns, count, &more);

		if (widest == count)
			return;
		if (more > total - width)
			more = total - width;
		layout->widths[widest] -= more;
		total -= more;
	}
}

void fx_layout_make(struct fx_layout *layout, const struct fx_table *table, size_t width)
{
	size_t count, rows = fx_table_row_count(table);
	const struct fx_column *columns = fx_table_columns(table, &count);

	*layout = (struct fx_layout){.last = count - 1};
	for (size_t i = 0; i < count; i++) {
		layout->widths[i] = strlen(columns[i].title);
		for (size_t row = 0; row < rows && row < ROWS_LOOKED_AT; row++) {
			size_t needed = layout_cell(table, row, i, columns, i + 1 == count);

			if (needed > layout->widths[i])
				layout->widths[i] = needed;
		}
	}
	if (width == 0)
		return;
	layout_hide(layout, table, width);
	layout_fit(layout, columns, count, width);
	for (size_t i = 0; i < sizeof(layout_wraps) / sizeof(*layout_wraps); i++) {
		size_t column = layout_find(table, &layout_wraps[i]);

		if (column < count)
			layout->wraps[column] = true;
	}
}
