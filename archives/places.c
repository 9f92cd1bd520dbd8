/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/places.h"

#include <errno.h>
#include <stdlib.h>

#include "archives/times.h"

struct places_thread {
	uint64_t ids[2]; /* process, thread */
	fx_words begins; /* keys of those that have not ended */
	/* The newest slice or instant, to which a flow that is written behind it belongs. */
	uint64_t anchor_ticks, anchor_key;
	bool has_anchor;
	UT_hash_handle hh;
};

/* An operation; the end may come before the begin, from another thread's buffer. */
struct places_async {
	uint64_t id;
	uint64_t key;
	int64_t depth;
	UT_hash_handle hh;
};

/* --- Where a record would be by itself -------------------------------------------------------- */

static uint64_t places_time(const struct fx_places *places, const struct fxt_record *record,
			    uint64_t ticks)
{
	uint64_t ns = fxt_ticks_to_ns(ticks, record->provider->ticks_per_second);

	return ns > places->first_ns ? (ns - places->first_ns) / places->every : 0;
}

static uint64_t places_process(const struct fx_places *places, const struct fxt_record *record)
{
	const struct fx_belonging *of;

	switch (record->kind) {
	case FXT_KIND_EVENT:
		return record->event.thread.pid;
	case FXT_KIND_LOG:
		return record->log.thread.pid;
	case FXT_KIND_LARGE_EVENT:
		return record->large_blob.thread.pid;
	case FXT_KIND_BACKTRACE:
		return record->profiler.thread.pid;
	case FXT_KIND_USERSPACE_OBJECT:
		return record->userspace_object.process.pid;
	default: /* of no thread: the provider's process */
		of = fx_belongings_find(places->belongings, record->provider->id);
		return of ? of->pid : 0;
	}
}

static uint64_t places_by_itself(const struct fx_places *places, const struct fxt_record *record)
{
	uint64_t begin, end;

	switch (places->by) {
	case FX_SPLIT_BY_TIME:
		return fx_record_times(record, &begin, &end) ? places_time(places, record, begin)
							     : places->newest;
	case FX_SPLIT_BY_SIZE:
		return record->offset / places->every;
	default:
		return places_process(places, record);
	}
}

/* --- What is open ----------------------------------------------------------------------------- */

static struct places_thread *places_thread(struct fx_places *places,
					   const struct fxt_thread *thread)
{
	uint64_t ids[2] = {thread->pid, thread->tid};
	struct places_thread *found;

	HASH_FIND(hh, places->threads, ids, sizeof(ids), found);
	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->ids[0] = ids[0];
	found->ids[1] = ids[1];
	HASH_ADD(hh, places->threads, ids, sizeof(found->ids), found);
	return found;
}

static int places_pair(struct fx_places *places, const struct fxt_event *event, uint64_t *key)
{
	struct places_thread *thread = places_thread(places, &event->thread);

	if (!thread)
		return -ENOMEM;
	if (event->type == FXT_EVENT_DURATION_BEGIN) {
		if (fx_vector_reserve(&thread->begins, 1) < 0)
			return -ENOMEM;
		thread->begins.items[thread->begins.count++] = *key;
	} else if (thread->begins.count > 0) {
		uint64_t begun = thread->begins.items[--thread->begins.count];

		places->crossing += begun != *key;
		*key = begun;
	}
	return 0;
}

/* A slice, once it has its key, or an instant. */
static int places_anchor(struct fx_places *places, const struct fxt_event *event, uint64_t key)
{
	struct places_thread *thread = places_thread(places, &event->thread);

	if (!thread)
		return -ENOMEM;
	thread->has_anchor = true;
	thread->anchor_ticks = event->timestamp;
	thread->anchor_key = key;
	return 0;
}

/* A flow stands where the slice or instant does that was written just before it, at the same time. */
static int places_flow(struct fx_places *places, const struct fxt_event *event, uint64_t *key)
{
	const struct places_thread *thread = places_thread(places, &event->thread);

	if (!thread)
		return -ENOMEM;
	if (thread->has_anchor && thread->anchor_ticks == event->timestamp)
		*key = thread->anchor_key;
	return 0;
}

static int places_async(struct fx_places *places, const struct fxt_event *event, uint64_t *key)
{
	struct places_async *async;

	HASH_FIND(hh, places->asyncs, &event->id, sizeof(event->id), async);
	if (!async) {
		if (event->type == FXT_EVENT_ASYNC_INSTANT)
			return 0;
		async = calloc(1, sizeof(*async));
		if (!async)
			return -ENOMEM;
		async->id = event->id;
		async->key = *key;
		HASH_ADD(hh, places->asyncs, id, sizeof(async->id), async);
	}
	places->crossing += event->type != FXT_EVENT_ASYNC_INSTANT && async->key != *key;
	*key = async->key;
	async->depth += event->type == FXT_EVENT_ASYNC_BEGIN;
	async->depth -= event->type == FXT_EVENT_ASYNC_END;
	if (async->depth == 0) {
		HASH_DEL(places->asyncs, async);
		free(async);
	}
	return 0;
}

/* --- All -------------------------------------------------------------------------------------- */

int fx_places_find(struct fx_places *places, const struct fxt_record *record, uint64_t *ret_key)
{
	uint64_t key = places_by_itself(places, record);
	int r = 0;

	places->newest = key;
	if (record->kind == FXT_KIND_EVENT) {
		switch (record->event.type) {
		case FXT_EVENT_DURATION_BEGIN:
		case FXT_EVENT_DURATION_END:
			r = places_pair(places, &record->event, &key);
			if (r == 0)
				r = places_anchor(places, &record->event, key);
			break;
		case FXT_EVENT_INSTANT:
			r = places_anchor(places, &record->event, key);
			break;
		case FXT_EVENT_FLOW_BEGIN:
		case FXT_EVENT_FLOW_STEP:
		case FXT_EVENT_FLOW_END:
			r = places_flow(places, &record->event, &key);
			break;
		case FXT_EVENT_ASYNC_BEGIN:
		case FXT_EVENT_ASYNC_INSTANT:
		case FXT_EVENT_ASYNC_END:
			r = places_async(places, &record->event, &key);
			break;
		case FXT_EVENT_DURATION_COMPLETE:
			places->crossing +=
			    places->by == FX_SPLIT_BY_TIME &&
			    places_time(places, record, record->event.end_time) > key;
			r = places_anchor(places, &record->event, key);
			break;
		default:
			break;
		}
	}
	*ret_key = key;
	return r;
}

void fx_places_clear(struct fx_places *places)
{
	struct places_thread *thread, *next_thread;
	struct places_async *async, *next_async;

	HASH_ITER (hh, places->threads, thread, next_thread) {
		HASH_DEL(places->threads, thread);
		fx_vector_free(&thread->begins);
		free(thread);
	}
	HASH_ITER (hh, places->asyncs, async, next_async) {
		HASH_DEL(places->asyncs, async);
		free(async);
	}
	places->newest = 0;
	places->crossing = 0;
}
