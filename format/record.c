/* SPDX-License-Identifier: MIT */
/* The time and the thread that a record is of. */
#include "format/record-ticks.h"

const uint64_t *fx_record_ticks(const struct fxt_record *record)
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

bool fxt_record_time(const struct fxt_record *record, uint64_t *ret_ns)
{
	const uint64_t *ticks = fx_record_ticks(record);

	if (!ticks)
		return false;
	*ret_ns = fxt_ticks_to_ns(*ticks, record->provider->ticks_per_second);
	return true;
}

const struct fxt_thread *fxt_record_thread(const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_EVENT:
		return &record->event.thread;
	case FXT_KIND_USERSPACE_OBJECT:
		return &record->userspace_object.process;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		return &record->scheduling.incoming;
	case FXT_KIND_LOG:
		return &record->log.thread;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		return &record->profiler.thread;
	case FXT_KIND_LARGE_EVENT:
		return &record->large_blob.thread;
	default:
		return NULL;
	}
}
