/* SPDX-License-Identifier: MIT */
/* Locks, conditions, semaphores and their like, and locks of files: what calls say of them. */
#ifndef FX_REPORT_HISTORY_LOCKS_H
#define FX_REPORT_HISTORY_LOCKS_H

#include "report/history-state.h"

/* Locks, conditions and their like that a call has as arguments. */
void fx_history_see_locks(struct fx_history *history, const struct fx_open_call *call,
			  const struct fx_event *event);

/* sem_open() */
void fx_history_see_name(struct fx_history *history, const struct fx_open_call *call,
			 const struct fx_event *event);

/* flock() and lockf() */
void fx_history_see_file_lock(struct fx_history *history, const struct fx_open_call *call,
			      const struct fx_event *event);

/* An instant: a lock was let go for somebody who waits. flags: FX_USE_SHOWN, or 0 */
void fx_history_see_release(struct fx_history *history, const struct fx_event *event,
			    uint16_t flags);

#endif
