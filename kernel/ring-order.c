/* SPDX-License-Identifier: MIT */
#include "kernel/ring-order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool record_is_before(const struct fx_ring_record *a, const struct fx_ring_record *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->serial < b->serial);
}

static void order_swap(struct fx_ring_order *order, size_t i, size_t j)
{
	struct fx_ring_record *record = order->heap.items[i];

	order->heap.items[i] = order->heap.items[j];
	order->heap.items[j] = record;
}

int fx_ring_order_put(struct fx_ring_order *order, struct fx_ring_record *record)
{
	size_t i = order->heap.count, above;

	if (fx_vector_reserve(&order->heap, 1) < 0)
		return -ENOMEM;
	record->serial = order->serial++;
	order->heap.items[order->heap.count++] = record;
	for (; i; i = above) {
		above = (i - 1) / 2;
		if (!record_is_before(order->heap.items[i], order->heap.items[above]))
			break;
		order_swap(order, i, above);
	}
	return 0;
}

/* The first, which is not where it belongs, goes down to there. */
static void order_sink(struct fx_ring_order *order)
{
	struct fx_ring_record *const *items = order->heap.items;
	size_t i = 0;

	for (;;) {
		size_t oldest = i, left = 2 * i + 1;

		for (size_t j = left; j < left + 2 && j < order->heap.count; j++) {
			if (record_is_before(items[j], items[oldest]))
				oldest = j;
		}
		if (oldest == i)
			return;
		order_swap(order, i, oldest);
		i = oldest;
	}
}

struct fx_ring_record *fx_ring_order_take(struct fx_ring_order *order, uint64_t until)
{
	struct fx_ring_record *oldest;

	if (!order->heap.count || order->heap.items[0]->ns > until)
		return NULL;
	oldest = order->heap.items[0];
	order->heap.items[0] = order->heap.items[--order->heap.count];
	order_sink(order);
	return oldest;
}

void fx_ring_order_clear(struct fx_ring_order *order)
{
	while (order->heap.count)
		free(order->heap.items[--order->heap.count]);
	fx_vector_free(&order->heap);
}
