/* SPDX-License-Identifier: MIT */
/* What is told of the objects that were asked for: what they are, who used them, who waited for whom, and their uses. */
#ifndef FX_REPORT_HISTORY_TABLES_H
#define FX_REPORT_HISTORY_TABLES_H

#include "report/history-state.h"

/* The tables, and what is said of what was not found. */
void fx_history_tell(struct fx_history *history);

#endif
