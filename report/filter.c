/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>

#include "report/filter.h"

bool fx_patterns_match(const struct fx_patterns *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (fnmatch(patterns->items[i], text, 0) == 0)
			return true;
	}
	return patterns->count == 0;
}

static bool filter_matches(const struct fx_patterns *patterns, uint64_t id,
			   const struct fx_text *name)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, id);
	return fx_patterns_match(patterns, digits) ||
	       (name && fx_patterns_match(patterns, name->data));
}

bool fx_filter_thread(const struct fx_filter *filter, const struct fx_thread *thread)
{
	return filter_matches(&filter->processes, thread->process->pid, thread->process->name) &&
	       filter_matches(&filter->threads, thread->key.tid, thread->name);
}
