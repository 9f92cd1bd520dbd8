/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "measure/pairs.h"

#define NOBODY UINT32_MAX

/* The begins of a key that wait for their end, as numbers of moments. */
struct queue {
	uint32_t first, last;
};

int fx_pairs_add(struct fx_pairs *pairs, uint64_t ts, enum fx_moment_role role, const char *key,
		 size_t length)
{
	uint32_t number = 0;

	if (length > 0) {
		if (!pairs->keys)
			pairs->keys = fx_texts_new();
		number = pairs->keys ? fx_texts_add(pairs->keys, key, length) : 0;
		if (!number)
			return -ENOMEM;
	}
	if (pairs->moments.count == NOBODY || fx_vector_reserve(&pairs->moments, 1) < 0)
		return -ENOMEM;
	pairs->moments.items[pairs->moments.count++] =
	    (struct fx_moment){ts, number, (uint8_t)role};
	return 0;
}

/* Begins come first among moments of one time: what took no time at all has one. */
static int pairs_compare(const void *a, const void *b)
{
	const struct fx_moment *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts > right->ts ? 1 : -1;
	return (int)left->role - (int)right->role;
}

static int pairs_end(struct fx_pairs *pairs, struct queue *queue, const uint32_t *next,
		     const struct fx_moment *end, struct fx_values *values)
{
	uint32_t begin = queue->first;

	if (begin == NOBODY) {
		pairs->ends_left += end->role == FX_MOMENT_END;
		return 0;
	}
	queue->first = next[begin];
	return fx_values_add(values, (double)(end->ts - pairs->moments.items[begin].ts));
}

static void pairs_begin(struct queue *queue, uint32_t *next, uint32_t number)
{
	next[number] = NOBODY;
	if (queue->first == NOBODY)
		queue->first = number;
	else
		next[queue->last] = number;
	queue->last = number;
}

static int pairs_go(struct fx_pairs *pairs, struct queue *queues, uint32_t *next,
		    struct fx_values *values)
{
	for (uint32_t i = 0; i < pairs->moments.count; i++) {
		const struct fx_moment *moment = &pairs->moments.items[i];
		struct queue *queue = &queues[moment->key];

		if (moment->role != FX_MOMENT_BEGIN &&
		    pairs_end(pairs, queue, next, moment, values) < 0)
			return -ENOMEM;
		if (moment->role != FX_MOMENT_END)
			pairs_begin(queue, next, i);
	}
	return 0;
}

static void pairs_count_left(struct fx_pairs *pairs, const struct queue *queues, size_t count,
			     const uint32_t *next)
{
	for (size_t key = 0; key < count; key++) {
		for (uint32_t i = queues[key].first; i != NOBODY; i = next[i])
			pairs->begins_left += pairs->moments.items[i].role == FX_MOMENT_BEGIN;
	}
}

int fx_pairs_finish(struct fx_pairs *pairs, struct fx_values *values)
{
	size_t count = pairs->keys ? (size_t)fx_texts_count(pairs->keys) + 1 : 1;
	struct queue *queues = malloc(count * sizeof(*queues));
	uint32_t *next = malloc((pairs->moments.count + 1) * sizeof(*next));
	int r = queues && next ? 0 : -ENOMEM;

	if (pairs->moments.count > 1)
		qsort(pairs->moments.items, pairs->moments.count, sizeof(struct fx_moment),
		      pairs_compare);
	for (size_t i = 0; r == 0 && i < count; i++)
		queues[i] = (struct queue){NOBODY, NOBODY};
	if (r == 0)
		r = pairs_go(pairs, queues, next, values);
	if (r == 0)
		pairs_count_left(pairs, queues, count, next);
	free(queues);
	free(next);
	return r;
}

void fx_pairs_free(struct fx_pairs *pairs)
{
	fx_vector_free(&pairs->moments);
	fx_texts_free(pairs->keys);
}
