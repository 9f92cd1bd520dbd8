/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/indexer.h"
#include "convert/provider.h"
#include "convert/sort.h"
#include "convert/records.h"
#include "format/clock_record.h"
#include "format/tables.h"

enum { PROGRESS_INTERVAL = 1 << 16 }; /* records */

/* The state of indexing. */
struct indexer {
	struct fx_timeline *timeline;
	const struct fxt_record *record;
	struct fx_timeline_provider *provider; /* of the record */
	uint32_t provider_number;
	struct fx_thread *last_thread;
	/* Those that plain events have named since the tables of threads last changed, by reference. */
	struct fx_thread *threads[FXT_MAX_THREAD_INDEX + 1];
};

/* --- Providers -------------------------------------------------------------------------------- */

static int add_provider(struct indexer *indexer, const struct fxt_provider *source)
{
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_timeline_provider *provider;

	if (timeline->providers.count >= FX_MAX_PROVIDERS)
		return -EOVERFLOW;
	if (fx_vector_reserve(&timeline->providers, 1) < 0)
		return -ENOMEM;
	provider = calloc(1, sizeof(*provider));
	if (!provider)
		return -ENOMEM;
	provider->source = source;
	indexer->provider = provider;
	indexer->provider_number = (uint32_t)timeline->providers.count;
	timeline->providers.items[timeline->providers.count++] = provider;
	return 0;
}

/* Makes the provider of a record the current one. */
static int select_provider(struct indexer *indexer, const struct fxt_provider *source)
{
	struct fx_timeline *timeline = indexer->timeline;

	if (indexer->provider && indexer->provider->source == source)
		return 0;
	for (size_t i = timeline->providers.count; i-- > 0;) {
		if (timeline->providers.items[i]->source == source) {
			indexer->provider = timeline->providers.items[i];
			indexer->provider_number = (uint32_t)i;
			return 0;
		}
	}
	return add_provider(indexer, source);
}

/* --- Times ------------------------------------------------------------------------------------ */

/* Perfetto's times are signed; false: this one does not fit. */
static bool provider_to_ns(const struct fxt_provider *provider, uint64_t ticks, uint64_t *ret_ns)
{
	*ret_ns = provider->ticks_per_second == FXT_DEFAULT_TICKS_PER_SECOND
		      ? ticks
		      : fxt_ticks_to_ns(ticks, provider->ticks_per_second);
	return *ret_ns <= INT64_MAX;
}

static bool indexer_to_ns(const struct indexer *indexer, uint64_t ticks, uint64_t *ret_ns)
{
	return provider_to_ns(indexer->record->provider, ticks, ret_ns);
}

static void indexer_count_misfit(struct fx_timeline *timeline, enum fx_misfit misfit)
{
	timeline->misfits[misfit]++;
}

static void indexer_note_time(struct indexer *indexer, uint64_t ts)
{
	struct fx_timeline *timeline = indexer->timeline;

	if (ts < timeline->first_ts)
		timeline->first_ts = ts;
	if (ts > timeline->last_ts)
		timeline->last_ts = ts;
	if (ts > indexer->provider->last_ts)
		indexer->provider->last_ts = ts;
}

/* --- Events of threads ------------------------------------------------------------------------ */

static struct fx_thread *select_thread(struct indexer *indexer, const struct fxt_thread *ids)
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

static int keep_record(struct indexer *indexer, uint64_t *ret_word)
{
	struct fx_records *records = indexer->timeline->records;

	*ret_word = fx_records_word(records, indexer->record);
	if (*ret_word > FX_MAX_WORD)
		return -EOVERFLOW;
	return fx_records_keep(records, indexer->record);
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

static int add_entry(struct indexer *indexer, const struct fxt_thread *ids, enum fx_entry_kind kind,
		     uint64_t ts, uint64_t end)
{
	struct fx_thread *thread = select_thread(indexer, ids);
	struct fx_entry *entry, made;
	uint64_t word;
	int r;

	if (!thread)
		return -ENOMEM;
	r = keep_record(indexer, &word);
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
	indexer_note_time(indexer, ts);
	if (kind == FX_ENTRY_COMPLETE)
		indexer_note_time(indexer, end);
	return 0;
}

/* The thread of a plain event. */
static struct fx_thread *select_plain_thread(struct indexer *indexer,
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

	if (!provider_to_ns(provider, words[1], &ns))
		return false;
	entry->ts = ns;
	entry->end = 0;
	if (size == 2)
		return true;
	if (!provider_to_ns(provider, words[2], &ns))
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
static int add_plain_run(struct indexer *indexer, const struct fx_plain_run *run, uint64_t word)
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
			indexer_count_misfit(indexer->timeline, FX_MISFIT_BAD_TIME);
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
		indexer_note_time(indexer, first);
		indexer_note_time(indexer, last);
	}
	return 0;
}

/* Indexes the plain events that come next, @ret_count of them at most. */
static int index_plain(struct indexer *indexer, uint64_t *ret_count)
{
	struct fx_plain_run run;
	uint64_t word;
	int r = fx_records_take_plain(indexer->timeline->records, &run, &word);

	*ret_count = run.count / 2;
	if (r < 0 || run.count == 0)
		return r;
	if (word + run.count > FX_MAX_WORD)
		return -EOVERFLOW;
	r = select_provider(indexer, run.provider);
	return r < 0 ? r : add_plain_run(indexer, &run, word);
}

static int add_async(struct indexer *indexer, const struct fxt_event *event, uint64_t ts)
{
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_thread *thread = select_thread(indexer, &event->thread);
	struct fx_async_entry *entry;
	uint64_t word;
	int r;

	if (!thread)
		return -ENOMEM;
	r = keep_record(indexer, &word);
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
	indexer_note_time(indexer, ts);
	return 0;
}

/* An instant may tell of the life of its process. 0 or -ENOMEM. */
static int index_life(struct indexer *indexer, uint64_t ts)
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

static int add_event(struct indexer *indexer)
{
	const struct fxt_event *event = &indexer->record->event;
	uint64_t ts, end = 0;
	int r;

	if (!indexer_to_ns(indexer, event->timestamp, &ts) ||
	    (event->type == FXT_EVENT_DURATION_COMPLETE &&
	     (!indexer_to_ns(indexer, event->end_time, &end) || end < ts))) {
		indexer_count_misfit(indexer->timeline, FX_MISFIT_BAD_TIME);
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

static int add_timed(struct indexer *indexer, const struct fxt_thread *ids, uint64_t ticks,
		     enum fx_entry_kind kind)
{
	uint64_t ts;

	if (!indexer_to_ns(indexer, ticks, &ts)) {
		indexer_count_misfit(indexer->timeline, FX_MISFIT_BAD_TIME);
		return 0;
	}
	return add_entry(indexer, ids, kind, ts, 0);
}

/* --- The other records ------------------------------------------------------------------------ */

static int add_sched(struct indexer *indexer)
{
	const struct fxt_scheduling *sched = &indexer->record->scheduling;
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_sched_entry *entry;
	uint64_t ts, word;
	int r;

	if (!indexer_to_ns(indexer, sched->timestamp, &ts)) {
		indexer_count_misfit(timeline, FX_MISFIT_BAD_TIME);
		return 0;
	}
	r = keep_record(indexer, &word);
	if (r < 0)
		return r;
	entry = fx_runs_add(&timeline->scheds);
	if (!entry)
		return -ENOMEM;
	*entry = (struct fx_sched_entry){.ts = ts,
					 .word = word,
					 .outgoing = sched->outgoing.tid,
					 .incoming = sched->incoming.tid,
					 .provider = indexer->provider_number};
	indexer_note_time(indexer, ts);
	return 0;
}

static int define_string(struct indexer *indexer)
{
	const struct fxt_string_record *string = &indexer->record->string;
	uint64_t word = fx_records_word(indexer->timeline->records, indexer->record);
	uint32_t text =
	    fx_texts_add(indexer->timeline->strings, string->text.data, string->text.length);

	if (string->index == 0)
		return 0;
	if (!text)
		return -ENOMEM;
	return fx_timeline_provider_define(indexer->provider, string->index, word,
					   fx_texts_get(indexer->timeline->strings, text));
}

/* What is told of a process with its name. 0 or -ENOMEM. */
static int index_abouts(struct indexer *indexer, struct fx_process *process)
{
	for (unsigned i = 0; i < FX_ABOUT_COUNT; i++) {
		const struct fxt_arg *arg = fxt_record_find_arg(indexer->record, fx_about_name(i));
		uint32_t id;

		if (!arg || arg->type != FXT_ARG_STRING || arg->string.length == 0)
			continue;
		id = fx_texts_add(indexer->timeline->strings, arg->string.data, arg->string.length);
		if (!id)
			return -ENOMEM;
		process->about[i] = fx_texts_get(indexer->timeline->strings, id);
	}
	return 0;
}

static int name_object(struct indexer *indexer)
{
	const struct fxt_kernel_object *object = &indexer->record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(indexer->record, "process");
	struct fx_timeline *timeline = indexer->timeline;
	const struct fx_text *name;
	uint32_t id;

	if (object->name.length == 0)
		return 0;
	id = fx_texts_add(timeline->strings, object->name.data, object->name.length);
	if (!id)
		return -ENOMEM;
	name = fx_texts_get(timeline->strings, id);
	if (object->type == FXT_OBJECT_PROCESS) {
		struct fx_process *process = fx_timeline_process(timeline, object->koid);

		if (!process)
			return -ENOMEM;
		process->name = name;
		if (!indexer->provider->process)
			indexer->provider->process = process;
		return index_abouts(indexer, process);
	} else if (object->type == FXT_OBJECT_THREAD && owner && owner->type == FXT_ARG_KOID) {
		struct fx_thread *thread = fx_timeline_thread(timeline, owner->koid, object->koid);

		if (!thread)
			return -ENOMEM;
		thread->name = name;
	}
	return 0;
}

/* The record has no time: it is shown where its provider was last seen. */
static int note_provider_event(struct indexer *indexer)
{
	struct fx_timeline *timeline = indexer->timeline;
	uint64_t ts = indexer->provider->last_ts;
	char text[FXT_MAX_NAME_LENGTH + 80];
	uint32_t id;

	if (indexer->record->provider_record.event != FXT_PROVIDER_BUFFER_FULL)
		return 0;
	snprintf(text, sizeof(text), "buffer full: events of %s were dropped",
		 indexer->record->provider->name);
	id = fx_texts_add(timeline->strings, text, strlen(text));
	if (!id || fx_vector_reserve(&timeline->notes, 1) < 0)
		return -ENOMEM;
	timeline->notes.items[timeline->notes.count++] =
	    (struct fx_note){.ts = ts,
			     .text = fx_texts_get(timeline->strings, id),
			     .provider = indexer->provider_number};
	return 0;
}

static int add_blob(struct indexer *indexer)
{
	const struct fxt_blob *blob = &indexer->record->blob;
	struct fx_timeline *timeline = indexer->timeline;
	struct fx_clock_record clock;

	if (fx_clock_record_decode(indexer->record, &clock))
		return 0;
	if (fx_host_record_is(indexer->record)) {
		if (!timeline->has_host)
			timeline->has_host =
			    fx_host_record_decode(indexer->record, &timeline->host);
		return 0;
	}
	if (blob->type != FXT_BLOB_PERFETTO) {
		indexer_count_misfit(timeline, FX_MISFIT_ATTACHMENT);
		return 0;
	}
	if (blob->payload.size == 0)
		return 0;
	if (fx_vector_reserve(&timeline->embedded, blob->payload.size) < 0)
		return -ENOMEM;
	memcpy(timeline->embedded.items + timeline->embedded.count, blob->payload.data,
	       blob->payload.size);
	timeline->embedded.count += blob->payload.size;
	return 0;
}

static int index_record(struct indexer *indexer)
{
	const struct fxt_record *record = indexer->record;
	int r;

	/*
	 * A provider that introduces itself again begins with empty tables; its older records keep the tables that
	 * they were written with.
	 */
	if (record->kind == FXT_KIND_PROVIDER_INFO)
		r = add_provider(indexer, record->provider);
	else
		r = select_provider(indexer, record->provider);
	if (r < 0)
		return r;
	switch (record->kind) {
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_THREAD:
		memset(indexer->threads, 0, sizeof(indexer->threads));
		return 0;
	case FXT_KIND_EVENT:
		return add_event(indexer);
	case FXT_KIND_STRING:
		return define_string(indexer);
	case FXT_KIND_KERNEL_OBJECT:
		return name_object(indexer);
	case FXT_KIND_LOG:
		return add_timed(indexer, &record->log.thread, record->log.timestamp, FX_ENTRY_LOG);
	case FXT_KIND_LARGE_EVENT:
		return add_timed(indexer, &record->large_blob.thread, record->large_blob.timestamp,
				 FX_ENTRY_BLOB);
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		return add_sched(indexer);
	case FXT_KIND_PROVIDER_EVENT:
		return note_provider_event(indexer);
	case FXT_KIND_BLOB:
		return add_blob(indexer);
	case FXT_KIND_LARGE_ATTACHMENT:
		indexer_count_misfit(indexer->timeline, FX_MISFIT_ATTACHMENT);
		return 0;
	case FXT_KIND_USERSPACE_OBJECT:
		indexer_count_misfit(indexer->timeline, FX_MISFIT_OBJECT);
		return 0;
	case FXT_KIND_BACKTRACE:
		indexer_count_misfit(indexer->timeline, FX_MISFIT_PROFILER);
		return 0;
	default:
		return 0;
	}
}

/* A provider's process may become known after its notes. */
static void assign_notes(struct fx_timeline *timeline)
{
	for (size_t i = 0; i < timeline->notes.count; i++) {
		struct fx_note *note = &timeline->notes.items[i];

		note->process = timeline->providers.items[note->provider]->process;
	}
}

/* Indexes what comes next. Returns 1, 0 at the end, or -errno; adds the number of records, about. */
static int index_next(struct indexer *indexer, uint64_t *count)
{
	uint64_t plain;
	int r = index_plain(indexer, &plain);

	if (r == 0)
		r = fx_records_next(indexer->timeline->records, &indexer->record);
	if (r <= 0)
		return r;
	*count += 1 + plain;
	r = index_record(indexer);
	return r < 0 ? r : 1;
}

/* Fills an empty timeline from its source. */
static int index_all(struct fx_timeline *timeline, fx_progress *progress, void *opaque)
{
	struct indexer indexer = {.timeline = timeline};
	uint64_t count = 0, done, total;
	int r;

	while ((r = index_next(&indexer, &count)) > 0) {
		if (!progress || count < PROGRESS_INTERVAL)
			continue;
		count = 0;
		fx_records_progress(timeline->records, &done, &total);
		progress(opaque, done, total);
	}
	if (r < 0)
		return r;
	assign_notes(timeline);
	return fx_records_seal(timeline->records);
}

static void remember_fault(void *opaque, const struct fxt_fault *fault)
{
	struct fx_timeline *timeline = opaque;

	if (timeline->fault_count++ == 0)
		timeline->fault = *fault;
}

int fx_timeline_open(struct fx_timeline *timeline, int fd, fx_progress *progress, void *opaque)
{
	int r;

	memset(timeline, 0, sizeof(*timeline));
	timeline->first_ts = UINT64_MAX;
	fx_runs_pool_init(&timeline->pool);
	fx_runs_init(&timeline->asyncs, &timeline->pool, &fx_asyncs_kind);
	fx_runs_init(&timeline->scheds, &timeline->pool, &fx_scheds_kind);
	timeline->strings = fx_texts_new();
	if (!timeline->strings)
		return -ENOMEM;
	r = fx_records_open(fd, timeline->pool.limit / 4, remember_fault, timeline,
			    &timeline->records);
	if (r < 0)
		return r;
	return index_all(timeline, progress, opaque);
}
