/* SPDX-License-Identifier: MIT */
/*
 * A table of a report: columns that say what their numbers are, rows of cells, and notes below. Text, JSON and CSV
 * (print.h) are all made from it, so that they cannot differ.
 *
 *     static const struct fx_column columns[] = {
 *             {"total_ns", "total", FX_UNIT_NS},
 *             {"name", "name", FX_UNIT_TEXT},
 *     };
 *     struct fx_table *t = fx_table_new("functions", "Functions", columns, 2);
 *     fx_table_row(t);
 *     fx_table_number(t, 0, 1200);
 *     fx_table_text(t, 1, "main", 4);
 *
 * A cell that is not set is empty: not known, or not meaningful. Memory that cannot be had is remembered in the table
 * and found by fx_table_error(); no other call returns an error.
 */
#ifndef FX_REPORT_TABLE_H
#define FX_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fx_unit {
	FX_UNIT_TEXT,
	FX_UNIT_COUNT,	/* how many */
	FX_UNIT_NUMBER, /* a name that is a number: a process id, a descriptor */
	FX_UNIT_NS,	/* a length of time, in nanoseconds */
	FX_UNIT_MOMENT, /* nanoseconds since the archive's first event */
	FX_UNIT_BYTES,
	FX_UNIT_SHARE, /* of a whole that the title names: 0.25 is 25 % */
	FX_UNIT_REAL,
};

struct fx_column {
	const char *key;   /* in JSON, CSV and --sort: what it is and its unit, "total_ns" */
	const char *title; /* above the column, for people */
	enum fx_unit unit;
};

enum { FX_TABLE_COLUMNS_MAX = 24 };

struct fx_table;

/* The name, the title and the columns are borrowed; the key and the title of each column too. NULL: no memory. */
struct fx_table *fx_table_new(const char *name, const char *title, const struct fx_column *columns,
			      size_t count);

/* NULL is allowed. */
void fx_table_free(struct fx_table *table);

/* Begins a row, all its cells empty. */
void fx_table_row(struct fx_table *table);

/* Cells of the row that was begun last. Texts are copied; their bytes are UTF-8 (convert/utf8.h). */
void fx_table_number(struct fx_table *table, size_t column, int64_t value);
void fx_table_real(struct fx_table *table, size_t column, double value);
void fx_table_text(struct fx_table *table, size_t column, const char *text, size_t length);
void fx_table_string(struct fx_table *table, size_t column, const char *text);

/* How far the last text of the row that was begun last stands in: the levels of a tree. */
void fx_table_indent(struct fx_table *table, unsigned levels);

/* A sentence below the table: what is an estimate, what is missing. */
void fx_table_note(struct fx_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The rows have an order of their own, which --sort does not change. */
void fx_table_keep_order(struct fx_table *table);

/* The rows have an order of their own, until --sort asks for another one. */
void fx_table_keep_unless_sorted(struct fx_table *table);

/* They have levels, and keep their order. */
void fx_table_make_tree(struct fx_table *table);

/* Rows that were not begun, since --top leaves them out: they are counted with those that fx_table_arrange() takes. */
void fx_table_leave_out(struct fx_table *table, size_t rows);

/* The column by which it is sorted unless told otherwise; numbers fall, texts rise. Default: the first. */
void fx_table_sorted_by(struct fx_table *table, size_t column);

/* Rows that are equal by that stand in the order of this column, a moment. */
void fx_table_earliest_first(struct fx_table *table, size_t column);

/* Puts the rows in order, by the column of this key (NULL: its own), and keeps the first `top' (0: all). Returns 0,
 * or -ENOENT if no column has the key. */
int fx_table_arrange(struct fx_table *table, const char *key, size_t top);

/* 0 or -ENOMEM. */
int fx_table_error(const struct fx_table *table);

/* --- For print.c ------------------------------------------------------------------------------ */

enum fx_cell_kind { FX_CELL_EMPTY, FX_CELL_NUMBER, FX_CELL_REAL, FX_CELL_TEXT };

struct fx_cell {
	uint8_t kind;	 /* enum fx_cell_kind */
	uint32_t length; /* FX_CELL_TEXT: bytes */
	union {
		int64_t number;
		double real;
		size_t text; /* where it begins in the table's texts */
	};
};

const char *fx_table_name(const struct fx_table *table);
const char *fx_table_title(const struct fx_table *table);
const struct fx_column *fx_table_columns(const struct fx_table *table, size_t *ret_count);
/* fx_table_sorted_by() */
size_t fx_table_sort_column(const struct fx_table *table);
size_t fx_table_row_count(const struct fx_table *table);
/* Rows that were left out, or that fx_table_arrange() has taken away. */
size_t fx_table_left_out(const struct fx_table *table);
bool fx_table_is_tree(const struct fx_table *table);
unsigned fx_table_indent_of(const struct fx_table *table, size_t row);
const struct fx_cell *fx_table_cell(const struct fx_table *table, size_t row, size_t column);
const char *fx_table_text_of(const struct fx_table *table, const struct fx_cell *cell);
size_t fx_table_note_count(const struct fx_table *table);
const char *fx_table_note_of(const struct fx_table *table, size_t note);

#endif
