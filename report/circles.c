/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "report/circles.h"

enum { STUCK_MAX = 2000, CIRCLE_SHOWN = 4 };

int fx_circles_add(struct fx_circles *circles, const struct fx_open_call *call,
		   const struct fx_event *event, const struct fx_object *object)
{
	int64_t holder;

	if (!call->is_unfinished || !fx_event_integer(event, "holder", &holder) ||
	    circles->waits.count == STUCK_MAX)
		return 0;
	if (fx_vector_reserve(&circles->waits, 1) < 0)
		return -ENOMEM;
	circles->waits.items[circles->waits.count++] =
	    (struct fx_stuck){call->thread, call->ts, (uint64_t)holder, *object, 0};
	return 0;
}

/* What the holder of a lock waits for itself; NULL: for none. Waits come thread by thread, so a thread's stand together. */
static struct fx_stuck *circles_next(struct fx_circles *circles, const struct fx_stuck *wait)
{
	for (size_t i = 0; i < circles->waits.count; i++) {
		const struct fx_thread *thread = circles->waits.items[i].thread;

		if (thread->key.tid == wait->holder && thread->process == wait->thread->process)
			return &circles->waits.items[i];
	}
	return NULL;
}

static size_t circles_put(const struct fx_report *report, const struct fx_stuck *wait,
			  bool is_first, char *text, size_t size)
{
	char thread[FX_SHOW_MAX], object[FX_SHOW_MAX];
	int put;

	fx_show_thread(wait->thread, thread);
	fx_show_object_text(report, &wait->object, object);
	put = snprintf(text, size, "%s%.60s (tid %llu)%s waits for %.100s",
		       is_first ? "" : ", held by ", thread,
		       (unsigned long long)wait->thread->key.tid, is_first ? "" : ", who", object);
	return put < 0 ? 0 : (size_t)put < size ? (size_t)put : size - 1;
}

/* The circle that goes through `first'. */
static uint64_t circles_show(struct fx_circles *circles, const struct fx_report *report,
			     const struct fx_stuck *first, char *text, size_t size)
{
	const struct fx_stuck *wait = first;
	uint64_t since = 0;
	size_t put = 0, count = 0;

	do {
		if (count++ < CIRCLE_SHOWN)
			put += circles_put(report, wait, wait == first, text + put, size - put);
		if (wait->since > since)
			since = wait->since;
		wait = circles_next(circles, wait);
	} while (wait != first);
	if (count > CIRCLE_SHOWN)
		snprintf(text + put, size - put, ", and so on through %zu threads", count);
	else
		snprintf(text + put, size - put, ", held by %s",
			 count == 1 ? "the same thread" : "the first one");
	return since;
}

uint64_t fx_circles_find(struct fx_circles *circles, const struct fx_report *report, char *text,
			 size_t size)
{
	for (size_t i = 0; i < circles->waits.count; i++) {
		struct fx_stuck *wait = &circles->waits.items[i];

		while (wait && wait->seen == 0) {
			wait->seen = i + 1;
			wait = circles_next(circles, wait);
		}
		if (wait && wait->seen == i + 1)
			return circles_show(circles, report, wait, text, size);
	}
	return 0;
}

void fx_circles_free(struct fx_circles *circles)
{
	fx_vector_free(&circles->waits);
}
