/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/pictures/processor.h"
#include "lists/hashes.h"
#include "convert/sched.h"

struct turn {
	uint64_t ts;
	enum fx_running before; /* what a first turn tells of the time before it */
	enum fx_running after;
};

struct turns {
	uint64_t tid;
	FX_VECTOR(struct turn) list;
	UT_hash_handle hh;
};

struct fx_processor_time {
	struct fx_exporter exporter; /* the switches are exported to it */
	struct turns *threads;
	const struct turns *current;
	size_t next; /* turn of the current one */
};

static struct turns *processor_turns(struct fx_processor_time *times, uint64_t tid)
{
	struct turns *turns;

	HASH_FIND(hh, times->threads, &tid, sizeof(tid), turns);
	if (turns)
		return turns;
	turns = calloc(1, sizeof(*turns));
	if (!turns)
		return NULL;
	turns->tid = tid;
	HASH_ADD(hh, times->threads, tid, sizeof(turns->tid), turns);
	return turns;
}

static void processor_add(struct fx_processor_time *times, uint64_t tid, struct turn turn)
{
	struct turns *turns = tid ? processor_turns(times, tid) : NULL;

	if (tid == 0)
		return;
	if (!turns || fx_vector_reserve(&turns->list, 1) < 0) {
		times->exporter.error = -ENOMEM;
		return;
	}
	turns->list.items[turns->list.count++] = turn;
}

static void processor_switch(struct fx_exporter *exporter, const struct fx_switch *sched)
{
	struct fx_processor_time *times = (struct fx_processor_time *)exporter;
	bool runs_on = sched->outgoing_state == FXT_THREAD_STATE_NEW ||
		       sched->outgoing_state == FXT_THREAD_STATE_RUNNING;

	processor_add(times, sched->outgoing.tid,
		      (struct turn){sched->ts, FX_RUNNING, runs_on ? FX_PREEMPTED : FX_BLOCKED});
	processor_add(times, sched->incoming.tid,
		      (struct turn){sched->ts, FX_RUNNING_UNKNOWN, FX_RUNNING});
}

static void processor_wakeup(struct fx_exporter *exporter, const struct fx_wakeup *wakeup)
{
	(void)exporter;
	(void)wakeup;
}

static const struct fx_exporter_ops processor_ops = {
    .sched_switch = processor_switch,
    .sched_wakeup = processor_wakeup,
};

int fx_processor_time_read(struct fx_timeline *timeline, struct fx_processor_time **ret)
{
	struct fx_processor_time *times;
	uint64_t misfits[FX_MISFIT_COUNT];
	int r;

	*ret = NULL;
	if (timeline->scheds.count == 0)
		return 0;
	times = calloc(1, sizeof(*times));
	if (!times)
		return -ENOMEM;
	times->exporter.ops = &processor_ops;
	times->exporter.timeline = timeline;
	/* What it leaves out is counted as they are exported again. */
	memcpy(misfits, timeline->misfits, sizeof(misfits));
	r = fx_sched_export(&times->exporter);
	memcpy(timeline->misfits, misfits, sizeof(misfits));
	if (r == 0)
		r = times->exporter.error;
	if (r < 0) {
		fx_processor_time_free(times);
		return r;
	}
	*ret = times;
	return 0;
}

void fx_processor_time_free(struct fx_processor_time *times)
{
	struct turns *turns = NULL, *next;

	if (!times)
		return;
	HASH_ITER (hh, times->threads, turns, next) {
		HASH_DEL(times->threads, turns);
		fx_vector_free(&turns->list);
		free(turns);
	}
	free(times);
}

bool fx_processor_time_enter(struct fx_processor_time *times, uint64_t tid)
{
	struct turns *turns = NULL;

	if (times)
		HASH_FIND(hh, times->threads, &tid, sizeof(tid), turns);
	if (!turns)
		return false;
	times->current = turns;
	times->next = 0;
	return true;
}

enum fx_running fx_processor_time_at(struct fx_processor_time *times, uint64_t ts,
				     uint64_t *ret_until)
{
	const struct turn *turns = times->current->list.items;
	size_t count = times->current->list.count;

	while (times->next < count && turns[times->next].ts <= ts)
		times->next++;
	*ret_until = times->next < count ? turns[times->next].ts : UINT64_MAX;
	return times->next > 0 ? turns[times->next - 1].after : turns[0].before;
}
