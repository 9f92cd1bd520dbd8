/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/indexer.h"
#include "convert/indexing.h"
#include "convert/sort.h"

enum { PROGRESS_INTERVAL = 1 << 16 }; /* records */

/* --- Providers -------------------------------------------------------------------------------- */

static int add_provider(struct fx_indexer *indexer, const struct fxt_provider *source)
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

int fx_indexer_select_provider(struct fx_indexer *indexer, const struct fxt_provider *source)
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

/* --- Records -------------------------------------------------------------------------------------- */

static int index_record(struct fx_indexer *indexer)
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
		r = fx_indexer_select_provider(indexer, record->provider);
	if (r < 0)
		return r;
	switch (record->kind) {
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_THREAD:
		memset(indexer->threads, 0, sizeof(indexer->threads));
		return 0;
	case FXT_KIND_EVENT:
		return fx_index_event(indexer);
	case FXT_KIND_STRING:
		return fx_index_string(indexer);
	case FXT_KIND_KERNEL_OBJECT:
		return fx_index_object(indexer);
	case FXT_KIND_LOG:
		return fx_index_timed(indexer, &record->log.thread, record->log.timestamp,
				      FX_ENTRY_LOG);
	case FXT_KIND_LARGE_EVENT:
		return fx_index_timed(indexer, &record->large_blob.thread,
				      record->large_blob.timestamp, FX_ENTRY_BLOB);
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		return fx_index_sched(indexer);
	case FXT_KIND_PROVIDER_EVENT:
		return fx_index_provider_event(indexer);
	case FXT_KIND_BLOB:
		return fx_index_blob(indexer);
	case FXT_KIND_LARGE_ATTACHMENT:
		fx_indexer_misfit(indexer->timeline, FX_MISFIT_ATTACHMENT);
		return 0;
	case FXT_KIND_USERSPACE_OBJECT:
		fx_indexer_misfit(indexer->timeline, FX_MISFIT_OBJECT);
		return 0;
	case FXT_KIND_BACKTRACE:
		fx_indexer_misfit(indexer->timeline, FX_MISFIT_PROFILER);
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
static int index_next(struct fx_indexer *indexer, uint64_t *count)
{
	uint64_t plain;
	int r = fx_index_plain(indexer, &plain);

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
	struct fx_indexer indexer = {.timeline = timeline};
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

int fx_timeline_open_empty(struct fx_timeline *timeline)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->first_ts = UINT64_MAX;
	fx_runs_pool_init(&timeline->pool);
	fx_runs_init(&timeline->asyncs, &timeline->pool, &fx_asyncs_kind);
	fx_runs_init(&timeline->scheds, &timeline->pool, &fx_scheds_kind);
	timeline->strings = fx_texts_new();
	return timeline->strings ? 0 : -ENOMEM;
}

int fx_timeline_open(struct fx_timeline *timeline, int fd, fx_progress *progress, void *opaque)
{
	int r = fx_timeline_open_empty(timeline);

	if (r < 0)
		return r;
	r = fx_records_open(fd, timeline->pool.limit / 4, remember_fault, timeline,
			    &timeline->records);
	if (r < 0)
		return r;
	return index_all(timeline, progress, opaque);
}
