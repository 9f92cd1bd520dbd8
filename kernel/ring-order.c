/* SPDX-License-Identifier: MIT */
#include "kernel/ring-order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool waiting_is_before(const struct fx_ring_waiting *a, const struct fx_ring_waiting *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->serial < b->serial);
}

int fx_ring_order_put(struct fx_ring_order *order, struct fx_ring_record *record)
{
	const struct fx_ring_waiting one = {record->ns, order->serial, record};
	size_t i = order->heap.count, above;

	if (fx_vector_reserve(&order->heap, 1) < 0)
		return -ENOMEM;
	order->serial++;
	order->heap.count++;
	for (; i; i = above) {
		above = (i - 1) / 2;
		if (!waiting_is_before(&one, &order->heap.items[above]))
			break;
		order->heap.items[i] = order->heap.items[above];
	}
	order->heap.items[i] = one;
	return 0;
}

/* One that goes where it belongs, from the first place on, which is free. */
static void order_sink(struct fx_ring_order *order, struct fx_ring_waiting one)
{
	struct fx_ring_waiting *items = order->heap.items;
	size_t i = 0, count = order->heap.count, below;

	while ((below = 2 * i + 1) < count) {
		if (below + 1 < count && waiting_is_before(&items[below + 1], &items[below]))
			below++;
		if (!waiting_is_before(&items[below], &one))
			break;
		items[i] = items[below];
		i = below;
	}
	items[i] = one;
}

struct fx_ring_record *fx_ring_order_take(struct fx_ring_order *order, uint64_t until)
{
	struct fx_ring_record *oldest;

	if (!order->heap.count || order->heap.items[0].ns > until)
		return NULL;
	oldest = order->heap.items[0].record;
	order->heap.count--;
	if (order->heap.count)
		order_sink(order, order->heap.items[order->heap.count]);
	return oldest;
}

void fx_ring_order_clear(struct fx_ring_order *order)
{
	while (order->heap.count)
		free(order->heap.items[--order->heap.count].record);
	fx_vector_free(&order->heap);
}
