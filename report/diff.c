/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "report/diff-compare.h"
#include "report/diff-rows.h"

struct fx_diff {
	const struct fx_diff_order *order;
	size_t run_count;
	struct fx_table *runs; /* the first table: what each archive holds */
	struct fx_column run_columns[FX_TABLE_COLUMNS_MAX];
	char **files;			       /* of each run */
	FX_VECTOR(struct fx_diff_rows *) rows; /* of each table that any report has */
	FX_VECTOR(struct fx_comparison *) comparisons;
	const char *lossy; /* a file that lost records; NULL: none did */
};

struct fx_diff *fx_diff_new(const struct fx_diff_order *order)
{
	struct fx_diff *diff = calloc(1, sizeof(*diff));

	if (!diff)
		return NULL;
	diff->order = order;
	diff->run_count = order->before + order->after;
	diff->files = calloc(diff->run_count, sizeof(*diff->files));
	if (!diff->files) {
		free(diff);
		return NULL;
	}
	return diff;
}

void fx_diff_free(struct fx_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->comparisons.count; i++)
		fx_comparison_free(diff->comparisons.items[i]);
	for (size_t i = 0; i < diff->rows.count; i++) {
		fx_diff_rows_free(diff->rows.items[i]);
		free(diff->rows.items[i]);
	}
	for (size_t i = 0; i < diff->run_count; i++)
		free(diff->files[i]);
	fx_vector_free(&diff->comparisons);
	fx_vector_free(&diff->rows);
	fx_table_free(diff->runs);
	free(diff->files);
	free(diff);
}

/* --- The runs ---------------------------------------------------------------------------------- */

/* A table as that of the summary, with the side before its columns and the file behind them. */
static int diff_make_runs(struct fx_diff *diff, const struct fx_table *summary)
{
	size_t count;
	const struct fx_column *columns = fx_table_columns(summary, &count);

	if (count + 2 > FX_TABLE_COLUMNS_MAX)
		count = FX_TABLE_COLUMNS_MAX - 2;
	diff->run_columns[0] = (struct fx_column){"side", "", FX_UNIT_TEXT};
	for (size_t i = 0; i < count; i++)
		diff->run_columns[i + 1] = columns[i];
	diff->run_columns[count + 1] = (struct fx_column){"file", "file", FX_UNIT_TEXT};
	diff->runs = fx_table_new("runs", "Runs", diff->run_columns, count + 2);
	if (!diff->runs)
		return -ENOMEM;
	fx_table_keep_order(diff->runs);
	return 0;
}

static int diff_add_run(struct fx_diff *diff, size_t run, const struct fx_table *summary)
{
	size_t count;

	if (!diff->runs && diff_make_runs(diff, summary) < 0)
		return -ENOMEM;
	fx_table_columns(diff->runs, &count);
	fx_table_row(diff->runs);
	fx_table_string(diff->runs, 0, run < diff->order->before ? "before" : "after");
	for (size_t i = 1; i + 1 < count; i++) {
		const struct fx_cell *cell = fx_table_cell(summary, 0, i - 1);

		if (cell->kind == FX_CELL_NUMBER)
			fx_table_number(diff->runs, i, cell->number);
		if (strcmp(diff->run_columns[i].key, "lost") == 0 && cell->number > 0)
			diff->lossy = diff->files[run];
	}
	fx_table_string(diff->runs, count - 1, diff->files[run]);
	for (size_t i = 0; i < fx_table_note_count(summary); i++)
		fx_table_note(diff->runs, "%s: %s", diff->files[run], fx_table_note_of(summary, i));
	return 0;
}

/* --- Collecting -------------------------------------------------------------------------------- */

/* The rows that belong to a table; made if no run had it yet. NULL: no memory. */
static struct fx_diff_rows *diff_rows_of(struct fx_diff *diff, const struct fx_table *table)
{
	struct fx_diff_rows *rows;

	for (size_t i = 0; i < diff->rows.count; i++) {
		if (strcmp(diff->rows.items[i]->name, fx_table_name(table)) == 0)
			return diff->rows.items[i];
	}
	rows = malloc(sizeof(*rows));
	if (!rows || fx_vector_reserve(&diff->rows, 1) < 0) {
		free(rows);
		return NULL;
	}
	diff->rows.items[diff->rows.count++] = rows;
	return fx_diff_rows_init(rows, table, diff->run_count) < 0 ? NULL : rows;
}

int fx_diff_add(struct fx_diff *diff, size_t run, const char *file, const struct fx_report *report)
{
	int r = 0;

	diff->files[run] = strdup(file);
	if (!diff->files[run])
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < fx_report_table_count(report); i++) {
		const struct fx_table *table = fx_report_table(report, i);
		struct fx_diff_rows *rows;

		if (strcmp(fx_table_name(table), "summary") == 0)
			r = diff_add_run(diff, run, table);
		if (r < 0 || !fx_diff_rows_wanted(fx_table_name(table)))
			continue;
		rows = diff_rows_of(diff, table);
		r = rows ? fx_diff_rows_add(rows, run, table) : -ENOMEM;
	}
	return r;
}

/* --- Comparing --------------------------------------------------------------------------------- */

/* What one side has and the other has not: nothing happened there, or it was not recorded. */
static void diff_note_missing(const struct fx_diff *diff, const struct fx_diff_rows *rows,
			      struct fx_table *table)
{
	for (size_t run = 0; run < diff->run_count; run++) {
		if (!rows->seen_in[run])
			fx_table_note(table,
				      "%s has no such table: there was none of it, or it was not "
				      "recorded",
				      diff->files[run]);
	}
}

static int diff_compare(struct fx_diff *diff, const struct fx_diff_rows *rows, bool *ret_is_by)
{
	struct fx_comparison *comparison = fx_comparison_new(rows, diff->order);
	struct fx_table *table;

	if (!comparison || fx_vector_reserve(&diff->comparisons, 1) < 0) {
		fx_comparison_free(comparison);
		return -ENOMEM;
	}
	if (!fx_comparison_has_measure(comparison)) {
		fx_comparison_free(comparison);
		return 0;
	}
	diff->comparisons.items[diff->comparisons.count++] = comparison;
	if (fx_comparison_make(comparison) < 0)
		return -ENOMEM;
	table = fx_comparison_table(comparison);
	diff_note_missing(diff, rows, table);
	if (diff->lossy && strcmp(rows->name, "losses") != 0)
		fx_table_note(table,
			      "records were lost (see the runs above), so numbers are too low: %s",
			      diff->lossy);
	*ret_is_by |= fx_comparison_is_by(comparison);
	return fx_table_error(table);
}

int fx_diff_finish(struct fx_diff *diff)
{
	bool is_by = !diff->order->by;
	int r = diff->runs ? 0 : -ENOMEM;

	if (r == 0 && diff->run_count == 2)
		fx_table_note(diff->runs,
			      "one run of each side: what is noise cannot be told; times that "
			      "differ by less than %g %% are taken as the same",
			      diff->order->threshold * 100);
	else if (r == 0)
		fx_table_note(
		    diff->runs,
		    "means over runs; +- is the standard deviation; noise is what could be "
		    "chance in 1 of 100 cases, and times that differ by less than %g %% "
		    "are the same",
		    diff->order->threshold * 100);
	for (size_t i = 0; r == 0 && i < diff->rows.count; i++)
		r = diff_compare(diff, diff->rows.items[i], &is_by);
	if (r == 0 && fx_table_error(diff->runs) < 0)
		r = -ENOMEM;
	return r == 0 && !is_by ? -ENOENT : r;
}

size_t fx_diff_table_count(const struct fx_diff *diff)
{
	return diff->comparisons.count + 1;
}

const struct fx_table *fx_diff_table(const struct fx_diff *diff, size_t number)
{
	return number == 0 ? diff->runs : fx_comparison_table(diff->comparisons.items[number - 1]);
}
