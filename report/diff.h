/* SPDX-License-Identifier: MIT */
/*
 * What changed between runs: the tables of their reports (report.h), compared row by row. A table has columns that say
 * which row it is, and columns to measure; by unit, unless compare.def says otherwise, so that a new section is
 * compared by itself. Each table is compared by one measure, the leading one, and by a count beside it.
 */
#ifndef FX_REPORT_DIFF_H
#define FX_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "report/diff-order.h"
#include "report/report.h"
#include "report/table.h"

struct fx_diff;

/* The order is borrowed. NULL: no memory. */
struct fx_diff *fx_diff_new(const struct fx_diff_order *order);

/* NULL is allowed. */
void fx_diff_free(struct fx_diff *diff);

/* Takes what the report of a run says, once for each; `file' names it. The report may go then. Returns 0 or -ENOMEM. */
int fx_diff_add(struct fx_diff *diff, size_t run, const char *file, const struct fx_report *report);

/* Compares. Returns 0 or -errno: -ENOENT if no table has the measure of the order, -ENOMEM. */
int fx_diff_finish(struct fx_diff *diff);

/* The first table is of the runs themselves. */
size_t fx_diff_table_count(const struct fx_diff *diff);
const struct fx_table *fx_diff_table(const struct fx_diff *diff, size_t number);

#endif
