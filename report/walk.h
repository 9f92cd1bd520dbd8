/* SPDX-License-Identifier: MIT */
/* The walk through an archive: sections are told of what the filter lets pass, and of calls that are open. */
#ifndef FX_REPORT_WALK_H
#define FX_REPORT_WALK_H

#include "convert/export.h"

/* Of the exporter of a struct fx_report. */
extern const struct fx_exporter_ops fx_report_ops;

#endif
