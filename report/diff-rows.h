/* SPDX-License-Identifier: MIT */
/* Rows of one table of several reports, put together: which row of one run is which of another, and what each says. */
#ifndef FX_REPORT_DIFF_ROWS_H
#define FX_REPORT_DIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "convert/texts.h"
#include "lists/vector.h"
#include "report/keys.h"
#include "report/table.h"

enum { FX_DIFF_NAMES_MAX = 5 }; /* columns that say which row it is; further ones do not */

enum fx_diff_role {
	FX_DIFF_ASIDE,
	FX_DIFF_NAME,
	FX_DIFF_SUM,
	FX_DIFF_LEAST,
	FX_DIFF_MOST,
	FX_DIFF_ALONE,
};

struct fx_diff_rows {
	const char *name, *title;	 /* of the table */
	const struct fx_column *columns; /* the table's; static */
	size_t column_count;
	enum fx_diff_role roles[FX_TABLE_COLUMNS_MAX];
	size_t name_columns[FX_DIFF_NAMES_MAX];
	size_t name_count;
	size_t sorted_by; /* the table's own order */
	bool is_tree;
	size_t run_count;
	bool *seen_in; /* whether a run has the table */
	struct fx_texts *texts;
	struct fx_keys keys;
	FX_VECTOR(double) values; /* of each row: of each column, the runs; NAN: none */
	FX_VECTOR(double) counts; /* of each row: in each run, how many rows it was */
	FX_VECTOR(size_t)
	above; /* while a tree is taken: its rows around the present one, outermost first */
	FX_VECTOR(char) scratch;
};

/* Whether a table is compared at all. */
bool fx_diff_rows_wanted(const char *table);

/* What a column is to a comparison. */
enum fx_diff_role fx_diff_role_of(const struct fx_column *column);

/* Rows of tables as this one, of so many runs; still none. Returns 0 or -ENOMEM. */
int fx_diff_rows_init(struct fx_diff_rows *rows, const struct fx_table *table, size_t runs);
void fx_diff_rows_free(struct fx_diff_rows *rows);

/* Takes the rows of a table of a run. Returns 0 or -ENOMEM. */
int fx_diff_rows_add(struct fx_diff_rows *rows, size_t run, const struct fx_table *table);

/* The values of a column in each run: NAN where there is none. Where the row is missing in a run, that is 0 of what is
 * added up. */
void fx_diff_rows_values(const struct fx_diff_rows *rows, size_t row, size_t column,
			 double *values);

bool fx_diff_rows_has(const struct fx_diff_rows *rows, size_t row, size_t run);

/* What a row is called in a column; NULL: nothing. */
const struct fx_text *fx_diff_rows_name(const struct fx_diff_rows *rows, size_t row, size_t name);

/* The row of a tree that a row stands below; false: none. */
bool fx_diff_rows_parent(const struct fx_diff_rows *rows, size_t row, size_t *ret);

#endif
