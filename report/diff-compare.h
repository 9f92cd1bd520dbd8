/* SPDX-License-Identifier: MIT */
/* Rows of several runs (diff-rows.h) as a table of what changed. */
#ifndef FX_REPORT_DIFF_COMPARE_H
#define FX_REPORT_DIFF_COMPARE_H

#include "report/diff-order.h"
#include "report/diff-rows.h"

struct fx_comparison;

/* NULL: no memory. `rows' and `order' are borrowed. */
struct fx_comparison *fx_comparison_new(const struct fx_diff_rows *rows,
					const struct fx_diff_order *order);

/* NULL is allowed. */
void fx_comparison_free(struct fx_comparison *comparison);

/* Whether the rows have anything to measure, and whether it is what the order asks for. */
bool fx_comparison_has_measure(const struct fx_comparison *comparison);
bool fx_comparison_is_by(const struct fx_comparison *comparison);

/* Makes the table. Returns 0 or -ENOMEM. */
int fx_comparison_make(struct fx_comparison *comparison);

/* The table that was made; it belongs to the comparison, which may have more said below it. */
struct fx_table *fx_comparison_table(struct fx_comparison *comparison);

#endif
