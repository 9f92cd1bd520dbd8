/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-queues.h"

#include <inttypes.h>
#include <stdio.h>

#include "manager/archive/transfer-boxes.h"
#include "manager/archive/transfer-known.h"

struct fx_transfer_end *fx_transfer_queue_get(struct fx_transfer_ends *ends, const char *name)
{
	char key[80];
	struct fx_transfer_end *queue;

	snprintf(key, sizeof(key), "queue %s", name);
	queue = fx_transfer_box_named(ends, key, name);
	if (queue)
		queue->is_queue = true;
	return queue;
}

struct fx_transfer_end *fx_transfer_queue_channel(struct fx_transfer_ends *ends,
						  struct fx_transfer_end *queue, int64_t kind)
{
	char key[100];
	struct fx_transfer_end *channel;

	if (kind == FX_TRANSFER_NO_KIND)
		return queue;
	snprintf(key, sizeof(key), "channel %" PRIi64 " %s", kind, queue->bound);
	channel = fx_transfer_box_named(ends, key, key);
	if (channel && !channel->peer) {
		channel->is_queue = true;
		channel->kind = FX_TRANSFER_MESSAGES;
		channel->peer = channel;
		channel->next = queue->next;
		queue->next = channel;
	}
	return channel;
}

/* What was called on the queue, and nobody knows of which kind. */
static void queue_say(struct fx_transfer_end *queue, int way)
{
	bool is_one = queue->next && !queue->next->next;
	const struct fx_transfer *call;
	struct fx_merge merge;

	if (fx_merge_begin(&merge,
			   way == FX_TRANSFER_WAY_WRITTEN ? &queue->written : &queue->read) < 0) {
		for (struct fx_transfer_end *at = queue->next; at; at = at->next)
			at->is_odd = true;
		return;
	}
	for (call = fx_merge_first(&merge); call; call = fx_merge_next(&merge)) {
		for (struct fx_transfer_end *at = queue->next; at; at = at->next) {
			struct fx_transfer *added =
			    fx_runs_add(way == FX_TRANSFER_WAY_WRITTEN ? &at->written : &at->read);

			if (added)
				*added = *call;
			at->is_odd |= !added || (!is_one && call->bytes != FX_TRANSFER_UNKNOWN);
		}
	}
	fx_merge_end(&merge);
}

void fx_transfer_queues_join(struct fx_transfer_ends *ends)
{
	struct fx_transfer_end *box, *next;

	HASH_ITER (hh, ends->boxes, box, next) {
		/* Of a channel, the peer is itself. */
		if (!box->is_queue || box->peer)
			continue;
		queue_say(box, FX_TRANSFER_WAY_READ);
		queue_say(box, FX_TRANSFER_WAY_WRITTEN);
		fx_runs_release(&box->read);
		fx_runs_release(&box->written);
	}
}
