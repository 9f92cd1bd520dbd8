/* SPDX-License-Identifier: MIT */
/* What happens in threads: plain events run by run, as they come from the archive, and the others one by one. */
#include "config.h"

#include <string.h>

#include "convert/indexing.h"
#include "format/tables.h"

static struct fx_thread *select_thread(struct fx_indexer *indexer, const struct fxt_thread *ids)
{
	struct fx_thread *thread = indexer->last_thread;

	if (!thread || thread->key.tid != ids->tid || thread->key.pid != ids->pid) {
		thread = fx_timeline_thread(indexer->timeline, ids->pid, ids->tid);
		indexer->last_thread = thread;
	}
	if (thread && !indexer->provider->process)
		indexer->provider->process = thread->process;
	return thread;
}

/* A flow belongs to the slice or instant that was written just before it at the same time. */
static void anchor_flow(const struct fx_entry *before, struct fx_entry *flow)
{
	switch (before->kind) {
	case FX_ENTRY_COMPLETE:
		if (before->ts != flow->ts && before->end != flow->ts)
			return;
		break;
	case FX_ENTRY_BEGIN:
	case FX_ENTRY_INSTANT:
		if (before->ts != flow->ts)
			return;
		break;
	case FX_ENTRY_FLOW: /* several flows may stand behind one anchor */
		if (before->ts != flow->ts || !(before->flags & FX_ENTRY_ANCHORED))
			return;
		flow->end = before->end;
		flow->flags |= FX_ENTRY_ANCHORED;
		return;
	default:
		return;
	}
	flow->end = before->word;
	flow->flags |= FX_ENTRY_ANCHORED;
}

/* What the thread as a whole knows of its entries. */
static void note_entry(struct fx_thread *thread, const struct fx_entry *entry)
{
	if (entry->kind == FX_ENTRY_BEGIN || entry->kind == FX_ENTRY_END)
		thread->has_pairs = true;
	if (entry->kind == FX_ENTRY_FLOW)
		thread->has_flows = true;
	if (entry->kind != FX_ENTRY_END) {
		thread->count++;
		if (entry->ts < thread->first_ts)
			thread->first_ts = entry->ts;
	}
	thread->last = *entry;
}

static int add_entry(struct fx_indexer *indexer, const struct fxt_thread *ids,
		     enum fx_entry_kind kind, uint64_t ts, uint64_t end)
{
	struct fx_thread *thread = select_thread(indexer, ids);
	struct fx_entry *entry, made;
	uint64_t word;
	int r;

	if (!thread)
		return -ENOMEM;
	r = fx_indexer_keep(indexer, &word);
	if (r < 0)
		return r;
	entry = fx_runs_add(&thread->entries);
	if (!entry)
		return -ENOMEM;
	made.ts = ts;
	made.end = end;
	made.packed = FX_ENTRY_PACK(word, indexer->provider_number, kind);
	if (kind == FX_ENTRY_FLOW && thread->entries.count > 1)
		anchor_flow(&thread->last, &made);
	*entry = made;
	note_entry(thread, &made);
	fx_indexer_note_time(indexer, ts);
	if (kind == FX_ENTRY_COMPLETE)
		fx_indexer_note_time(indexer, end);
	return 0;
}

/* The thread of a plain event. */
static struct fx_thread *select_plain_thread(struct fx_indexer *indexer,
					     const struct fx_plain_run *run, unsigned ref)
{
	const struct fx_thread_entry *ids = fx_tables_thread(run->tables, ref);
	const struct fxt_thread thread = {.pid = ids->pid, .tid = ids->tid};

	indexer->threads[ref] = select_thread(indexer, &thread);
	return indexer->threads[ref];
}

/* When a plain event was, and ended; false: at a time that is out of range. */
static bool plain_times(const struct fxt_provider *provider, const uint64_t *words, size_t size,
			struct fx_entry *entry)
{
	uint64_t ns;

	if (!fx_indexer_provider_ns(provider, words[1], &ns))
		return false;
	entry->ts = ns;
	entry->end = 0;
	if (size == 2)
		return true;
	if (!fx_indexer_provider_ns(provider, words[2], &ns))
		return false;
	entry->end = ns;
	return entry->end >= entry->ts;
}

static const uint8_t plain_kinds[] = {
    [FXT_EVENT_DURATION_BEGIN] = FX_ENTRY_BEGIN,
    [FXT_EVENT_DURATION_END] = FX_ENTRY_END,
    [FXT_EVENT_DURATION_COMPLETE] = FX_ENTRY_COMPLETE,
};

/* Indexes the plain events of a run, the first of which stands at @word. */
static int add_plain_run(struct fx_indexer *indexer, const struct fx_plain_run *run, uint64_t word)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t size;

	for (size_t at = 0; at < run->count; at += size) {
		const uint64_t *words = run->words + at;
		unsigned ref = (unsigned)FXT_GET(words[0], EVENT_THREAD);
		struct fx_thread *thread = indexer->threads[ref];
		struct fx_entry made, *entry;

		size = (size_t)FXT_GET(words[0], RECORD_SIZE);
		if (!plain_times(run->provider, words, size, &made)) {
			fx_indexer_misfit(indexer->timeline, FX_MISFIT_BAD_TIME);
			continue;
		}
		if (!thread)
			thread = select_plain_thread(indexer, run, ref);
		entry = thread ? fx_runs_add(&thread->entries) : NULL;
		if (!entry)
			return -ENOMEM;
		made.packed = FX_ENTRY_PACK(word + at, indexer->provider_number,
					    plain_kinds[FXT_GET(words[0], EVENT_TYPE)]);
		*entry = made;
		note_entry(thread, &made);
		first = made.ts < first ? made.ts : first;
		last = made.ts > last ? made.ts : last;
		last = made.end > last ? made.end : last;
	}
	if (first <= last) {
		fx_indexer_note_time(indexer, first);
		fx_indexer_note_time(indexer, last);
	}
	return 0;
}

int fx_index_plain(struct fx_indexer *indexer, uint64_t *ret_count)
{
	struct fx_plain_run run;
	uint64_t word;
	int r = fx_records_take_plain(indexer->timeline->records, &run, &word);

	*ret_count = run.count / 2;
	if (r < 0 || run.count == 0)
		return r;
	if (word + run.count > FX_MAX_WORD)
		return -EOVERFLOW;
	r = fx_indexer_select_provider(indexer, run.provider);
	return r < 0 ? r : add_plain_run(indexer, &run, word);
}

static int add_async(struct fx_indexer *indexer, const struct fxt_event *event, uint64_t ts)
{
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_thread *thread = select_thread(indexer, &event->thread);
	struct fx_async_entry *entry;
	uint64_t word;
	int r;

	if (!thread)
		return -ENOMEM;
	r = fx_indexer_keep(indexer, &word);
	if (r < 0)
		return r;
	entry = fx_runs_add(&timeline->asyncs);
	if (!entry)
		return -ENOMEM;
	*entry = (struct fx_async_entry){.ts = ts,
					 .id = event->id,
					 .word = word,
					 .provider = indexer->provider_number,
					 .process = thread->process->number,
					 .type = event->type};
	fx_indexer_note_time(indexer, ts);
	return 0;
}

/* An instant may tell of the life of its process. 0 or -ENOMEM. */
static int index_life(struct fx_indexer *indexer, uint64_t ts)
{
	const struct fxt_event *event = &indexer->record->event;
	const struct fxt_arg *parent;
	struct fx_process *process;
	bool starts, exits;

	if (!fxt_string_equals(&event->category, "process"))
		return 0;
	starts = fxt_string_equals(&event->name, "process starts");
	exits = fxt_string_equals(&event->name, "process exits");
	if (!starts && !exits)
		return 0;
	process = fx_timeline_process(indexer->timeline, event->thread.pid);
	if (!process)
		return -ENOMEM;
	*(starts ? &process->start_ts : &process->end_ts) = ts;
	parent = starts ? fxt_record_find_arg(indexer->record, "parent") : NULL;
	if (parent && parent->type == FXT_ARG_INT32 && parent->int32 > 0)
		process->parent = (uint64_t)parent->int32;
	return 0;
}

int fx_index_event(struct fx_indexer *indexer)
{
	const struct fxt_event *event = &indexer->record->event;
	uint64_t ts, end = 0;
	int r;

	if (!fx_indexer_ns(indexer, event->timestamp, &ts) ||
	    (event->type == FXT_EVENT_DURATION_COMPLETE &&
	     (!fx_indexer_ns(indexer, event->end_time, &end) || end < ts))) {
		fx_indexer_misfit(indexer->timeline, FX_MISFIT_BAD_TIME);
		return 0;
	}
	switch (event->type) {
	case FXT_EVENT_INSTANT:
		r = index_life(indexer, ts);
		return r < 0 ? r : add_entry(indexer, &event->thread, FX_ENTRY_INSTANT, ts, 0);
	case FXT_EVENT_COUNTER:
		return add_entry(indexer, &event->thread, FX_ENTRY_COUNTER, ts, 0);
	case FXT_EVENT_DURATION_BEGIN:
		return add_entry(indexer, &event->thread, FX_ENTRY_BEGIN, ts, 0);
	case FXT_EVENT_DURATION_END:
		return add_entry(indexer, &event->thread, FX_ENTRY_END, ts, 0);
	case FXT_EVENT_DURATION_COMPLETE:
		return add_entry(indexer, &event->thread, FX_ENTRY_COMPLETE, ts, end);
	case FXT_EVENT_ASYNC_BEGIN:
	case FXT_EVENT_ASYNC_INSTANT:
	case FXT_EVENT_ASYNC_END:
		return add_async(indexer, event, ts);
	case FXT_EVENT_FLOW_BEGIN:
	case FXT_EVENT_FLOW_STEP:
	case FXT_EVENT_FLOW_END:
		return add_entry(indexer, &event->thread, FX_ENTRY_FLOW, ts, 0);
	default:
		return 0;
	}
}

int fx_index_timed(struct fx_indexer *indexer, const struct fxt_thread *ids, uint64_t ticks,
		   enum fx_entry_kind kind)
{
	uint64_t ts;

	if (!fx_indexer_ns(indexer, ticks, &ts)) {
		fx_indexer_misfit(indexer->timeline, FX_MISFIT_BAD_TIME);
		return 0;
	}
	return add_entry(indexer, ids, kind, ts, 0);
}
