/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff-compare.h"
#include "report/noise.h"

#define NO_COLUMN SIZE_MAX

/* X(NAME, "word"): what became of a row. Those of WORSE and BETTER are of times. */
#define VERDICTS(X)                                                                                \
	X(UNKNOWN, "")                                                                             \
	X(SAME, "same")                                                                            \
	X(NOISE, "noise")                                                                          \
	X(SLOWER, "slower")                                                                        \
	X(FASTER, "faster")                                                                        \
	X(MORE, "more")                                                                            \
	X(LESS, "less")                                                                            \
	X(NEW, "new")                                                                              \
	X(GONE, "gone")

#define ENUM_VERDICT_(name, word) VERDICT_##name,
enum verdict { VERDICTS(ENUM_VERDICT_) };

/* A measure of a row, before and after. */
struct change {
	struct fx_sample before, after;
	double change, share;
	enum verdict verdict;
};

struct result {
	size_t row;
	struct change leading;
	struct change count; /* beside it */
	enum verdict verdict;
};

struct fx_comparison {
	const struct fx_diff_rows *rows;
	const struct fx_diff_order *order;
	size_t leading, count; /* columns of the rows; NO_COLUMN: none */
	struct fx_column columns[FX_TABLE_COLUMNS_MAX];
	char *keys[FX_TABLE_COLUMNS_MAX]; /* those that were made for it */
	size_t column_count;
	size_t first_name; /* where the names begin */
	bool failed;
	struct fx_table *table;
	double *values;
	FX_VECTOR(struct result) results;
};

/* --- What is measured -------------------------------------------------------------------------- */

static bool comparison_can_measure(const struct fx_diff_rows *rows, size_t column)
{
	return rows->roles[column] != FX_DIFF_NAME && rows->roles[column] != FX_DIFF_ASIDE;
}

static size_t comparison_find_leading(const struct fx_diff_rows *rows, const char *by)
{
	for (size_t i = 0; by && i < rows->column_count; i++) {
		if (strcmp(rows->columns[i].key, by) == 0 && comparison_can_measure(rows, i))
			return i;
	}
	if (comparison_can_measure(rows, rows->sorted_by))
		return rows->sorted_by;
	for (size_t i = 0; i < rows->column_count; i++) {
		if (comparison_can_measure(rows, i))
			return i;
	}
	return NO_COLUMN;
}

/* The calls, else the first count. What is a count itself has none beside it. */
static size_t comparison_find_count(const struct fx_diff_rows *rows, size_t leading)
{
	size_t found = NO_COLUMN;

	if (leading == NO_COLUMN || rows->columns[leading].unit == FX_UNIT_COUNT)
		return NO_COLUMN;
	for (size_t i = 0; i < rows->column_count; i++) {
		if (rows->columns[i].unit != FX_UNIT_COUNT || rows->roles[i] != FX_DIFF_SUM)
			continue;
		if (found == NO_COLUMN || strcmp(rows->columns[i].key, "calls") == 0)
			found = i;
	}
	return found;
}

struct fx_comparison *fx_comparison_new(const struct fx_diff_rows *rows,
					const struct fx_diff_order *order)
{
	struct fx_comparison *comparison = calloc(1, sizeof(*comparison));

	if (!comparison)
		return NULL;
	comparison->rows = rows;
	comparison->order = order;
	comparison->leading = comparison_find_leading(rows, order->by);
	comparison->count = comparison_find_count(rows, comparison->leading);
	return comparison;
}

void fx_comparison_free(struct fx_comparison *comparison)
{
	if (!comparison)
		return;
	fx_table_free(comparison->table);
	for (size_t i = 0; i < comparison->column_count; i++)
		free(comparison->keys[i]);
	fx_vector_free(&comparison->results);
	free(comparison->values);
	free(comparison);
}

bool fx_comparison_has_measure(const struct fx_comparison *comparison)
{
	return comparison->leading != NO_COLUMN;
}

bool fx_comparison_is_by(const struct fx_comparison *comparison)
{
	return fx_comparison_has_measure(comparison) && comparison->order->by &&
	       strcmp(comparison->rows->columns[comparison->leading].key, comparison->order->by) ==
		   0;
}

struct fx_table *fx_comparison_table(struct fx_comparison *comparison)
{
	return comparison->table;
}

/* --- What changed ------------------------------------------------------------------------------ */

/* In how many runs of a side the row is. */
static size_t comparison_presence(const struct fx_comparison *comparison, size_t row, size_t from,
				  size_t to)
{
	size_t found = 0;

	for (size_t run = from; run < to; run++)
		found += fx_diff_rows_has(comparison->rows, row, run);
	return found;
}

static enum verdict comparison_judge(const struct fx_comparison *comparison, enum fx_unit unit,
				     const struct change *change)
{
	double noise = fx_noise(&change->before, &change->after);
	double larger = fmax(change->before.mean, change->after.mean);

	if (change->before.count == 0 || change->after.count == 0)
		return VERDICT_UNKNOWN;
	if (change->change == 0)
		return VERDICT_SAME;
	if (!isnan(noise) && fabs(change->change) <= noise)
		return VERDICT_NOISE;
	if (unit == FX_UNIT_NS && fabs(change->change) < comparison->order->threshold * larger)
		return VERDICT_SAME;
	if (unit == FX_UNIT_NS)
		return change->change > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
	return change->change > 0 ? VERDICT_MORE : VERDICT_LESS;
}

static struct change comparison_of(const struct fx_comparison *comparison, size_t row,
				   size_t column)
{
	const struct fx_diff_order *order = comparison->order;
	struct change change;

	fx_diff_rows_values(comparison->rows, row, column, comparison->values);
	change.before = fx_sample_of(comparison->values, order->before);
	change.after = fx_sample_of(comparison->values + order->before, order->after);
	change.change = change.after.mean - change.before.mean;
	change.share = change.before.mean > 0 ? change.change / change.before.mean : (double)NAN;
	change.verdict =
	    comparison_judge(comparison, comparison->rows->columns[column].unit, &change);
	return change;
}

static bool verdict_is_change(enum verdict verdict)
{
	return verdict > VERDICT_NOISE;
}

static struct result comparison_result(const struct fx_comparison *comparison, size_t row)
{
	size_t before = comparison->order->before, runs = before + comparison->order->after;
	size_t was = comparison_presence(comparison, row, 0, before);
	size_t is = comparison_presence(comparison, row, before, runs);
	struct result result = {.row = row};

	result.leading = comparison_of(comparison, row, comparison->leading);
	if (comparison->count != NO_COLUMN)
		result.count = comparison_of(comparison, row, comparison->count);
	if (was == 0 && is == runs - before)
		result.verdict = VERDICT_NEW;
	else if (is == 0 && was == before)
		result.verdict = VERDICT_GONE;
	else if (verdict_is_change(result.leading.verdict) ||
		 !verdict_is_change(result.count.verdict))
		result.verdict = result.leading.verdict;
	else
		result.verdict = result.count.verdict;
	return result;
}

/* --- Order ------------------------------------------------------------------------------------- */

static int compare_falling(double a, double b)
{
	/* What is unknown stands last. */
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return a > b ? -1 : a < b;
}

static int compare_names(const struct fx_diff_rows *rows, const struct result *left,
			 const struct result *right)
{
	for (size_t i = 0; i < rows->name_count; i++) {
		const struct fx_text *a = fx_diff_rows_name(rows, left->row, i);
		const struct fx_text *b = fx_diff_rows_name(rows, right->row, i);
		int order = strcmp(a ? a->data : "", b ? b->data : "");

		if (order)
			return order;
	}
	return 0;
}

/* What is new has grown beyond any share. */
static double result_share(const struct result *result)
{
	return result->verdict == VERDICT_NEW ? (double)INFINITY : fabs(result->leading.share);
}

static int comparison_compare_results(const void *a, const void *b, void *opaque)
{
	const struct fx_comparison *comparison = opaque;
	const struct result *left = a, *right = b;
	int order = 0;

	switch (comparison->order->sort) {
	case FX_DIFF_BY_SHARE:
		order = compare_falling(result_share(left), result_share(right));
		break;
	case FX_DIFF_BY_BEFORE:
		order = compare_falling(left->leading.before.mean, right->leading.before.mean);
		break;
	case FX_DIFF_BY_AFTER:
		order = compare_falling(left->leading.after.mean, right->leading.after.mean);
		break;
	case FX_DIFF_BY_NAME:
		order = compare_names(comparison->rows, left, right);
		break;
	default:
		break;
	}
	if (!order)
		order = compare_falling(fabs(left->leading.change), fabs(right->leading.change));
	return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* --- The table --------------------------------------------------------------------------------- */

/* A column of the table: NULL for the suffix takes the key as it is. */
static void comparison_add_column(struct fx_comparison *comparison, const struct fx_column *of,
				  const char *suffix, const char *title, enum fx_unit unit)
{
	size_t at = comparison->column_count;

	if (at == FX_TABLE_COLUMNS_MAX)
		return;
	if (asprintf(&comparison->keys[at], "%s%s", of->key, suffix) < 0) {
		comparison->keys[at] = NULL;
		comparison->failed = true;
		return;
	}
	comparison->columns[at] =
	    (struct fx_column){.key = comparison->keys[at], .title = title, .unit = unit};
	comparison->column_count++;
}

static void comparison_add_columns(struct fx_comparison *comparison)
{
	static const struct fx_column verdict = {"verdict", "verdict", FX_UNIT_TEXT};
	const struct fx_diff_rows *rows = comparison->rows;
	const struct fx_column *leading = &rows->columns[comparison->leading];

	comparison_add_column(comparison, leading, "_change", "change", leading->unit);
	comparison_add_column(comparison, leading, "_change_share", "", FX_UNIT_SHARE);
	comparison_add_column(comparison, leading, "_before", leading->title, leading->unit);
	if (comparison->order->before > 1)
		comparison_add_column(comparison, leading, "_before_deviation", "+-",
				      leading->unit);
	comparison_add_column(comparison, leading, "_after", "after", leading->unit);
	if (comparison->order->after > 1)
		comparison_add_column(comparison, leading, "_after_deviation", "+-", leading->unit);
	if (comparison->count != NO_COLUMN) {
		const struct fx_column *count = &rows->columns[comparison->count];

		comparison_add_column(comparison, count, "_before", count->title, count->unit);
		comparison_add_column(comparison, count, "_after", "after", count->unit);
	}
	comparison_add_column(comparison, &verdict, "", verdict.title, verdict.unit);
	comparison->first_name = comparison->column_count;
	for (size_t i = 0; i < rows->name_count; i++) {
		const struct fx_column *name = &rows->columns[rows->name_columns[i]];

		comparison_add_column(comparison, name, "", name->title, name->unit);
	}
}

/* Counts have a fraction where they are a mean; times and sizes are whole nanoseconds and bytes. */
static void comparison_set_number(struct fx_table *table, size_t column, enum fx_unit unit,
				  double value)
{
	if (isnan(value))
		return;
	if (unit == FX_UNIT_COUNT && value != nearbyint(value))
		fx_table_real(table, column, value);
	else
		fx_table_number(table, column, (int64_t)llround(value));
}

static size_t comparison_set_side(const struct fx_comparison *comparison, size_t at,
				  const struct fx_sample *sample, enum fx_unit unit, size_t runs)
{
	if (sample->count > 0)
		comparison_set_number(comparison->table, at, unit, sample->mean);
	at++;
	if (runs <= 1)
		return at;
	if (sample->count > 1)
		comparison_set_number(comparison->table, at, unit, sample->deviation);
	return at + 1;
}

/* The way to a row of a tree, the innermost first, as stacks are shown: mix < heavy < main. */
static void comparison_set_way(const struct fx_comparison *comparison, size_t row)
{
	const struct fx_diff_rows *rows = comparison->rows;
	const struct fx_text *name = fx_diff_rows_name(rows, row, 0);
	char way[1024];
	size_t put = 0;

	for (;;) {
		size_t length = name ? name->length : 0;

		/* Too long a way ends somewhere. */
		if (put + length + sizeof("... < ") > sizeof(way)) {
			memcpy(way + put, "...", 3);
			put += 3;
			break;
		}
		memcpy(way + put, name ? name->data : "", length);
		put += length;
		if (!fx_diff_rows_parent(rows, row, &row))
			break;
		memcpy(way + put, " < ", 3);
		put += 3;
		name = fx_diff_rows_name(rows, row, 0);
	}
	fx_table_text(comparison->table, comparison->first_name, way, put);
}

static void comparison_set_names(const struct fx_comparison *comparison, size_t row)
{
	const struct fx_diff_rows *rows = comparison->rows;

	for (size_t i = 0; i < rows->name_count; i++) {
		const struct fx_text *name = fx_diff_rows_name(rows, row, i);

		if (name)
			fx_table_text(comparison->table, comparison->first_name + i, name->data,
				      name->length);
	}
	if (rows->is_tree)
		comparison_set_way(comparison, row);
}

static void comparison_add_row(const struct fx_comparison *comparison, const struct result *result)
{
	static const char *const words[] = {
#define VERDICT_WORD_(name, word) [VERDICT_##name] = (word),
	    VERDICTS(VERDICT_WORD_)};
	const struct fx_diff_rows *rows = comparison->rows;
	const struct change *leading = &result->leading;
	enum fx_unit unit = rows->columns[comparison->leading].unit;
	size_t at = 2;

	fx_table_row(comparison->table);
	if (leading->verdict != VERDICT_UNKNOWN) {
		comparison_set_number(comparison->table, 0, unit, leading->change);
		if (!isnan(leading->share))
			fx_table_real(comparison->table, 1, leading->share);
	}
	at = comparison_set_side(comparison, at, &leading->before, unit, comparison->order->before);
	at = comparison_set_side(comparison, at, &leading->after, unit, comparison->order->after);
	if (comparison->count != NO_COLUMN) {
		at = comparison_set_side(comparison, at, &result->count.before, FX_UNIT_COUNT, 1);
		at = comparison_set_side(comparison, at, &result->count.after, FX_UNIT_COUNT, 1);
	}
	fx_table_string(comparison->table, at, words[result->verdict]);
	comparison_set_names(comparison, result->row);
}

static int comparison_collect(struct fx_comparison *comparison)
{
	size_t count = comparison->rows->keys.keys.count, same = 0, noise = 0;

	if (fx_vector_reserve(&comparison->results, count) < 0)
		return -ENOMEM;
	for (size_t row = 0; row < count; row++) {
		struct result result = comparison_result(comparison, row);

		same += result.verdict == VERDICT_SAME;
		noise += result.verdict == VERDICT_NOISE;
		if (comparison->order->all || verdict_is_change(result.verdict))
			comparison->results.items[comparison->results.count++] = result;
	}
	if (!comparison->order->all && same > 0)
		fx_table_note(comparison->table, "not shown: %zu that did not change (--all)",
			      same);
	if (!comparison->order->all && noise > 0)
		fx_table_note(comparison->table,
			      "not shown: %zu whose change is within the noise (--all)", noise);
	return 0;
}

int fx_comparison_make(struct fx_comparison *comparison)
{
	size_t runs = comparison->rows->run_count;

	comparison_add_columns(comparison);
	comparison->values = calloc(runs, sizeof(*comparison->values));
	comparison->table = fx_table_new(comparison->rows->name, comparison->rows->title,
					 comparison->columns, comparison->column_count);
	if (comparison->failed || !comparison->values || !comparison->table ||
	    comparison_collect(comparison) < 0)
		return -ENOMEM;
	if (comparison->results.count > 1)
		qsort_r(comparison->results.items, comparison->results.count, sizeof(struct result),
			comparison_compare_results, comparison);
	for (size_t i = 0; i < comparison->results.count; i++)
		comparison_add_row(comparison, &comparison->results.items[i]);
	fx_table_keep_order(comparison->table);
	fx_table_arrange(comparison->table, NULL, comparison->order->top);
	return fx_table_error(comparison->table);
}
