/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "convert/sched.h"

#include "lists/hashes.h"

/* Perfetto takes numbers from this on for errors. */
enum { MAX_CPUS = 4096 };

/* Of several threads of one tid, one that has a name. */
struct named {
	uint64_t tid;
	const struct fx_text *name;
	UT_hash_handle hh;
};

/* What a processor was given to last. */
struct processor {
	uint32_t cpu;
	struct fx_sched_side running;
	UT_hash_handle hh;
};

struct scheduler {
	struct fx_exporter *exporter;
	struct named *named;
	struct processor *processors;
	struct fxt_record record;
};

static int name_threads(struct scheduler *scheduler)
{
	struct fx_timeline *timeline = scheduler->exporter->timeline;

	for (size_t i = 0; i < timeline->threads.count; i++) {
		const struct fx_thread *thread = timeline->threads.items[i];
		struct named *named;

		if (!thread->name)
			continue;
		HASH_FIND(hh, scheduler->named, &thread->key.tid, sizeof(thread->key.tid), named);
		if (!named) {
			named = calloc(1, sizeof(*named));
			if (!named)
				return -ENOMEM;
			named->tid = thread->key.tid;
			HASH_ADD(hh, scheduler->named, tid, sizeof(named->tid), named);
		}
		named->name = thread->name;
	}
	return 0;
}

/* The idle thread has the least of all weights. */
static struct fx_sched_side make_side(const struct scheduler *scheduler, uint64_t tid,
				      int32_t priority)
{
	struct fx_sched_side side = {.tid = tid, .priority = priority};
	struct named *named;

	if (priority == INT32_MIN)
		return (struct fx_sched_side){0};
	HASH_FIND(hh, scheduler->named, &tid, sizeof(tid), named);
	if (named)
		side.name = named->name;
	return side;
}

static int32_t int32_arg(const struct scheduler *scheduler, const char *name)
{
	const struct fxt_arg *arg = fxt_record_find_arg(&scheduler->record, name);

	return arg && arg->type == FXT_ARG_INT32 ? arg->int32 : 0;
}

static bool bool_arg(const struct scheduler *scheduler, const char *name)
{
	const struct fxt_arg *arg = fxt_record_find_arg(&scheduler->record, name);

	return arg && arg->type == FXT_ARG_BOOL && arg->boolean;
}

static void sched_export_wakeup(struct scheduler *scheduler, const struct fx_sched_entry *entry)
{
	const struct fxt_scheduling *sched = &scheduler->record.scheduling;
	const struct fxt_arg *waker = fxt_record_find_arg(&scheduler->record, "waker");
	struct fx_wakeup wakeup = {
	    .ts = entry->ts,
	    .cpu = sched->cpu,
	    .thread = make_side(scheduler, entry->incoming, int32_arg(scheduler, "weight")),
	    .waker = waker && waker->type == FXT_ARG_KOID ? waker->koid : 0,
	};

	scheduler->exporter->ops->sched_wakeup(scheduler->exporter, &wakeup);
}

/*
 * A thread that leaves a processor must be the one that came to it last. If it is not, a switch
 * was lost in between, and another is put in its place.
 */
static int bridge_gap(struct scheduler *scheduler, const struct fx_switch *sw)
{
	struct processor *processor;

	HASH_FIND(hh, scheduler->processors, &sw->cpu, sizeof(sw->cpu), processor);
	if (!processor) {
		processor = calloc(1, sizeof(*processor));
		if (!processor)
			return -ENOMEM;
		processor->cpu = sw->cpu;
		HASH_ADD(hh, scheduler->processors, cpu, sizeof(processor->cpu), processor);
	} else if (processor->running.tid != sw->outgoing.tid) {
		struct fx_switch bridge = {
		    .ts = sw->ts,
		    .cpu = sw->cpu,
		    .outgoing = processor->running,
		    .incoming = sw->outgoing,
		    .outgoing_state = FXT_THREAD_STATE_RUNNING,
		};

		scheduler->exporter->ops->sched_switch(scheduler->exporter, &bridge);
		scheduler->exporter->timeline->misfits[FX_MISFIT_SCHED_GAP]++;
	}
	processor->running = sw->incoming;
	return 0;
}

static int sched_export_switch(struct scheduler *scheduler, const struct fx_sched_entry *entry)
{
	const struct fxt_scheduling *sched = &scheduler->record.scheduling;
	bool legacy = scheduler->record.kind == FXT_KIND_LEGACY_SWITCH;
	int32_t outgoing =
	    legacy ? sched->outgoing_priority : int32_arg(scheduler, "outgoing_weight");
	int32_t incoming =
	    legacy ? sched->incoming_priority : int32_arg(scheduler, "incoming_weight");
	struct fx_switch sw = {
	    .ts = entry->ts,
	    .cpu = sched->cpu,
	    .outgoing = make_side(scheduler, entry->outgoing, outgoing),
	    .incoming = make_side(scheduler, entry->incoming, incoming),
	    .outgoing_state = sched->outgoing_state,
	    .uninterruptible = !legacy && bool_arg(scheduler, "uninterruptible"),
	};
	int r = bridge_gap(scheduler, &sw);

	if (r == 0)
		scheduler->exporter->ops->sched_switch(scheduler->exporter, &sw);
	return r;
}

static int sched_export_entry(struct scheduler *scheduler, const struct fx_sched_entry *entry)
{
	int r = fx_timeline_decode(scheduler->exporter->timeline, entry->provider, entry->word,
				   &scheduler->record);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (scheduler->record.scheduling.cpu >= MAX_CPUS) {
		scheduler->exporter->timeline->misfits[FX_MISFIT_CPU]++;
		return 0;
	}
	if (scheduler->record.kind != FXT_KIND_THREAD_WAKEUP)
		return sched_export_switch(scheduler, entry);
	sched_export_wakeup(scheduler, entry);
	return 0;
}

static void sched_free_all(struct scheduler *scheduler)
{
	struct named *named = NULL, *next;
	struct processor *processor = NULL, *next_processor;

	HASH_ITER (hh, scheduler->processors, processor, next_processor) {
		HASH_DEL(scheduler->processors, processor);
		free(processor);
	}
	HASH_ITER (hh, scheduler->named, named, next) {
		HASH_DEL(scheduler->named, named);
		free(named);
	}
}

int fx_sched_export(struct fx_exporter *exporter)
{
	struct fx_timeline *timeline = exporter->timeline;
	struct scheduler scheduler = {.exporter = exporter};
	const struct fx_sched_entry *entry;
	struct fx_merge merge;
	int r;

	if (timeline->scheds.count == 0)
		return 0;
	if (!exporter->ops->sched_switch) {
		timeline->misfits[FX_MISFIT_OTHER_FORMAT] += timeline->scheds.count;
		return 0;
	}
	r = fx_merge_begin(&merge, &timeline->scheds);
	if (r < 0)
		return r;
	r = name_threads(&scheduler);
	entry = fx_merge_first(&merge);
	while (entry && r == 0) {
		r = sched_export_entry(&scheduler, entry);
		entry = fx_merge_next(&merge);
	}
	sched_free_all(&scheduler);
	fx_merge_end(&merge);
	return r < 0 ? r : merge.error;
}
