/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/convoys.h"

enum { WAITS_MAX = 1 << 19 };

static int convoys_compare_lengths(const void *a, const void *b)
{
	const struct fx_convoy_wait *left = a, *right = b;
	uint64_t first = left->end - left->begin, second = right->end - right->begin;

	return first > second ? -1 : first < second;
}

int fx_convoys_add(struct fx_convoys *convoys, size_t object, uint64_t begin, uint64_t end)
{
	if (convoys->waits.count == WAITS_MAX) {
		qsort(convoys->waits.items, convoys->waits.count, sizeof(struct fx_convoy_wait),
		      convoys_compare_lengths);
		convoys->waits.count /= 2;
		convoys->is_cut = true;
	}
	if (fx_vector_reserve(&convoys->waits, 1) < 0)
		return -ENOMEM;
	convoys->waits.items[convoys->waits.count++] = (struct fx_convoy_wait){begin, end, object};
	return 0;
}

/* A wait's begin or end. */
struct convoy_edge {
	uint64_t ts;
	size_t object;
	int change; /* 1 or -1 */
};

/* By object, then time; ends before begins. */
static int convoys_compare_edges(const void *a, const void *b)
{
	const struct convoy_edge *left = a, *right = b;

	if (left->object != right->object)
		return left->object > right->object ? 1 : -1;
	if (left->ts != right->ts)
		return left->ts > right->ts ? 1 : -1;
	return left->change - right->change;
}

int fx_convoys_count(const struct fx_convoys *convoys, uint32_t *most, size_t objects)
{
	size_t count = convoys->waits.count * 2;
	struct convoy_edge *edges = calloc(count + 1, sizeof(*edges));
	int64_t now = 0;

	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < convoys->waits.count; i++) {
		const struct fx_convoy_wait *wait = &convoys->waits.items[i];

		edges[2 * i] = (struct convoy_edge){wait->begin, wait->object, 1};
		edges[2 * i + 1] = (struct convoy_edge){wait->end, wait->object, -1};
	}
	qsort(edges, count, sizeof(*edges), convoys_compare_edges);
	memset(most, 0, objects * sizeof(*most));
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || edges[i - 1].object != edges[i].object)
			now = 0;
		/* A wait that took no time at all ends before it begins: below zero for that moment. */
		now += edges[i].change;
		if (now > most[edges[i].object])
			most[edges[i].object] = (uint32_t)now;
	}
	free(edges);
	return 0;
}

void fx_convoys_free(struct fx_convoys *convoys)
{
	fx_vector_free(&convoys->waits);
}
