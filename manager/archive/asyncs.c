/* SPDX-License-Identifier: MIT */
#include "manager/archive/asyncs.h"

#include <stdlib.h>

/* Pairs that one end is passed through. */
#define PARTED_MAX 64u

struct fx_async *fx_asyncs_get(struct fx_asyncs *asyncs, uint64_t id)
{
	struct fx_async *a;

	HASH_FIND(hh, asyncs->by_id, &id, sizeof(id), a);
	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->id = id;
	HASH_ADD(hh, asyncs->by_id, id, sizeof(a->id), a);
	if (a->lost) {
		free(a);
		return NULL;
	}
	return a;
}

static void async_forget(struct fx_asyncs *asyncs, struct fx_async *a)
{
	HASH_DEL(asyncs->by_id, a);
	for (size_t i = 0; i < a->held.count; i++)
		free(a->held.items[i].record.words);
	fx_vector_free(&a->open);
	fx_vector_free(&a->held);
	free(a);
}

void fx_asyncs_settle(struct fx_asyncs *asyncs, struct fx_async *a)
{
	if (!a->open.count && !a->held.count && !a->deep)
		async_forget(asyncs, a);
}

void fx_asyncs_pair(struct fx_asyncs *asyncs, struct fx_async_pair pair)
{
	if (!asyncs->pairs)
		asyncs->pairs = calloc(FX_ASYNC_PAIRS, sizeof(*asyncs->pairs));
	if (asyncs->pairs)
		asyncs->pairs[asyncs->pair_next++ % FX_ASYNC_PAIRS] = pair;
}

/* The pair that goes on for longest of those that are open at a time; its begin, but for the first, comes before that. NULL: none. */
static struct fx_async_pair *pair_over(const struct fx_asyncs *asyncs, uint64_t id, uint64_t name,
				       uint64_t at, bool is_first)
{
	struct fx_async_pair *longest = NULL;

	for (uint32_t i = 0; asyncs->pairs && i < FX_ASYNC_PAIRS; i++) {
		struct fx_async_pair *pair = &asyncs->pairs[i];

		if (pair->id == id && pair->name == name && pair->end > at &&
		    pair->begin < at + is_first && (!longest || pair->end > longest->end))
			longest = pair;
	}
	return longest;
}

bool fx_asyncs_part(struct fx_asyncs *asyncs, uint64_t id, uint64_t name, uint64_t end,
		    uint64_t begin)
{
	struct fx_async_pair *chain[PARTED_MAX];
	unsigned count = 0;
	uint64_t at = end;

	while (at <= begin) {
		struct fx_async_pair *pair =
		    count < PARTED_MAX ? pair_over(asyncs, id, name, at, count == 0) : NULL;

		if (!pair)
			return false;
		chain[count++] = pair;
		at = pair->end;
	}
	for (unsigned i = 0; i < count; i++) {
		uint64_t free_end = chain[i]->end;

		chain[i]->end = end;
		end = free_end;
	}
	fx_asyncs_pair(asyncs, (struct fx_async_pair){id, name, begin, end});
	return true;
}

void fx_asyncs_clear(struct fx_asyncs *asyncs)
{
	struct fx_async *a, *next;

	HASH_ITER (hh, asyncs->by_id, a, next)
		async_forget(asyncs, a);
	free(asyncs->pairs);
	*asyncs = (struct fx_asyncs){0};
}
