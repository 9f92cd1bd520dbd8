/* SPDX-License-Identifier: MIT */
#include "preload/handoff.h"

#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define BUCKETS 256u
#define WAYS	4u

struct entry {
	uint64_t key;
	uint64_t id; /* 0: free */
	uint64_t time;
};

static struct bucket {
	uint32_t busy;
	struct entry entries[WAYS];
} buckets[BUCKETS];

/* The bucket of `key`, taken; NULL if someone else is in it. */
static struct bucket *bucket_enter(uint64_t key)
{
	struct bucket *b = &buckets[(key * 0x9e3779b97f4a7c15ull) >> 56];

	/* pairs with bucket_leave() of whoever was in it before */
	return __atomic_exchange_n(&b->busy, 1, __ATOMIC_ACQUIRE) ? NULL : b;
}

static void bucket_leave(struct bucket *b)
{
	fx_store_release(&b->busy, 0); /* pairs with bucket_enter() */
}

void fx_handoff_put(uint64_t key, uint64_t id, uint64_t time)
{
	struct bucket *b = bucket_enter(key);
	struct entry *place;

	if (!b)
		return;
	place = &b->entries[0];
	for (unsigned i = 0; i < WAYS; i++) {
		struct entry *e = &b->entries[i];

		if (e->key == key && e->time != time)
			e->id = 0;
		if (!e->id || (place->id && e->time < place->time))
			place = e;
	}
	*place = (struct entry){key, id, time};
	bucket_leave(b);
}

uint64_t fx_handoff_take(uint64_t key, uint64_t since)
{
	struct bucket *b = bucket_enter(key);
	uint64_t id = 0;

	if (!b)
		return 0;
	for (unsigned i = 0; i < WAYS && !id; i++) {
		struct entry *e = &b->entries[i];

		if (e->key == key && e->id && e->time >= since) {
			id = e->id;
			e->id = 0;
		}
	}
	bucket_leave(b);
	return id;
}

void fx_handoff_reset(void)
{
	memset(buckets, 0, sizeof buckets);
}
