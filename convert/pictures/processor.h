/* SPDX-License-Identifier: MIT */
/* When each thread had a processor, as the context switches in an archive tell it. */
#ifndef FX_CONVERT_PICTURES_PROCESSOR_H
#define FX_CONVERT_PICTURES_PROCESSOR_H

#include "convert/export.h"

enum fx_running {
	FX_RUNNING_UNKNOWN,
	FX_RUNNING,
	FX_PREEMPTED,
	FX_BLOCKED,
};

struct fx_processor_time;

/* Reads the timeline's context switches. Returns 0, with NULL if there are none, or -ENOMEM. */
int fx_processor_time_read(struct fx_timeline *timeline, struct fx_processor_time **ret);
void fx_processor_time_free(struct fx_processor_time *times);

/* Begins with a thread: what follows asks about it, with times that do not descend. False: nothing is known of it. */
bool fx_processor_time_enter(struct fx_processor_time *times, uint64_t tid);

/* What the thread did from @ts on, and until when that holds (UINT64_MAX: for ever). */
enum fx_running fx_processor_time_at(struct fx_processor_time *times, uint64_t ts,
				     uint64_t *ret_until);

#endif
