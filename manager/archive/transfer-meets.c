/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "manager/archive/transfer-meets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/transfer-draw.h"

void fx_transfer_meets_free(struct fx_transfer_meets *meets)
{
	fx_vector_free(&meets->meets);
}

/* --- What is seen ----------------------------------------------------------------------------- */

void fx_transfer_meets_add(struct fx_transfer_meets *meets, const char *listener, size_t length,
			   const struct fx_transfer *call, struct fx_transfer_end *end)
{
	static const char word[] = " listening";
	struct fx_transfer_meet meet = {.call = *call, .end = end};
	char text[40];

	if (length < sizeof(word) ||
	    memcmp(listener + length - (sizeof(word) - 1), word, sizeof(word) - 1) != 0)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)length, listener);
	if (sscanf(text, "socket:[%" SCNu64 "]", &meet.listener) != 1)
		return;
	if (end && !end->accepted.end)
		end->accepted = *call;
	if (meets->meets.count == FX_TRANSFER_MEETS_MAX || fx_vector_reserve(&meets->meets, 1) < 0)
		meets->is_full = true;
	else
		meets->meets.items[meets->meets.count++] = meet;
}

void fx_transfer_meets_connect(struct fx_transfer_end *end, const struct fx_transfer *call,
			       enum fx_connects how)
{
	/* Which of two it was is not known. */
	if (how == FX_CONNECTS_NOT || (how == FX_CONNECTS_DONE && end->is_connecting))
		end->connected = (struct fx_transfer){0};
	else
		end->connected = *call;
	end->is_connecting = how == FX_CONNECTS_BEGUN;
}

/* --- What is drawn ---------------------------------------------------------------------------- */

static int compare_meets(const void *a, const void *b)
{
	const struct fx_transfer_meet *left = a, *right = b;

	if (left->listener != right->listener)
		return left->listener < right->listener ? -1 : 1;
	if (left->call.begin != right->call.begin)
		return left->call.begin < right->call.begin ? -1 : 1;
	return left->call.end < right->call.end ? -1 : left->call.end > right->call.end;
}

/* Who made the connection that was accepted there; NULL: that is not known. */
static const struct fx_transfer *meet_connect(const struct fx_transfer_meet *accept)
{
	const struct fx_transfer_end *end = accept->end, *peer = end->peer;

	if (!peer || end->is_odd || peer->is_odd || end->is_shared || peer->is_shared ||
	    !peer->connected.end || peer->connected.begin >= accept->call.end)
		return NULL;
	return &peer->connected;
}

static void meet_draw(struct fx_transfer_drawing *drawing, const struct fx_transfer *from,
		      const struct fx_transfer *to)
{
	if (from->marks & to->marks & FX_TRANSFER_SHOWN &&
	    (from->tid != to->tid || from->pid != to->pid))
		fx_transfer_draw_arrow(drawing, from, to);
}

/*
 * Of those of one socket, `at' is a poll. The accept() that came next, if it alone can have had what the poll saw; NULL: no, or none did.
 * `busy': until when others before it were accepting.
 */
static const struct fx_transfer_meet *
polled_accept(const struct fx_transfer_meet *at, const struct fx_transfer_meet *end, uint64_t busy)
{
	const struct fx_transfer_meet *found = NULL;

	for (const struct fx_transfer_meet *next = at + 1; next < end; next++) {
		if (!next->end)
			continue;
		if (found)
			return next->call.begin >= found->call.end ? found : NULL;
		if (next->call.begin < at->call.end)
			return NULL;
		found = next;
	}
	return busy < at->call.begin ? found : NULL;
}

static void listener_draw(struct fx_transfer_meets *meets, struct fx_transfer_drawing *drawing,
			  const struct fx_transfer_meet *at, const struct fx_transfer_meet *end)
{
	uint64_t busy = 0;

	for (; at < end; at++) {
		const struct fx_transfer_meet *accept = at->end ? at
							: busy < at->call.begin
							    ? polled_accept(at, end, busy)
							    : NULL;
		const struct fx_transfer *connect = accept ? meet_connect(accept) : NULL;

		if (at->end && at->call.end > busy)
			busy = at->call.end;
		if (!connect)
			continue;
		/* A poll that the connection had come before has not waited for it. */
		if (at->end || (!meets->polls_are_odd && connect->begin > at->call.begin &&
				connect->begin < at->call.end))
			meet_draw(drawing, connect, &at->call);
	}
}

void fx_transfer_meets_draw(struct fx_transfer_meets *meets, struct fx_transfer_drawing *drawing)
{
	struct fx_transfer_meet *items = meets->meets.items;
	size_t count = meets->meets.count;

	/* An accept() that nobody saw may have had any of them. */
	if (drawing->is_doubtful || drawing->lossy.count)
		return;
	meets->polls_are_odd |= meets->is_full;
	if (count)
		qsort(items, count, sizeof(*items), compare_meets);
	for (size_t begin = 0, end = 0; begin < count; begin = end) {
		while (end < count && items[end].listener == items[begin].listener)
			end++;
		listener_draw(meets, drawing, &items[begin], &items[end]);
	}
}
