/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "why/why-internal.h"

static int compare_siblings(const void *a, const void *b, void *opaque)
{
	const struct fx_why_tree *tree = opaque;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const struct fx_why_node *one = &tree->nodes.items[left],
				 *other = &tree->nodes.items[right];

	if (one->parent != other->parent)
		return one->parent < other->parent ? -1 : 1;
	if (one->total != other->total)
		return one->total > other->total ? -1 : 1;
	return left < right ? -1 : left > right;
}

int fx_why_order_begin(struct fx_why_order_of *order, const struct fx_why_tree *tree)
{
	size_t count = tree->nodes.count;

	*order = (struct fx_why_order_of){.tree = tree};
	order->sorted = malloc(count * sizeof(*order->sorted));
	order->next = calloc(count, sizeof(*order->next));
	if (!order->sorted || !order->next)
		return -ENOMEM;
	/* All but the root. */
	for (size_t i = 1; i < count; i++)
		order->sorted[i - 1] = (uint32_t)i;
	qsort_r(order->sorted, count - 1, sizeof(*order->sorted), compare_siblings, (void *)tree);
	for (size_t i = count - 1; i-- > 0;)
		order->next[tree->nodes.items[order->sorted[i]].parent] = (uint32_t)i + 1;
	return 0;
}

/* The next child of a node that was not visited; 0: none is left. */
static uint32_t order_take_child(struct fx_why_order_of *order, uint32_t node)
{
	const struct fx_why_tree *tree = order->tree;
	uint32_t place = order->next[node], child;

	if (place == 0 || place >= tree->nodes.count)
		return 0;
	child = order->sorted[place - 1];
	if (tree->nodes.items[child].parent != node)
		return 0;
	order->next[node]++;
	return child;
}

bool fx_why_order_next(struct fx_why_order_of *order, bool goes_down)
{
	uint32_t child;

	if (!order->has_begun) {
		order->has_begun = true;
		return true;
	}
	child = goes_down ? order_take_child(order, order->at) : 0;
	if (child) {
		order->at = child;
		order->depth++;
		return true;
	}
	while (order->at != FX_WHY_ROOT) {
		uint32_t parent = order->tree->nodes.items[order->at].parent;

		child = order_take_child(order, parent);
		order->at = child ? child : parent;
		if (child)
			return true;
		order->depth--;
	}
	return false;
}

void fx_why_order_end(struct fx_why_order_of *order)
{
	free(order->sorted);
	free(order->next);
}
