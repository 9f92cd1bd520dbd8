/* SPDX-License-Identifier: MIT */
/* Which events a report is of, by its filter: what that says of a text is asked once for each. */
#ifndef FX_REPORT_VERDICTS_H
#define FX_REPORT_VERDICTS_H

#include "report/report-state.h"

/* What is known of a category, by the number of its text; to the next call of this or fx_report_shows(). */
const struct fx_report_facts *fx_report_category_facts(struct fx_report *report, uint32_t category);

/* Whether the sections see an event. What is known of its category may not last beyond this call. */
bool fx_report_shows(struct fx_report *report, const struct fx_event *event,
		     const struct fx_report_facts *category);

#endif
