/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/times.h"

/* Where a record has its time; NULL: it has none. */
static const uint64_t *times_place(const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_EVENT:
		return &record->event.timestamp;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		return &record->scheduling.timestamp;
	case FXT_KIND_LOG:
		return &record->log.timestamp;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		return &record->profiler.timestamp;
	case FXT_KIND_LARGE_EVENT:
		return &record->large_blob.timestamp;
	default:
		return NULL;
	}
}

static bool times_has_end(const struct fxt_record *record)
{
	return record->kind == FXT_KIND_EVENT && record->event.type == FXT_EVENT_DURATION_COMPLETE;
}

bool fx_record_times(const struct fxt_record *record, uint64_t *ret_begin, uint64_t *ret_end)
{
	const uint64_t *place = times_place(record);

	if (!place)
		return false;
	*ret_begin = *place;
	*ret_end = times_has_end(record) ? record->event.end_time : *place;
	return true;
}

void fx_record_set_times(struct fxt_record *record, uint64_t begin, uint64_t end)
{
	uint64_t *place = (uint64_t *)times_place(record);

	if (!place)
		return;
	*place = begin;
	if (times_has_end(record))
		record->event.end_time = end;
}
