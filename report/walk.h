/* SPDX-License-Identifier: MIT */
/* The walk through an archive: sections are told of what the filter lets pass, and of calls that are open. */
#ifndef FX_REPORT_WALK_H
#define FX_REPORT_WALK_H

#include <stdbool.h>

#include "convert/export.h"
#include "report/kinds.h"

/* Of the exporter of a struct fx_report. */
extern const struct fx_exporter_ops fx_report_ops;

/* Whether a slice was still going on when its thread, or the archive, ended. */
bool fx_report_is_unfinished(const struct fx_event *event, enum fx_call_kind kind);

#endif
