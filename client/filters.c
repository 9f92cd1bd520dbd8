/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/filters.h"

#include "client/quantity.h"
#include "client/usage.h"

static void filters_add(struct fx_filters *filters, const char *command, int kind,
			const char *pattern)
{
	struct fx_filter *filter = &filters->filter;
	struct fx_patterns *const lists[] = {&filter->processes, &filter->threads,
					     &filter->categories, &filter->names};
	struct fx_patterns *list = lists[kind];

	if (list->count == FX_FILTER_PATTERNS_MAX)
		fx_usage_error(command, "more than 64 patterns of one kind", pattern);
	filters->patterns[kind][list->count++] = pattern;
	list->items = filters->patterns[kind];
}

static uint64_t filters_time(const char *command, const char *text)
{
	uint64_t ns;

	if (!fx_quantity_parse(text, FX_QUANTITY_TIMES, &ns))
		fx_usage_error(command, "not a time, such as 10us, 1.5s or 5min", text);
	return ns;
}

bool fx_filters_option(struct fx_filters *filters, const char *command, int key, const char *arg)
{
	switch (key) {
	case FX_FILTER_PROCESS:
	case FX_FILTER_THREAD:
	case FX_FILTER_CATEGORY:
	case FX_FILTER_NAME:
		filters_add(filters, command, key - FX_FILTER_PROCESS, arg);
		return true;
	case FX_FILTER_FROM:
		filters->filter.from = filters_time(command, arg);
		return true;
	case FX_FILTER_TO:
		filters->filter.to = filters_time(command, arg);
		return true;
	default:
		return false;
	}
}

bool fx_filters_any(const struct fx_filters *filters)
{
	return fx_filter_is_set(&filters->filter);
}

void fx_filters_check(const struct fx_filters *filters, const char *command)
{
	if (filters->filter.from > filters->filter.to)
		fx_usage_error(command, "--from is behind --to", NULL);
}
