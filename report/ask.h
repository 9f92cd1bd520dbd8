/* SPDX-License-Identifier: MIT */
/*
 * A report of archives that a database server has (load/schema.def): sections that can say what they count as sums over rows get
 * these from there, in the place of a walk, and make their tables of them as they do otherwise.
 *
 *     fx_report_walks()             whether other sections need a timeline with events; else it is an empty one, for texts
 *     fx_report_open()              order->is_asked
 *     fx_report_ask()               each question, from 0 on; of each row of its answer, fx_report_take()
 *     fx_report_fill()
 */
#ifndef FX_REPORT_ASK_H
#define FX_REPORT_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

/* "SELECT select FROM slice WHERE <these archives> AND where". */
struct fx_ask {
	const char *select;
	const char *where; /* with what groups and orders the rows behind it */
	size_t fields;
	/* The fields of a row, as texts that are terminated. */
	void (*take)(void *section, char **fields);
};

enum { FX_ASK_FIELDS_MAX = 12 };

bool fx_report_can_ask(enum fx_section_number section);

/* Whether a report that is asked for walks through events all the same; *ret_kinds are the kinds of calls that it looks at: FX_KIND()
 * of each, or 0, which is all. */
bool fx_report_walks(const struct fx_report_order *order, unsigned *ret_kinds);

/* NULL: there are no more. */
const struct fx_ask *fx_report_ask(const struct fx_report *report, size_t number);
void fx_report_take(struct fx_report *report, size_t number, char **fields);

/* Records that were lost, and what would have kept them; "": not known. */
void fx_report_set_lost(struct fx_report *report, uint64_t count, const char *cure);

#endif
