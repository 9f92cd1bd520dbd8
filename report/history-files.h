/* SPDX-License-Identifier: MIT */
/* Files, and what stands at the other end of descriptors: what calls say of them. */
#ifndef FX_REPORT_HISTORY_FILES_H
#define FX_REPORT_HISTORY_FILES_H

#include "report/history-state.h"

/* What was opened is this object; NULL: no call has said so, and it is what its path says. */
void fx_history_settle(struct fx_history *history, struct fx_history_opened *opened,
		       const struct fx_history_object *object);

/* Files and peers that a call names, or that its descriptors are. */
void fx_history_see_files(struct fx_history *history, const struct fx_open_call *call,
			  const struct fx_event *event);

#endif
