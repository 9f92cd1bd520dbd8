/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "report/show.h"
#include "why/takes.h"

enum { TAKES_MAX = 2000000 };

/* The address of the mutex that an event is about; 0: it is about none. */
static uint64_t takes_mutex(const struct fx_event *event)
{
	const struct fxt_arg *mutex = fx_event_arg(event, "mutex");

	return mutex && mutex->type == FXT_ARG_POINTER ? mutex->uint64 : 0;
}

int fx_why_takes_see(struct fx_why_takes *takes, const struct fx_event *event, uint64_t end)
{
	uint64_t mutex = takes_mutex(event);

	if (!mutex || takes->is_full)
		return 0;
	if (takes->items.count == TAKES_MAX) {
		takes->is_full = true;
		takes->items.count = 0;
		return 0;
	}
	if (fx_vector_reserve(&takes->items, 1) < 0)
		return -ENOMEM;
	takes->items.items[takes->items.count++] = (struct fx_why_take){
	    .mutex = mutex,
	    .end = end,
	    .process = event->thread->process->number,
	    .thread = event->thread->number,
	};
	return 0;
}

static int compare_takes(const void *a, const void *b)
{
	const struct fx_why_take *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->mutex != right->mutex)
		return left->mutex < right->mutex ? -1 : 1;
	return left->end < right->end ? -1 : left->end > right->end;
}

void fx_why_takes_arrange(struct fx_why_takes *takes)
{
	if (takes->items.count > 0)
		qsort(takes->items.items, takes->items.count, sizeof(*takes->items.items),
		      compare_takes);
}

const struct fx_why_take *fx_why_takes_last(const struct fx_why_takes *takes,
					    const struct fx_event *event,
					    const struct fx_thread *thread, uint64_t from,
					    uint64_t to)
{
	const struct fx_why_take *items = takes->items.items;
	struct fx_why_take key = {
	    .mutex = takes_mutex(event), .end = to, .process = thread->process->number};
	size_t low = 0, high = takes->items.count;

	if (!key.mutex)
		return NULL;
	/* The first that is not before. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_takes(&items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0) {
		if (items[low].process != key.process || items[low].mutex != key.mutex ||
		    items[low].end <= from)
			return NULL;
		if (items[low].thread != thread->number)
			return &items[low];
	}
	return NULL;
}

void fx_why_takes_free(struct fx_why_takes *takes)
{
	fx_vector_free(&takes->items);
}
