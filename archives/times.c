/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/times.h"
#include "format/record-ticks.h"

static bool times_has_end(const struct fxt_record *record)
{
	return record->kind == FXT_KIND_EVENT && record->event.type == FXT_EVENT_DURATION_COMPLETE;
}

bool fx_record_times(const struct fxt_record *record, uint64_t *ret_begin, uint64_t *ret_end)
{
	const uint64_t *place = fx_record_ticks(record);

	if (!place)
		return false;
	*ret_begin = *place;
	*ret_end = times_has_end(record) ? record->event.end_time : *place;
	return true;
}

void fx_record_set_times(struct fxt_record *record, uint64_t begin, uint64_t end)
{
	uint64_t *place = (uint64_t *)fx_record_ticks(record);

	if (!place)
		return;
	*place = begin;
	if (times_has_end(record))
		record->event.end_time = end;
}
