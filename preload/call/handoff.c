/* SPDX-License-Identifier: MIT */
#include "preload/call/handoff.h"

#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "preload/call/tables.h"

#define BUCKETS 2048u
#define WAYS	16u

/* The thread that exchanges a key for BUSY has the entry, until it stores another. */
#define FREE 0
#define BUSY UINT64_MAX

/* Places are tried so often against others. */
#define PATIENCE 1000

static struct entry {
	uint64_t key;
	uint64_t time;
	uint64_t tid;
} (*entries)[WAYS]; /* NULL: there is no room */

/* A bit for each bucket in which there ever was an entry: a forked child looks at no others. */
static uint64_t used[BUCKETS / 64];

_Static_assert(BUCKETS * sizeof(*entries) <= FX_HANDOFF_ROOM, "entries have room");

void fx_handoff_place(void *room)
{
	entries = room;
}

static unsigned handoff_bucket_of(uint64_t key)
{
	return (unsigned)((key * 0x9e3779b97f4a7c15ull) >> 53);
}

static void handoff_use(unsigned bucket)
{
	uint64_t *word = &used[bucket / 64], bit = 1ull << bucket % 64;

	if (!(fx_load_relaxed(word) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED); /* read by its own thread, forked */
}

static bool claim(struct entry *e, uint64_t key)
{
	return fx_load_relaxed(&e->key) == key && fx_cas_acq_rel(&e->key, &key, BUSY);
}

static void give_back(struct entry *e, uint64_t key)
{
	fx_store_release(&e->key, key); /* pairs with claim() */
}

/* A place for a new entry, claimed: a free one, or the oldest's. */
static struct entry *place(struct entry *bucket)
{
	for (int tries = 0; tries < PATIENCE; tries++) {
		struct entry *best = NULL;
		uint64_t key = BUSY;

		for (unsigned i = 0; i < WAYS && key != FREE; i++) {
			struct entry *e = &bucket[i];
			uint64_t k = fx_load_acquire(&e->key);

			if (k == BUSY ||
			    (k != FREE && best &&
			     fx_load_relaxed(&e->time) >= fx_load_relaxed(&best->time)))
				continue;
			best = e;
			key = k;
		}
		if (best && claim(best, key))
			return best;
	}
	return NULL;
}

void fx_handoff_put(uint64_t key, uint32_t tid, uint64_t time)
{
	unsigned bucket = handoff_bucket_of(key);
	struct entry *e;

	if (!entries)
		return;
	fx_handoff_forget(key);
	handoff_use(bucket);
	e = place(entries[bucket]);
	if (!e)
		return;
	fx_store_relaxed(&e->tid, tid);
	fx_store_relaxed(&e->time, time);
	give_back(e, key);
}

bool fx_handoff_take(uint64_t key, uint32_t *ret_tid, uint64_t *ret_time)
{
	struct entry *bucket = entries ? entries[handoff_bucket_of(key)] : NULL;

	for (unsigned i = 0; bucket && i < WAYS; i++) {
		if (!claim(&bucket[i], key))
			continue;
		*ret_tid = (uint32_t)bucket[i].tid;
		*ret_time = bucket[i].time;
		give_back(&bucket[i], FREE);
		return true;
	}
	return false;
}

/* Without claiming it, which is for the thread that joins: an entry that changes meanwhile is not it. */
static bool handoff_is_of(const struct entry *e, uint32_t tid, uint64_t *ret_time)
{
	uint64_t key = fx_load_acquire(&e->key); /* pairs with give_back() */

	if (key == FREE || key == BUSY || fx_load_relaxed(&e->tid) != tid)
		return false;
	*ret_time = fx_load_acquire(&e->time);
	return fx_load_relaxed(&e->key) == key;
}

bool fx_handoff_time(uint32_t tid, uint64_t *ret_time)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (unsigned k = 0; fx_load_relaxed(&used[i / 64]) >> i % 64 & 1 && k < WAYS; k++)
			if (handoff_is_of(&entries[i][k], tid, ret_time))
				return true;
	return false;
}

void fx_handoff_forget(uint64_t key)
{
	struct entry *bucket = entries ? entries[handoff_bucket_of(key)] : NULL;

	for (unsigned i = 0; bucket && i < WAYS; i++)
		if (claim(&bucket[i], key))
			give_back(&bucket[i], FREE);
}

void fx_handoff_reset(void)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		if (used[i / 64] >> i % 64 & 1)
			memset(entries[i], 0, sizeof(entries[i]));
	memset(used, 0, sizeof(used));
}
