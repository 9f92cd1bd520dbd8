/* SPDX-License-Identifier: MIT */
/*
 * Arrows of locks in memory of several processes: from who released it to who had waited for it and got it. Each process tells what
 * it does there (enum fx_share_kind); a process alone knows nothing of the others.
 *
 * A mutex is held by one thread at a time. All its times are read while it is held, so they have the order in which it was held:
 *
 *	A	|== holds ==|r			r: is about to release it; h: has it, after a wait
 *	B	     |....waits......h==|r
 *	C	   |.....waits............h==|r		h of C comes from the newest r before it: B's
 *
 * A wait sees who has the mutex as it begins. If that one did not release it next, somebody who is not traced has part, and nothing
 * is drawn of it. (Who comes and goes between two of these looks is not seen.) A holder who just lets it go may not say who he is: where others
 * than those who are traced may have part, such a wait has no arrow from what was released before it.
 *
 * Of read-write locks, barriers and conditions: share-rwlock.h, share-barrier.h, share-condition.h. Of a semaphore, units that are posted and taken are what bytes are in a channel: transfer-match.h. How many there are is seen as
 * well; from the first moment on in which nobody else was at it, all have to fit.
 */
#ifndef FX_MANAGER_SHARES_H
#define FX_MANAGER_SHARES_H

#include <stdbool.h>

#include "manager/archive/share.h"

struct fx_stream;
struct fx_stream_end;

void fx_shares_destroy(struct fx_shares *shares);

void fx_shares_take(struct fx_shares *shares, const struct fx_share_told *told);

/* Nothing more comes of the process. */
void fx_shares_end(struct fx_shares *shares, struct fx_stream *s, const struct fx_stream_end *end);

/* Draws what is certain. `is_doubtful': processes are missing. */
void fx_shares_finish(struct fx_shares *shares, bool is_doubtful);

#endif
