/* SPDX-License-Identifier: MIT */
#include "preload/waits.h"

#include <stddef.h>
#include <string.h>

#define WAYS	8u
#define BUCKETS 1024u /* of cells; each for several heads */

/* Bits of a cell's key. */
#define WAITERS 0xffffull
#define NOBODY	0ull
#define KEY_LSB 16

/* Bits of a token's `who`: thread, for many, how many have taken it, name, and some of the time, so that no
 * two tokens are alike. */
#define TID_MASK       0x3fffffu
#define WHO_TID(who)   ((uint32_t)(who)&TID_MASK)
#define WHO_MANY       (1ull << 22)
#define WHO_ONE_TAKEN  (1ull << 23)
#define WHO_TAKEN(who) ((who) >> 23 & 0x1ff)
#define WHO_NAME(who)  ((uint32_t)((who) >> 32 & 0xffff))
#define WHO_TIME_LSB   48
#define WHO_BUSY       UINT64_MAX

/* Tokens are tried so many times against others who take them. */
#define PATIENCE 16

struct fx_wait_head fx_wait_heads[FX_WAIT_HEADS];

static struct bucket {
	struct fx_wait_cell cells[WAYS];
} buckets[BUCKETS] __attribute__((aligned(64)));

/* The thread's innermost wait. */
static __thread struct {
	struct fx_wait_cell *cell;
	uint64_t sp;
} self __attribute__((tls_model("initial-exec")));

/* Whether there ever was a wait. */
static bool used;

static struct bucket *bucket_of(const volatile void *object)
{
	return &buckets[(fx_wait_head(object) - fx_wait_heads) / (FX_WAIT_HEADS / BUCKETS)];
}

static uint64_t key_of(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object << KEY_LSB;
}

static bool is_for(uint64_t key, uint64_t wanted)
{
	return (key & ~WAITERS) == wanted && (key & WAITERS) != NOBODY;
}

/* The cell number `i` of a bucket gets one more waiter for `wanted`; false: it is for another. */
static bool cell_join(struct fx_wait_cell *c, uint64_t wanted)
{
	uint64_t key = fx_load_relaxed(&c->key);

	while (is_for(key, wanted) && (key & WAITERS) != WAITERS)
		if (fx_cas_acq_rel(&c->key, &key, key + 1))
			return true;
	return false;
}

static bool cell_make(struct fx_wait_cell *c, struct fx_wait_head *head, uint64_t wanted)
{
	uint64_t free = 0;

	if (fx_load_relaxed(&c->key) != 0)
		return false;
	fx_add_relaxed(&head->waiting, 1);
	if (fx_cas_acq_rel(&c->key, &free, wanted | 1))
		return true;
	fx_add_relaxed(&head->waiting, -1);
	return false;
}

static void cell_leave(struct fx_wait_cell *c)
{
	uint64_t key = fx_load_relaxed(&c->key);
	struct fx_wait_head *head;

	while ((key & WAITERS) != NOBODY && !fx_cas_acq_rel(&c->key, &key, key - 1))
		;
	if ((key & WAITERS) != 1)
		return;
	/* Without waiters it is nobody's but ours, until the key is 0. */
	head = fx_wait_head((void *)(uintptr_t)(key >> KEY_LSB));
	c->arrivals = 0;
	for (unsigned i = 0; i < FX_TOKENS; i++)
		fx_store_relaxed(&c->tokens[i].who, 0);
	fx_store_release(&c->key, 0); /* pairs with cell_make() */
	fx_add_relaxed(&head->waiting, -1);
}

static struct fx_wait_cell *cell_enter(const volatile void *object)
{
	struct fx_wait_head *head = fx_wait_head(object);
	struct bucket *b = bucket_of(object);
	uint64_t wanted = key_of(object);

	fx_store_relaxed(&used, true);
	for (unsigned i = 0; i < WAYS; i++)
		if (cell_join(&b->cells[i], wanted))
			return &b->cells[i];
	for (unsigned i = 0; i < WAYS; i++) {
		if (cell_join(&b->cells[i], wanted))
			return &b->cells[i];
		if (cell_make(&b->cells[i], head, wanted))
			return &b->cells[i];
	}
	return NULL;
}

void fx_wait_begin(struct fx_wait *w, const volatile void *object, uint64_t sp, uint64_t start)
{
	w->from.tid = 0;
	w->holder = 0;
	w->start = start;
	w->sp = sp;
	w->outer.cell = NULL;
	if (self.cell && self.sp <= sp)
		fx_wait_abandon();
	w->outer.cell = self.cell;
	w->outer.sp = self.sp;
	w->cell = object ? cell_enter(object) : NULL;
	self.sp = sp;
	fx_barrier();
	self.cell = w->cell;
}

void fx_wait_end(struct fx_wait *w)
{
	/* A handler may have taken it for one that was left. */
	if (w->cell && self.cell == w->cell && self.sp == w->sp)
		fx_wait_abandon();
	self.sp = w->outer.sp;
	fx_barrier();
	self.cell = w->outer.cell;
}

void fx_wait_abandon(void)
{
	struct fx_wait_cell *c = self.cell;

	self.cell = NULL;
	fx_barrier();
	if (c)
		cell_leave(c);
}

void fx_waits_reset(void)
{
	self.cell = NULL;
	if (!used)
		return;
	used = false;
	for (unsigned i = 0; i < FX_WAIT_HEADS; i++)
		if (fx_wait_heads[i].waiting)
			fx_wait_heads[i].waiting = 0;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (unsigned k = 0; k < WAYS; k++)
			if (buckets[i].cells[k].key)
				memset(&buckets[i].cells[k], 0, sizeof buckets[i].cells[k]);
}

uint32_t fx_released_last(const volatile void *object)
{
	uint64_t last = fx_load_relaxed(&fx_wait_head(object)->last);
	uint32_t tid = last & TID_MASK;

	return last == fx_wait_last(object, tid) ? tid : 0;
}

struct fx_wait_cell *fx_waits_find(const volatile void *object)
{
	struct bucket *b = bucket_of(object);
	uint64_t wanted = key_of(object);

	for (unsigned i = 0; i < WAYS; i++)
		if (is_for(fx_load_acquire(&b->cells[i].key), wanted))
			return &b->cells[i];
	return NULL;
}

struct fx_wait_cell *fx_waits_release(const volatile void *object, uint32_t tid)
{
	struct fx_wait_cell *cell = fx_waits_find(object);

	if (!cell)
		fx_store_relaxed(&fx_wait_head(object)->last, fx_wait_last(object, tid));
	return cell;
}

/* --- Tokens ----------------------------------------------------------------------------------- */

static uint64_t who_is(const struct fx_source *s, bool many)
{
	return WHO_TID(s->tid) | (many ? WHO_MANY : 0) | (uint64_t)s->name << 32 |
	       s->time << WHO_TIME_LSB;
}

/* More ticks than a nanosecond has. */
#define DISTANCE 8u

/* The arrows to those who take a token for many begin at times of their own: what stands at one time is nested
 * by viewers, and not beyond 512. */
static void source_of(uint64_t who, uint64_t time, struct fx_source *ret)
{
	ret->tid = WHO_TID(who);
	ret->name = WHO_NAME(who);
	ret->time = time + WHO_TAKEN(who) * DISTANCE;
}

/* Takes it, if it still is `who`. */
static bool token_claim(struct fx_token *token, uint64_t who)
{
	uint64_t next = who & WHO_MANY ? who + WHO_ONE_TAKEN : 0;

	if (WHO_TAKEN(next) < WHO_TAKEN(who))
		next = who; /* the count does not go into the name */
	return fx_cas_acq_rel(&token->who, &who, next);
}

void fx_token_set(struct fx_token *token, const struct fx_source *source, bool many)
{
	fx_store_relaxed(&token->time, source->time);
	fx_store_release(&token->who, who_is(source, many)); /* pairs with fx_token_get() */
}

void fx_token_clear(struct fx_token *token)
{
	fx_store_relaxed(&token->who, 0);
}

bool fx_token_get(struct fx_token *token, uint64_t since, struct fx_source *ret)
{
	for (int i = 0; i < PATIENCE; i++) {
		uint64_t who = fx_load_acquire(&token->who);
		uint64_t time = fx_load_relaxed(&token->time);

		if (!who || who == WHO_BUSY || time < since)
			return false;
		if (token_claim(token, who)) {
			source_of(who, time, ret);
			return true;
		}
	}
	return false;
}

/* A place for a new token: a free one, else that of the oldest. It is marked as busy. */
static struct fx_token *token_reserve(struct fx_wait_cell *cell)
{
	for (int tries = 0; tries < PATIENCE; tries++) {
		struct fx_token *best = NULL;
		uint64_t best_who = 0;

		for (unsigned i = 0; i < FX_TOKENS && !(best && best_who == 0); i++) {
			struct fx_token *t = &cell->tokens[i];
			uint64_t who = fx_load_acquire(&t->who);

			if (who == WHO_BUSY)
				continue;
			if (!best || who == 0 ||
			    fx_load_relaxed(&t->time) < fx_load_relaxed(&best->time)) {
				best = t;
				best_who = who;
			}
		}
		if (best && fx_cas_acq_rel(&best->who, &best_who, WHO_BUSY))
			return best;
	}
	return NULL;
}

void fx_token_add(struct fx_wait_cell *cell, const struct fx_source *source, bool many)
{
	struct fx_token *t = token_reserve(cell);

	if (t)
		fx_token_set(t, source, many);
}

bool fx_token_take(struct fx_wait_cell *cell, uint64_t since, struct fx_source *ret)
{
	for (int tries = 0; tries < PATIENCE; tries++) {
		struct fx_token *best = NULL;
		uint64_t best_time = UINT64_MAX;

		for (unsigned i = 0; i < FX_TOKENS; i++) {
			struct fx_token *t = &cell->tokens[i];
			uint64_t who = fx_load_acquire(&t->who);
			uint64_t time = fx_load_relaxed(&t->time);

			if (who && who != WHO_BUSY && time >= since && time < best_time) {
				best = t;
				best_time = time;
			}
		}
		if (!best)
			return false;
		if (fx_token_get(best, since, ret))
			return true;
	}
	return false;
}
