/* SPDX-License-Identifier: MIT */
/*
 * Message queues of POSIX and System V. Of a priority, or type, what was sent first is received first, whatever else there is in
 * the queue: so each is a channel of its own. A receiver that did not ask for the priority has order only where there is but one.
 */
#ifndef FX_MANAGER_TRANSFER_QUEUES_H
#define FX_MANAGER_TRANSFER_QUEUES_H

#include <stdint.h>

#include "manager/archive/transfer-end.h"

/* The priority or type is not known. */
#define FX_TRANSFER_NO_KIND INT64_MIN

/* What is known of a queue of this name as a whole. NULL: there is no memory, or there are too many (then is_full). */
struct fx_transfer_end *fx_transfer_queue_get(struct fx_transfer_ends *ends, const char *name);

/* Its channel of a priority or type; NULL as above. */
struct fx_transfer_end *fx_transfer_queue_channel(struct fx_transfer_ends *ends,
						  struct fx_transfer_end *queue, int64_t kind);

/* Says to the channels what is known of whole queues. */
void fx_transfer_queues_join(struct fx_transfer_ends *ends);

#endif
