/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/vector.h"
#include "report/table.h"

struct row {
	size_t cells; /* the first one's place */
	unsigned indent;
};

struct fx_table {
	const char *name, *title;
	const struct fx_column *columns;
	size_t column_count;
	size_t sorted_by;
	size_t
	    earliest_first; /* 1 + the column of moments that orders rows which are equal; 0: as they came */
	bool ordered;
	bool ordered_by_itself; /* unless it is sorted by a key */
	bool is_tree;
	bool failed;
	size_t left_out;
	FX_VECTOR(struct row) rows;
	FX_VECTOR(struct fx_cell) cells;
	FX_VECTOR(char) texts;
	FX_VECTOR(char *) notes;
};

struct fx_table *fx_table_new(const char *name, const char *title, const struct fx_column *columns,
			      size_t count)
{
	struct fx_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->name = name;
	table->title = title;
	table->columns = columns;
	table->column_count = count;
	return table;
}

void fx_table_free(struct fx_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->notes.count; i++)
		free(table->notes.items[i]);
	fx_vector_free(&table->rows);
	fx_vector_free(&table->cells);
	fx_vector_free(&table->texts);
	fx_vector_free(&table->notes);
	free(table);
}

/* --- Filling ---------------------------------------------------------------------------------- */

void fx_table_row(struct fx_table *table)
{
	if (fx_vector_reserve(&table->rows, 1) < 0 ||
	    fx_vector_reserve(&table->cells, table->column_count) < 0) {
		table->failed = true;
		return;
	}
	table->rows.items[table->rows.count++] = (struct row){.cells = table->cells.count};
	memset(table->cells.items + table->cells.count, 0,
	       table->column_count * sizeof(struct fx_cell));
	table->cells.count += table->column_count;
}

/* NULL: memory has run out, and the table is lost. */
static struct fx_cell *table_last_cell(struct fx_table *table, size_t column)
{
	if (table->failed || table->rows.count == 0)
		return NULL;
	return &table->cells.items[table->rows.items[table->rows.count - 1].cells + column];
}

void fx_table_number(struct fx_table *table, size_t column, int64_t value)
{
	struct fx_cell *cell = table_last_cell(table, column);

	if (cell)
		*cell = (struct fx_cell){.kind = FX_CELL_NUMBER, .number = value};
}

void fx_table_real(struct fx_table *table, size_t column, double value)
{
	struct fx_cell *cell = table_last_cell(table, column);

	if (cell)
		*cell = (struct fx_cell){.kind = FX_CELL_REAL, .real = value};
}

void fx_table_text(struct fx_table *table, size_t column, const char *text, size_t length)
{
	struct fx_cell *cell = table_last_cell(table, column);

	if (!cell)
		return;
	if (length > UINT32_MAX || fx_vector_reserve(&table->texts, length + 1) < 0) {
		table->failed = true;
		return;
	}
	*cell = (struct fx_cell){
	    .kind = FX_CELL_TEXT, .length = (uint32_t)length, .text = table->texts.count};
	memcpy(table->texts.items + table->texts.count, text, length);
	table->texts.items[table->texts.count + length] = 0;
	table->texts.count += length + 1;
}

void fx_table_string(struct fx_table *table, size_t column, const char *text)
{
	fx_table_text(table, column, text, strlen(text));
}

void fx_table_indent(struct fx_table *table, unsigned levels)
{
	if (!table->failed && table->rows.count > 0)
		table->rows.items[table->rows.count - 1].indent = levels;
}

void fx_table_note(struct fx_table *table, const char *format, ...)
{
	va_list args;
	char *text;

	if (fx_vector_reserve(&table->notes, 1) < 0) {
		table->failed = true;
		return;
	}
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		table->failed = true;
	else
		table->notes.items[table->notes.count++] = text;
	va_end(args);
}

void fx_table_keep_order(struct fx_table *table)
{
	table->ordered = true;
}

void fx_table_keep_unless_sorted(struct fx_table *table)
{
	table->ordered_by_itself = true;
}

void fx_table_make_tree(struct fx_table *table)
{
	table->ordered = true;
	table->is_tree = true;
}

void fx_table_leave_out(struct fx_table *table, size_t rows)
{
	table->left_out += rows;
}

void fx_table_sorted_by(struct fx_table *table, size_t column)
{
	table->sorted_by = column;
}

void fx_table_earliest_first(struct fx_table *table, size_t column)
{
	table->earliest_first = 1 + column;
}

/* --- Order ------------------------------------------------------------------------------------ */

struct sorting {
	const struct fx_table *table;
	size_t column;
};

static double table_value_of(const struct fx_cell *cell)
{
	return cell->kind == FX_CELL_REAL ? cell->real : (double)cell->number;
}

static int table_compare_cells(const struct fx_table *table, const struct fx_cell *left,
			       const struct fx_cell *right)
{
	double a, b;

	/* What is empty stands last. */
	if (left->kind == FX_CELL_EMPTY || right->kind == FX_CELL_EMPTY)
		return (left->kind == FX_CELL_EMPTY) - (right->kind == FX_CELL_EMPTY);
	if (left->kind == FX_CELL_TEXT)
		return strcmp(fx_table_text_of(table, left), fx_table_text_of(table, right));
	if (left->kind == FX_CELL_NUMBER && right->kind == FX_CELL_NUMBER)
		return left->number > right->number ? -1 : left->number < right->number;
	a = table_value_of(left);
	b = table_value_of(right);
	return a > b ? -1 : a < b;
}

/* Rows that are equal stand in order of time where the table knows it, else as they came. */
static int table_compare_rows(const void *a, const void *b, void *opaque)
{
	const struct sorting *sorting = opaque;
	const struct row *left = a, *right = b;
	const struct fx_cell *cells = sorting->table->cells.items;
	int order = table_compare_cells(sorting->table, &cells[left->cells + sorting->column],
					&cells[right->cells + sorting->column]);
	size_t moment = sorting->table->earliest_first;

	if (!order && moment)
		order = table_compare_cells(sorting->table, &cells[right->cells + moment - 1],
					    &cells[left->cells + moment - 1]);
	return order ? order : (left->cells > right->cells) - (left->cells < right->cells);
}

static int table_find_column(const struct fx_table *table, const char *key, size_t *ret)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (strcmp(table->columns[i].key, key) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

int fx_table_arrange(struct fx_table *table, const char *key, size_t top)
{
	struct sorting sorting = {table, table->sorted_by};

	if (key && table_find_column(table, key, &sorting.column) < 0)
		return -ENOENT;
	if (!table->ordered && (key || !table->ordered_by_itself) && table->rows.count > 1)
		qsort_r(table->rows.items, table->rows.count, sizeof(struct row),
			table_compare_rows, &sorting);
	if (top > 0 && table->rows.count > top) {
		table->left_out += table->rows.count - top;
		table->rows.count = top;
	}
	return 0;
}

/* --- Reading ---------------------------------------------------------------------------------- */

int fx_table_error(const struct fx_table *table)
{
	return table->failed ? -ENOMEM : 0;
}

const char *fx_table_name(const struct fx_table *table)
{
	return table->name;
}

const char *fx_table_title(const struct fx_table *table)
{
	return table->title;
}

const struct fx_column *fx_table_columns(const struct fx_table *table, size_t *ret_count)
{
	*ret_count = table->column_count;
	return table->columns;
}

size_t fx_table_sort_column(const struct fx_table *table)
{
	return table->sorted_by;
}

size_t fx_table_row_count(const struct fx_table *table)
{
	return table->rows.count;
}

size_t fx_table_left_out(const struct fx_table *table)
{
	return table->left_out;
}

bool fx_table_is_tree(const struct fx_table *table)
{
	return table->is_tree;
}

unsigned fx_table_indent_of(const struct fx_table *table, size_t row)
{
	return table->rows.items[row].indent;
}

const struct fx_cell *fx_table_cell(const struct fx_table *table, size_t row, size_t column)
{
	return &table->cells.items[table->rows.items[row].cells + column];
}

const char *fx_table_text_of(const struct fx_table *table, const struct fx_cell *cell)
{
	return table->texts.items + cell->text;
}

size_t fx_table_note_count(const struct fx_table *table)
{
	return table->notes.count;
}

const char *fx_table_note_of(const struct fx_table *table, size_t note)
{
	return table->notes.items[note];
}
