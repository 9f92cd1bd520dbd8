/* SPDX-License-Identifier: MIT */
/* What was asked for, and is not there. */
#ifndef FX_REPORT_HISTORY_MISSING_H
#define FX_REPORT_HISTORY_MISSING_H

#include "report/history-state.h"

/* Reports each that was asked for and that no call has used, with what comes nearest. */
void fx_history_tell_missing(const struct fx_history *history);

#endif
