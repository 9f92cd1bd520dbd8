/* SPDX-License-Identifier: MIT */
/*
 * What matters most in an archive, in words: each finding has the time that it is about, by which findings are ranked,
 * and the command that shows more.
 */
#ifndef FX_REPORT_FINDINGS_H
#define FX_REPORT_FINDINGS_H

#include <stdint.h>

#include "report/section.h"
#include "report/waiting.h"

struct fx_findings;

/* NULL: no memory. */
struct fx_findings *fx_findings_new(struct fx_report *report);

/* NULL is allowed. */
void fx_findings_free(struct fx_findings *findings);

/* `wait' is what the call waits for; of calls inside a call that waits, nothing. */
void fx_findings_enter(struct fx_findings *findings, const struct fx_open_call *call,
		       const struct fx_event *event, enum fx_wait_kind wait);
void fx_findings_leave(struct fx_findings *findings, const struct fx_open_call *call);
void fx_findings_instant(struct fx_findings *findings, const struct fx_event *event);

/* Adds the table of the three that matter most. */
void fx_findings_tables(struct fx_findings *findings);

#endif
