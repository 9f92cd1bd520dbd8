/* SPDX-License-Identifier: MIT */
/*
 * Which events a report is of: --process, --thread, --category, --name, --from, --to. Lists are of patterns, one of
 * which must match; an empty list lets everything pass. A pattern of digits is a process or thread id as well.
 */
#ifndef FX_REPORT_FILTER_H
#define FX_REPORT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/timeline.h"

struct fx_patterns {
	const char *const *items; /* shell patterns, as fnmatch(3) */
	size_t count;
};

struct fx_filter {
	struct fx_patterns processes;
	struct fx_patterns threads;
	struct fx_patterns categories;
	struct fx_patterns names;
	uint64_t from; /* ns since the first event */
	uint64_t to;   /* the same; UINT64_MAX: the end */
};

/* Whether something may be left out. */
static inline bool fx_filter_is_set(const struct fx_filter *f)
{
	return f->processes.count || f->threads.count || f->categories.count || f->names.count ||
	       f->from > 0 || f->to < UINT64_MAX;
}

/* Whether a text matches one of the patterns; with none, it does. */
bool fx_patterns_match(const struct fx_patterns *patterns, const char *text);

bool fx_filter_thread(const struct fx_filter *filter, const struct fx_thread *thread);

#endif
