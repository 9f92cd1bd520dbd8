/* SPDX-License-Identifier: MIT */
/*
 * Indexing, from within: what the records of an archive add to its timeline (timeline.h). indexer.c goes over them and makes
 * their providers known; index-events.c takes what happens in threads, most records by far; index-others.c the rest.
 */
#ifndef FX_CONVERT_INDEXING_H
#define FX_CONVERT_INDEXING_H

#include "convert/provider.h"
#include "convert/records.h"
#include "convert/timeline.h"

/* The state of indexing. */
struct fx_indexer {
	struct fx_timeline *timeline;
	const struct fxt_record *record;
	struct fx_timeline_provider *provider; /* of the record */
	uint32_t provider_number;
	struct fx_thread *last_thread;
	/* Those that plain events have named since the tables of threads last changed, by reference. */
	struct fx_thread *threads[FXT_MAX_THREAD_INDEX + 1];
};

/* Makes the provider of a record the current one. 0, -EOVERFLOW or -ENOMEM. */
int fx_indexer_select_provider(struct fx_indexer *indexer, const struct fxt_provider *source);

/* Perfetto's times are signed; false: this one does not fit. */
static inline bool fx_indexer_provider_ns(const struct fxt_provider *provider, uint64_t ticks,
					  uint64_t *ret_ns)
{
	*ret_ns = provider->ticks_per_second == FXT_DEFAULT_TICKS_PER_SECOND
		      ? ticks
		      : fxt_ticks_to_ns(ticks, provider->ticks_per_second);
	return *ret_ns <= INT64_MAX;
}

static inline bool fx_indexer_ns(const struct fx_indexer *indexer, uint64_t ticks, uint64_t *ret_ns)
{
	return fx_indexer_provider_ns(indexer->record->provider, ticks, ret_ns);
}

static inline void fx_indexer_misfit(struct fx_timeline *timeline, enum fx_misfit misfit)
{
	timeline->misfits[misfit]++;
}

static inline void fx_indexer_note_time(struct fx_indexer *indexer, uint64_t ts)
{
	struct fx_timeline *timeline = indexer->timeline;

	if (ts < timeline->first_ts)
		timeline->first_ts = ts;
	if (ts > timeline->last_ts)
		timeline->last_ts = ts;
	if (ts > indexer->provider->last_ts)
		indexer->provider->last_ts = ts;
}

/* Keeps the record, which stands at *ret_word. 0 or -errno. */
static inline int fx_indexer_keep(struct fx_indexer *indexer, uint64_t *ret_word)
{
	struct fx_records *records = indexer->timeline->records;

	*ret_word = fx_records_word(records, indexer->record);
	if (*ret_word > FX_MAX_WORD)
		return -EOVERFLOW;
	return fx_records_keep(records, indexer->record);
}

/* Indexes the plain events that come next, *ret_count of them at most. 0 or -errno, as all of these. */
int fx_index_plain(struct fx_indexer *indexer, uint64_t *ret_count);
int fx_index_event(struct fx_indexer *indexer);

/* A record of a thread that has a time and nothing else that counts here. */
int fx_index_timed(struct fx_indexer *indexer, const struct fxt_thread *ids, uint64_t ticks,
		   enum fx_entry_kind kind);

int fx_index_sched(struct fx_indexer *indexer);
int fx_index_string(struct fx_indexer *indexer);
int fx_index_object(struct fx_indexer *indexer);
int fx_index_provider_event(struct fx_indexer *indexer);
int fx_index_blob(struct fx_indexer *indexer);

#endif
