/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/alike.h"
#include "report/diff-rows.h"

/* --- Which columns are what ------------------------------------------------------------------- */

bool fx_diff_rows_wanted(const char *table)
{
	static const char *const apart[] = {
#define FX_COMPARE_APART(table) table,
#define FX_COMPARE_TREE(table)
#define FX_COMPARE_COLUMN(pattern, role)
#include "report/compare.def"
#undef FX_COMPARE_APART
#undef FX_COMPARE_TREE
#undef FX_COMPARE_COLUMN
	};

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		if (strcmp(apart[i], table) == 0)
			return false;
	}
	return true;
}

static bool diff_is_tree(const char *table)
{
	static const char *const trees[] = {
#define FX_COMPARE_APART(table)
#define FX_COMPARE_TREE(table) table,
#define FX_COMPARE_COLUMN(pattern, role)
#include "report/compare.def"
#undef FX_COMPARE_APART
#undef FX_COMPARE_TREE
#undef FX_COMPARE_COLUMN
	};

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		if (strcmp(trees[i], table) == 0)
			return true;
	}
	return false;
}

enum fx_diff_role fx_diff_role_of(const struct fx_column *column)
{
	static const struct {
		const char *pattern;
		enum fx_diff_role role;
	} exceptions[] = {
#define FX_COMPARE_APART(table)
#define FX_COMPARE_TREE(table)
#define FX_COMPARE_COLUMN(pattern, role) {pattern, FX_DIFF_##role},
#include "report/compare.def"
#undef FX_COMPARE_APART
#undef FX_COMPARE_TREE
#undef FX_COMPARE_COLUMN
	};

	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		if (fnmatch(exceptions[i].pattern, column->key, 0) == 0)
			return exceptions[i].role;
	}
	switch (column->unit) {
	case FX_UNIT_TEXT:
		return FX_DIFF_NAME;
	case FX_UNIT_NS:
	case FX_UNIT_BYTES:
	case FX_UNIT_COUNT:
		return FX_DIFF_SUM;
	default:
		return FX_DIFF_ASIDE;
	}
}

int fx_diff_rows_init(struct fx_diff_rows *rows, const struct fx_table *table, size_t runs)
{
	size_t column_count;

	*rows = (struct fx_diff_rows){
	    .name = fx_table_name(table),
	    .title = fx_table_title(table),
	    .columns = fx_table_columns(table, &column_count),
	    .sorted_by = fx_table_sort_column(table),
	    .is_tree = diff_is_tree(fx_table_name(table)),
	    .run_count = runs,
	    .keys.limit = UINT32_MAX,
	};
	rows->column_count = column_count;
	for (size_t i = 0; i < rows->column_count; i++) {
		rows->roles[i] = fx_diff_role_of(&rows->columns[i]);
		if (rows->roles[i] != FX_DIFF_NAME)
			continue;
		if (rows->name_count < FX_DIFF_NAMES_MAX)
			rows->name_columns[rows->name_count++] = i;
		else
			rows->roles[i] = FX_DIFF_ASIDE;
	}
	rows->texts = fx_texts_new();
	rows->seen_in = calloc(runs, sizeof(*rows->seen_in));
	return rows->texts && rows->seen_in ? 0 : -ENOMEM;
}

void fx_diff_rows_free(struct fx_diff_rows *rows)
{
	fx_texts_free(rows->texts);
	free(rows->seen_in);
	fx_keys_free(&rows->keys);
	fx_vector_free(&rows->values);
	fx_vector_free(&rows->counts);
	fx_vector_free(&rows->above);
	fx_vector_free(&rows->scratch);
}

/* --- Which row is which ----------------------------------------------------------------------- */

/* Bytes of a command that are the folder of its program: of two builds of one program these differ. */
static size_t diff_folder(const char *command, size_t length)
{
	size_t folder = 0;

	for (size_t i = 0; i < length && command[i] != ' '; i++) {
		if (command[i] == '/')
			folder = i + 1;
	}
	return folder;
}

/* The number of what a cell says in every run; 0: nothing. -ENOMEM. */
static int diff_cell_name(struct fx_diff_rows *rows, const struct fx_table *table, size_t row,
			  size_t column, uint32_t *ret)
{
	const struct fx_cell *cell = fx_table_cell(table, row, column);
	const char *text;
	size_t length, folder = 0;

	*ret = 0;
	if (cell->kind != FX_CELL_TEXT || cell->length == 0)
		return 0;
	if (fx_vector_reserve(&rows->scratch, (size_t)cell->length + 1) < 0)
		return -ENOMEM;
	text = fx_table_text_of(table, cell);
	if (strcmp(rows->columns[column].key, "command") == 0)
		folder = diff_folder(text, cell->length);
	length = fx_alike(text + folder, cell->length - folder, rows->scratch.items);
	if (length == 0)
		return 0;
	*ret = fx_texts_add(rows->texts, rows->scratch.items, length);
	return *ret ? 0 : -ENOMEM;
}

/* Names fill the numbers of a key, and then the lower half of its address. The upper one is of the row above in a tree. */
static void diff_key_set(struct fx_key *key, size_t name, uint32_t text)
{
	if (name < 4)
		key->numbers[name] = text;
	else
		key->address |= text;
}

const struct fx_text *fx_diff_rows_name(const struct fx_diff_rows *rows, size_t row, size_t name)
{
	const struct fx_key *key = &rows->keys.keys.items[row];
	uint32_t text = name < 4 ? key->numbers[name] : (uint32_t)key->address;

	return text ? fx_texts_get(rows->texts, text) : NULL;
}

bool fx_diff_rows_parent(const struct fx_diff_rows *rows, size_t row, size_t *ret)
{
	uint64_t parent = rows->keys.keys.items[row].address >> 32;

	*ret = parent - 1;
	return parent > 0;
}

/* Of a tree, rows follow the one that they stand below. */
static uint64_t diff_key_above(const struct fx_diff_rows *rows, unsigned indent)
{
	size_t above = rows->above.count < indent ? rows->above.count : indent;

	return above > 0 ? (uint64_t)(rows->above.items[above - 1] + 1) << 32 : 0;
}

/* Keeps the row for those that stand below it. Returns 0 or -ENOMEM. */
static int diff_stand_below(struct fx_diff_rows *rows, unsigned indent, size_t row)
{
	if (indent < rows->above.count)
		rows->above.count = indent;
	if (fx_vector_reserve(&rows->above, 1) < 0)
		return -ENOMEM;
	rows->above.items[rows->above.count++] = row;
	return 0;
}

static int diff_find_row(struct fx_diff_rows *rows, const struct fx_table *table, size_t from,
			 size_t *ret)
{
	size_t values = rows->column_count * rows->run_count;
	unsigned indent = fx_table_indent_of(table, from);
	struct fx_key key = {.address = rows->is_tree ? diff_key_above(rows, indent) : 0};
	uint32_t text;

	for (size_t i = 0; i < rows->name_count; i++) {
		if (diff_cell_name(rows, table, from, rows->name_columns[i], &text) < 0)
			return -ENOMEM;
		diff_key_set(&key, i, text);
	}
	if (fx_vector_reserve(&rows->values, values) < 0 ||
	    fx_vector_reserve(&rows->counts, rows->run_count) < 0)
		return -ENOMEM;
	*ret = fx_keys_number(&rows->keys, key);
	if (*ret == FX_KEY_NONE || (rows->is_tree && diff_stand_below(rows, indent, *ret) < 0))
		return -ENOMEM;
	if (*ret * rows->run_count < rows->counts.count)
		return 0;
	for (size_t i = 0; i < values; i++)
		rows->values.items[rows->values.count++] = NAN;
	for (size_t i = 0; i < rows->run_count; i++)
		rows->counts.items[rows->counts.count++] = 0;
	return 0;
}

/* --- What rows say ---------------------------------------------------------------------------- */

static double *diff_value(const struct fx_diff_rows *rows, size_t row, size_t column, size_t run)
{
	return &rows->values.items[(row * rows->column_count + column) * rows->run_count + run];
}

static void diff_take_value(double *value, enum fx_diff_role role, double more, bool is_first)
{
	switch (role) {
	case FX_DIFF_SUM:
		*value = isnan(*value) ? more : *value + more;
		return;
	case FX_DIFF_LEAST:
		*value = fmin(*value, more);
		return;
	case FX_DIFF_MOST:
		*value = fmax(*value, more);
		return;
	case FX_DIFF_ALONE:
		*value = is_first ? more : (double)NAN;
		return;
	default:
		return;
	}
}

int fx_diff_rows_add(struct fx_diff_rows *rows, size_t run, const struct fx_table *table)
{
	rows->seen_in[run] = true;
	rows->above.count = 0;
	for (size_t from = 0; from < fx_table_row_count(table); from++) {
		double *count;
		size_t row;

		if (diff_find_row(rows, table, from, &row) < 0)
			return -ENOMEM;
		count = &rows->counts.items[row * rows->run_count + run];
		for (size_t i = 0; i < rows->column_count; i++) {
			const struct fx_cell *cell = fx_table_cell(table, from, i);
			double value;

			if (cell->kind != FX_CELL_NUMBER && cell->kind != FX_CELL_REAL)
				continue;
			value = cell->kind == FX_CELL_REAL ? cell->real : (double)cell->number;
			diff_take_value(diff_value(rows, row, i, run), rows->roles[i], value,
					*count == 0);
		}
		*count += 1;
	}
	return 0;
}

bool fx_diff_rows_has(const struct fx_diff_rows *rows, size_t row, size_t run)
{
	return rows->counts.items[row * rows->run_count + run] > 0;
}

void fx_diff_rows_values(const struct fx_diff_rows *rows, size_t row, size_t column, double *values)
{
	bool is_zero = rows->roles[column] == FX_DIFF_SUM || rows->roles[column] == FX_DIFF_MOST;

	for (size_t run = 0; run < rows->run_count; run++) {
		values[run] = *diff_value(rows, row, column, run);
		if (is_zero && !fx_diff_rows_has(rows, row, run))
			values[run] = 0;
	}
}
