/* SPDX-License-Identifier: MIT */
/* Descriptors: what calls say of them. */
#ifndef FX_REPORT_HISTORY_FDS_H
#define FX_REPORT_HISTORY_FDS_H

#include "report/history-state.h"

/* Descriptors that a call uses, opens, or closes. */
void fx_history_see_fds(struct fx_history *history, const struct fx_open_call *call,
			const struct fx_event *event);

#endif
