/* SPDX-License-Identifier: MIT */
#include "archives/turns.h"

#include <stdbool.h>

static bool turns_is_before(const struct fx_turn *a, const struct fx_turn *b)
{
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void turns_swap(struct fx_turn *a, struct fx_turn *b)
{
	struct fx_turn c = *a;

	*a = *b;
	*b = c;
}

int fx_turns_add(struct fx_turns *turns, size_t number, uint64_t time)
{
	struct fx_turn *heap;
	size_t at = turns->heap.count;

	if (fx_vector_reserve(&turns->heap, 1) < 0)
		return -ENOMEM;
	heap = turns->heap.items;
	heap[turns->heap.count++] = (struct fx_turn){.time = time, .number = number};
	for (; at > 0 && turns_is_before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
		turns_swap(&heap[at], &heap[(at - 1) / 2]);
	return 0;
}

const struct fx_turn *fx_turns_first(const struct fx_turns *turns)
{
	return turns->heap.count > 0 ? &turns->heap.items[0] : NULL;
}

/* The first goes to where it belongs. */
static void turns_sink(struct fx_turns *turns)
{
	struct fx_turn *heap = turns->heap.items;
	size_t count = turns->heap.count, at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && turns_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!turns_is_before(&heap[child], &heap[at]))
			return;
		turns_swap(&heap[child], &heap[at]);
		at = child;
	}
}

void fx_turns_next(struct fx_turns *turns, uint64_t time)
{
	turns->heap.items[0].time = time;
	turns_sink(turns);
}

void fx_turns_over(struct fx_turns *turns)
{
	turns->heap.items[0] = turns->heap.items[--turns->heap.count];
	turns_sink(turns);
}

void fx_turns_release(struct fx_turns *turns)
{
	fx_vector_free(&turns->heap);
}
