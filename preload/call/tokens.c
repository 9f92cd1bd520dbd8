/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "preload/call/waits-internal.h"

/* Bits of a token's `who`: thread, for many, release is over, number, name, how many have taken it. */
#define TID_MASK       0x3fffffu
#define WHO_TID(who)   ((uint32_t)(who)&TID_MASK)
#define WHO_MANY       (1ull << 22)
#define WHO_DONE       (1ull << 23)
#define WHO_NUMBER_LSB 24
#define NUMBER_MASK    0x3fffu
#define WHO_NAME_LSB   38
#define WHO_NAME(who)  ((uint32_t)((who) >> WHO_NAME_LSB & 0x3fff))
#define WHO_TAKEN_LSB  52
#define WHO_TAKEN(who) ((who) >> WHO_TAKEN_LSB)
#define WHO_ONE_TAKEN  (1ull << WHO_TAKEN_LSB)
#define WHO_BUSY       UINT64_MAX

/* --- Tokens at a fixed place ------------------------------------------------------------------- */

static uint64_t who_is(const struct fx_source *s, bool many, uint32_t number)
{
	return WHO_TID(s->tid) | (many ? WHO_MANY : 0) |
	       (uint64_t)(number & NUMBER_MASK) << WHO_NUMBER_LSB |
	       (uint64_t)s->name << WHO_NAME_LSB;
}

/* More ticks than a nanosecond has. */
#define DISTANCE 8u

/* The arrows to threads that take a token for many begin at times of their own: what stands at one time is nested
 * by viewers, and not beyond 512. */
static void source_of(uint64_t who, uint64_t time, struct fx_source *ret)
{
	ret->tid = WHO_TID(who);
	ret->name = WHO_NAME(who);
	ret->time = time + WHO_TAKEN(who) * DISTANCE;
	ret->held = 0;
}

/* Takes it, if it still is `who`. */
static bool token_claim(struct fx_token *token, uint64_t who)
{
	uint64_t next = who & WHO_MANY ? who + WHO_ONE_TAKEN : 0;

	if (WHO_TAKEN(next) < WHO_TAKEN(who))
		next = who; /* the count does not go into the name */
	return fx_cas_acq_rel(&token->who, &who, next);
}

uint64_t fx_token_set(struct fx_token *token, const struct fx_source *source, bool many)
{
	/* Two of one thread at one place are told apart. */
	uint64_t who = who_is(source, many, ++fx_notes);

	fx_store_relaxed(&token->time, source->time);
	fx_store_release(&token->who, who); /* pairs with fx_token_get() */
	return who;
}

void fx_token_clear(struct fx_token *token)
{
	fx_store_relaxed(&token->who, 0);
}

uint32_t fx_token_tid(const struct fx_token *token)
{
	uint64_t who = fx_load_relaxed(&token->who);

	return who == WHO_BUSY ? 0 : WHO_TID(who);
}

/* Without what others may change in it. */
static uint64_t identity(uint64_t who)
{
	return who & ~(UINT64_MAX << WHO_TAKEN_LSB | WHO_DONE);
}

void fx_token_done(const struct fx_wait_cell *cell, struct fx_token *token, uint64_t who)
{
	uint64_t now = fx_load_relaxed(&token->who);

	if (identity(now) == identity(who))
		fx_store_relaxed(&token->over, fx_load_acquire(&cell->begun) + 1);
	for (int i = 0; i < FX_WAIT_PATIENCE && identity(now) == identity(who); i++)
		if (fx_cas_acq_rel(&token->who, &now, now | WHO_DONE))
			return;
}

/* It was not over as the wait began. */
static bool is_fresh(const struct fx_wait *w, const struct fx_token *t, uint64_t who)
{
	return !(who & WHO_DONE) || fx_load_relaxed(&t->over) > w->since;
}

/* The object was looked at a moment before the time of the call was read: so many ticks, about a microsecond. */
#define LOOKED_BEFORE 4096u

/* It found the object free, and maybe not by this release, which was over at its call: that is taken all the same, for it
 * is nobody else's, but says nothing. */
static bool is_left_over(const struct fx_wait *w, const struct fx_token *t, uint64_t who)
{
	return w->called && who & WHO_DONE &&
	       fx_load_relaxed(&t->ended) + LOOKED_BEFORE < w->called;
}

uint64_t fx_token_stale(const struct fx_token *token)
{
	uint64_t who = fx_load_acquire(&token->who);

	return who & WHO_DONE ? identity(who) : 0;
}

bool fx_token_get(struct fx_token *token, uint64_t stale, struct fx_source *ret)
{
	for (int i = 0; i < FX_WAIT_PATIENCE; i++) {
		uint64_t who = fx_load_acquire(&token->who);
		uint64_t time = fx_load_relaxed(&token->time);

		if (!who || who == WHO_BUSY || (stale && identity(who) == stale))
			return false;
		if (token_claim(token, who)) {
			source_of(who, time, ret);
			return true;
		}
	}
	return false;
}

struct fx_token *fx_token_place(struct fx_wait_cell *cell, unsigned first)
{
	for (int tries = 0; tries < FX_WAIT_PATIENCE; tries++) {
		struct fx_token *best = NULL;
		uint64_t best_who = 0;

		for (unsigned i = first; i < FX_TOKENS && !(best && best_who == 0); i++) {
			struct fx_token *t = &cell->tokens[i];
			uint64_t who = fx_load_acquire(&t->who);

			if (who != 0 && (who == WHO_BUSY || !(who & WHO_DONE)))
				continue;
			if (!best || who == 0 ||
			    fx_load_relaxed(&t->time) < fx_load_relaxed(&best->time)) {
				best = t;
				best_who = who;
			}
		}
		if (!best)
			return NULL;
		if (fx_cas_acq_rel(&best->who, &best_who, WHO_BUSY))
			return best;
	}
	return NULL;
}

bool fx_token_newest(const struct fx_wait *w, unsigned first, struct fx_source *ret, bool *any)
{
	uint64_t best_who = 0, best_time = 0;

	*any = false;
	for (unsigned i = first; i < FX_TOKENS; i++) {
		const struct fx_token *t = &w->cell->tokens[i];
		uint64_t who = fx_load_acquire(&t->who);
		uint64_t time = fx_load_relaxed(&t->time);
		bool later = time >= best_time;

		if (!who || who == WHO_BUSY)
			continue;
		*any = true;
		if (!is_fresh(w, t, who))
			continue;
		if (best_who && (who ^ best_who) & WHO_DONE)
			later = best_who & WHO_DONE;
		if (!best_who || later) {
			best_who = who;
			best_time = time;
		}
	}
	if (best_who)
		source_of(best_who, best_time, ret);
	return best_who;
}

void fx_tokens_clear(struct fx_wait_cell *cell, unsigned first)
{
	for (unsigned i = first; i < FX_TOKENS; i++)
		fx_token_clear(&cell->tokens[i]);
}

/* --- Heaps of tokens -------------------------------------------------------------------------- */

/* One after the other, through the cell and its blocks. */
struct walk {
	struct fx_token *token;
	struct fx_token *end;
	uint64_t *more;
};

static struct walk walk_begin(struct fx_wait_cell *c)
{
	return (struct walk){c->tokens, c->tokens + FX_TOKENS, &c->more};
}

static struct fx_token *walk_next(struct walk *w)
{
	if (w->token == w->end) {
		uint64_t number = fx_load_acquire(w->more); /* pairs with cell_extend() */
		struct fx_token_block *b = number ? fx_token_block(number) : NULL;

		if (!b)
			return NULL;
		*w = (struct walk){b->tokens, b->tokens + FX_TOKEN_BLOCK_TOKENS, &b->next};
	}
	return w->token++;
}

/* More tokens than take part, and some: nobody will ask for the oldest. */
#define SPARE 8u

/* A block more behind the last of the cell. */
static void cell_extend(struct fx_wait_cell *c)
{
	uint64_t number = fx_token_block_new();
	uint64_t *more = &c->more;

	for (int i = 0; number && i < FX_WAIT_PATIENCE; i++) {
		uint64_t none = 0;

		if (fx_cas_acq_rel(more, &none, number))
			return;
		more = &fx_token_block(none)->next;
	}
	if (number)
		fx_token_block_free(number);
}

/* A place for a new token, marked as busy. */
static struct fx_token *token_reserve(struct fx_wait_cell *c)
{
	for (int tries = 0; tries < FX_WAIT_PATIENCE; tries++) {
		uint32_t enough = fx_cell_parts(c) + SPARE, count = 0;
		struct fx_token *best = NULL, *t;
		struct walk walk = walk_begin(c);
		uint64_t best_who = 0, oldest = UINT64_MAX;

		while (!(best && best_who == 0) && (t = walk_next(&walk))) {
			uint64_t who = fx_load_acquire(&t->who);
			uint64_t number = fx_load_relaxed(&t->number);

			count++;
			if (who != WHO_BUSY && (who == 0 || number < oldest)) {
				best = t;
				best_who = who;
				oldest = number;
			}
		}
		if ((!best || best_who) && count < enough && !(tries & 1)) {
			cell_extend(c);
			continue;
		}
		if (best && fx_cas_acq_rel(&best->who, &best_who, WHO_BUSY))
			return best;
	}
	return NULL;
}

struct fx_left fx_token_add(const struct fx_wait *visit, const struct fx_source *source, bool many,
			    uint64_t until)
{
	struct fx_token *t = token_reserve(visit->cell);
	uint64_t number, who;

	if (!t)
		return (struct fx_left){NULL, NULL, 0};
	number = fx_add_acq_rel(&visit->cell->count, 1);
	who = who_is(source, many, (uint32_t)number);
	fx_store_relaxed(&t->number, number);
	fx_store_relaxed(&t->until, until);
	fx_store_relaxed(&t->time, source->time);
	fx_store_release(&t->who, who); /* pairs with fx_token_take() */
	return (struct fx_left){visit->cell, t, who};
}

void fx_left_done(const struct fx_left *left, uint64_t now)
{
	if (!left->token)
		return;
	if (identity(fx_load_relaxed(&left->token->who)) == identity(left->who))
		fx_store_relaxed(&left->token->ended, now);
	fx_token_done(left->cell, left->token, left->who);
}

void fx_left_undo(const struct fx_left *left)
{
	uint64_t who = left->who;

	if (left->token)
		fx_cas_acq_rel(&left->token->who, &who, 0);
}

/* Whether `t` is to be taken rather than `best`. */
static bool is_better(const struct fx_wait *w, const struct fx_token *t,
		      const struct fx_token *best)
{
	bool in_time = fx_load_relaxed(&t->until) > w->place;
	bool later;

	if (!best)
		return true;
	if (in_time != (fx_load_relaxed(&best->until) > w->place))
		return in_time;
	later = fx_load_relaxed(&t->number) > fx_load_relaxed(&best->number);
	return later == (w->looked_free || !in_time);
}

bool fx_token_take(const struct fx_wait *w, struct fx_source *ret)
{
	for (int tries = 0; tries < FX_WAIT_PATIENCE; tries++) {
		struct walk walk = walk_begin(w->cell);
		uint64_t best_who = 0, best_time = 0;
		struct fx_token *best = NULL, *t;
		bool left_over;

		while ((t = walk_next(&walk))) {
			uint64_t who = fx_load_acquire(&t->who);

			if (!who || who == WHO_BUSY || !is_fresh(w, t, who) ||
			    !is_better(w, t, best))
				continue;
			best = t;
			best_who = who;
			best_time = fx_load_relaxed(&t->time);
		}
		if (!best)
			return false;
		left_over = is_left_over(w, best, best_who);
		if (token_claim(best, best_who)) {
			source_of(best_who, best_time, ret);
			if (left_over)
				ret->tid = 0;
			return true;
		}
	}
	return false;
}
