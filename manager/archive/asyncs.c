/* SPDX-License-Identifier: MIT */
#include "manager/archive/asyncs.h"

#include <stdlib.h>

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

void fx_asyncs_clear(struct fx_asyncs *asyncs)
{
	struct fx_async *a, *next;

	HASH_ITER (hh, asyncs->by_id, a, next)
		async_forget(asyncs, a);
	*asyncs = (struct fx_asyncs){0};
}
