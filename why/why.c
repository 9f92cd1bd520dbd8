/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "convert/convert.h"
#include "why/why-internal.h"
#include "why/computing.h"

static int why_find(struct fx_why *why, struct fx_flows *flows, const char **ret_wrong)
{
	int r = fx_convert_arrange(why->timeline, flows);

	if (r == 0)
		r = fx_why_past_collect(&why->past, why->timeline, flows, why->order->slice);
	if (r == 0)
		r = fx_why_ready_collect(&why->ready, why->timeline);
	if (r == 0 && why->ready.ends)
		fx_why_past_over(&why->past, why->ready.ends);
	if (r == 0)
		r = fx_why_choose(why, ret_wrong);
	if (r < 0 || why->is_empty)
		return r;
	r = fx_why_path_find(&why->path, &why->past, &why->ready, why->thread, why->from, why->to);
	if (r == 0)
		r = fx_why_computing(&why->path, &why->ready, why->timeline, flows);
	fx_why_tree_sum(&why->path.tree);
	return r;
}

int fx_why_make(struct fx_timeline *timeline, const struct fx_why_order *order, struct fx_why **ret,
		const char **ret_wrong)
{
	struct fx_why *why = calloc(1, sizeof(*why));
	struct fx_flows *flows = fx_flows_new(timeline);
	int r = -ENOMEM;

	*ret_wrong = NULL;
	if (why && flows) {
		why->timeline = timeline;
		why->order = order;
		r = why_find(why, flows, ret_wrong);
		if (r == 0)
			r = fx_why_answer(why);
	}
	fx_flows_free(flows);
	if (r < 0)
		fx_why_free(why);
	else
		*ret = why;
	return r;
}

void fx_why_free(struct fx_why *why)
{
	if (!why)
		return;
	fx_why_past_free(&why->past);
	fx_why_path_free(&why->path);
	fx_why_ready_free(&why->ready);
	for (size_t i = 0; i < why->tables.count; i++)
		fx_table_free(why->tables.items[i]);
	fx_vector_free(&why->tables);
	free(why);
}

size_t fx_why_table_count(const struct fx_why *why)
{
	return why->tables.count;
}

const struct fx_table *fx_why_table(const struct fx_why *why, size_t number)
{
	return why->tables.items[number];
}
