/* SPDX-License-Identifier: MIT */
#include "preload/handoff.h"

#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define BUCKETS 256u
#define WAYS	8u

/* Looks at a bucket that another is in, each some ten nanoseconds. */
#define PATIENCE 1000

struct entry {
	uint64_t key;
	uint64_t time;
	uint32_t tid; /* 0: free */
};

static struct bucket {
	uint32_t busy;
	struct entry entries[WAYS];
} buckets[BUCKETS];

/* The bucket of `key`, taken; NULL if someone else stays in it. */
static struct bucket *bucket_enter(uint64_t key)
{
	struct bucket *b = &buckets[(key * 0x9e3779b97f4a7c15ull) >> 56];

	/* pairs with bucket_leave() of whoever was in it before */
	for (int i = 0; i < PATIENCE; i++)
		if (!__atomic_exchange_n(&b->busy, 1, __ATOMIC_ACQUIRE))
			return b;
	return NULL;
}

static void bucket_leave(struct bucket *b)
{
	fx_store_release(&b->busy, 0); /* pairs with bucket_enter() */
}

static struct entry *find(struct bucket *b, uint64_t key)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (b->entries[i].key == key && b->entries[i].tid)
			return &b->entries[i];
	return NULL;
}

/* A place for a new entry: a free one, or the oldest's. */
static struct entry *place(struct bucket *b)
{
	struct entry *best = &b->entries[0];

	for (unsigned i = 0; i < WAYS && best->tid; i++)
		if (!b->entries[i].tid || b->entries[i].time < best->time)
			best = &b->entries[i];
	return best;
}

void fx_handoff_put(uint64_t key, uint32_t tid, uint64_t time)
{
	struct bucket *b = bucket_enter(key);
	struct entry *e;

	if (!b)
		return;
	e = find(b, key);
	*(e ? e : place(b)) = (struct entry){.key = key, .time = time, .tid = tid};
	bucket_leave(b);
}

bool fx_handoff_take(uint64_t key, uint32_t *ret_tid, uint64_t *ret_time)
{
	struct bucket *b = bucket_enter(key);
	struct entry *e;

	if (!b)
		return false;
	e = find(b, key);
	if (e) {
		*ret_tid = e->tid;
		*ret_time = e->time;
		e->tid = 0;
	}
	bucket_leave(b);
	return e != NULL;
}

void fx_handoff_reset(void)
{
	memset(buckets, 0, sizeof buckets);
}
