/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/show.h"
#include "why/past-internal.h"

/* What an arrow ends in: a wait, or the life of a thread. */
struct ending {
	uint64_t chain;
	struct fx_why_origin *origin;
};

static int compare_beginnings(const void *a, const void *b)
{
	const struct fx_past_beginning *left = a, *right = b;

	return left->ts < right->ts ? -1 : left->ts > right->ts;
}

const struct fx_runs_kind fx_past_beginnings_kind = {
    .size = sizeof(struct fx_past_beginning),
    .compare = compare_beginnings,
};

/* --- Ends that are seen ----------------------------------------------------------------------- */

void fx_past_arrow_begins(struct fx_past_collector *collector, const struct fx_event *event,
			  uint64_t chain)
{
	struct fx_past_beginning *beginning = fx_runs_add(&collector->beginnings);

	if (beginning)
		*beginning = (struct fx_past_beginning){chain, event->ts, event->thread->number};
	else
		collector->exporter.error = -ENOMEM;
}

/*
 * A signal that a read of a signalfd got, and that the poll just before had waited for:
 *
 *	[ epoll_wait: signalfd ][ read: signalfd ]
 *	            kill  ------------------>
 *
 * Whether it was sent during the poll shows once the arrow's other end is known. (Of bytes, the manager has drawn arrows to polls.)
 */
static void past_read_found(struct fx_past_collector *collector, uint64_t chain)
{
	struct fx_why_past *past = collector->past;
	struct fx_why_wait *poll;

	if (!collector->found || collector->found != collector->file || collector->life->count == 0)
		return;
	poll = &past->waits.items[past->waits.count - 1];
	if (poll->from.thread != FX_WHY_NOBODY)
		return;
	poll->from = (struct fx_why_origin){chain, 0};
	poll->by_read = 1;
}

/* Numbers of chains stand where the times will be. */
void fx_past_arrow_ends(struct fx_past_collector *collector, const struct fx_event *event,
			uint64_t chain)
{
	struct fx_why_life *life = collector->life;
	struct fx_why_wait *wait = &collector->wait;

	if (collector->has_wait && event->ts > wait->begin && event->ts <= wait->end) {
		wait->from = (struct fx_why_origin){chain, 0};
		past_read_found(collector, chain);
	} else if (life->maker.thread == FX_WHY_NOBODY &&
		   (fxt_string_equals(event->name, "thread starts") ||
		    fxt_string_equals(event->name, "process starts"))) {
		life->maker = (struct fx_why_origin){chain, 0};
	}
}

/* Arrows from who wrote to who read, which the manager has drawn; others of the program's own end no wait. */
static bool past_is_message(const struct fx_past_collector *collector,
			    const struct fx_flow_link *link)
{
	return link->category &&
	       strcmp(fx_texts_get(collector->exporter.timeline->strings, link->category)->data,
		      "message") == 0;
}

/* The ends of those that stand at calls: the one that reads had not waited long for what had been written. */
void fx_past_messages(struct fx_past_collector *collector, const struct fx_event *event)
{
	struct fx_why_wait *wait = &collector->wait;

	for (size_t i = 0; i < event->link_count; i++) {
		const struct fx_flow_link *link = &event->links[i];

		if (!past_is_message(collector, link))
			continue;
		if (link->role == FX_FLOW_FIRST)
			fx_past_arrow_begins(collector, event, link->chain);
		else if (collector->has_wait && event->ts == wait->begin)
			wait->from = (struct fx_why_origin){link->chain, 0};
	}
}

/* --- Arrows ----------------------------------------------------------------------------------- */

static int compare_endings(const void *a, const void *b)
{
	const struct ending *left = a, *right = b;

	return left->chain < right->chain ? -1 : left->chain > right->chain;
}

/* What arrows end in, by chain. */
static struct ending *past_endings(const struct fx_why_past *past, size_t *ret_count)
{
	size_t threads = past->timeline->threads.count, count = 0;
	struct ending *endings = malloc((past->waits.count + threads + 1) * sizeof(*endings));

	if (!endings)
		return NULL;
	for (size_t i = 0; i < past->waits.count; i++) {
		struct fx_why_origin *from = &past->waits.items[i].from;

		if (from->thread != FX_WHY_NOBODY)
			endings[count++] = (struct ending){from->at, from};
	}
	for (size_t i = 0; i < threads; i++) {
		struct fx_why_origin *maker = &past->lives[i].maker;

		if (maker->thread != FX_WHY_NOBODY)
			endings[count++] = (struct ending){maker->at, maker};
	}
	qsort(endings, count, sizeof(*endings), compare_endings);
	*ret_count = count;
	return endings;
}

/* Gives the endings the times at which their arrows begin; those whose begin is not there have none. */
static int past_join(struct fx_past_collector *collector, struct ending *endings, size_t count)
{
	const struct fx_past_beginning *beginning;
	struct fx_merge merge;
	int r = fx_merge_begin(&merge, &collector->beginnings);

	if (r < 0)
		return r;
	beginning = fx_merge_first(&merge);
	for (size_t i = 0; i < count; i++) {
		while (beginning && beginning->chain < endings[i].chain)
			beginning = fx_merge_next(&merge);
		if (beginning && beginning->chain == endings[i].chain) {
			*endings[i].origin =
			    (struct fx_why_origin){beginning->ts, (uint32_t)beginning->thread};
			collector->past->arrows++;
		} else {
			endings[i].origin->thread = FX_WHY_NOBODY;
		}
	}
	r = merge.error;
	fx_merge_end(&merge);
	return r;
}

int fx_past_resolve(struct fx_past_collector *collector)
{
	size_t count;
	struct ending *endings = past_endings(collector->past, &count);
	int r = endings ? past_join(collector, endings, count) : -ENOMEM;

	free(endings);
	for (size_t i = 0; i < collector->past->waits.count; i++) {
		struct fx_why_wait *wait = &collector->past->waits.items[i];

		if (wait->holder != FX_WHY_NOBODY)
			wait->from = (struct fx_why_origin){wait->end, wait->holder};
		if (wait->by_read && (wait->from.at <= wait->begin || wait->from.at > wait->end))
			wait->from.thread = FX_WHY_NOBODY;
	}
	return r;
}
