/* SPDX-License-Identifier: MIT */
#include "preload/waits.h"

#include <stddef.h>
#include <string.h>

#include "base/fault.h"

#define WAYS	16u
#define BUCKETS 1024u /* of cells; each for several heads */

/* A key: the address, and below it how many take part, or what becomes of the cell. */
#define PART	  0xffffull
#define NOBODY	  0ull /* the last has left, and clears it */
#define FULL	  0xfff0ull
#define IN_MAKING 0xfffeull
#define COLLIDED                                                                                   \
	0xffffull /* somebody else makes one for the same object; whoever sees that begins anew */
#define KEY_LSB 16

/* Others are in the way so often at most, in what is tried again until it succeeds. */
#define PATIENCE 10000

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

struct fx_wait_head fx_wait_heads[FX_WAIT_HEADS];
__thread uint32_t fx_notes;

static struct bucket {
	uint64_t keys[WAYS]; /* 0: free */
	struct fx_wait_cell cells[WAYS];
} buckets[BUCKETS] __attribute__((aligned(64)));

/* More tokens of cells that many wait at. */
#define BLOCKS	     2048u
#define BLOCK_TOKENS 15u

static struct block {
	struct fx_token tokens[BLOCK_TOKENS];
	uint64_t next; /* 1 + number; 0: none */
} blocks[BLOCKS];

/* Of the blocks that were given back: 1 + number of the first, below a count of changes. Others were never used. */
static uint64_t blocks_free;
static uint64_t blocks_used;

#define FREE_MASK 0xffffffffull
#define FREE_ONE  (1ull << 32)

/* The thread's waits, each in a signal handler that has interrupted the one before. One that is deeper is not known
 * to be left, if it is. */
#define NESTED 6u

static __thread struct {
	unsigned depth;
	struct {
		struct fx_wait_cell *cell; /* NULL beyond depth */
		uint64_t sp;
	} waits[NESTED];
} self __attribute__((tls_model("initial-exec")));

/* A bit for each bucket in which there ever was a wait: a forked child looks at no others. */
static uint64_t used[BUCKETS / 64];

/* --- Cells ------------------------------------------------------------------------------------ */

static struct bucket *bucket_of(const volatile void *object)
{
	return &buckets[(fx_wait_head(object) - fx_wait_heads) / (FX_WAIT_HEADS / BUCKETS)];
}

static void use(const struct bucket *b)
{
	uint64_t *word = &used[(b - buckets) / 64], bit = 1ull << (b - buckets) % 64;

	if (!(fx_load_relaxed(word) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED); /* read by its own thread, forked */
}

static uint64_t *key_of(struct fx_wait_cell *c)
{
	struct bucket *b = &buckets[((char *)c - (char *)buckets) / sizeof(struct bucket)];

	return &b->keys[c - b->cells];
}

static uint64_t address_of(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object << KEY_LSB;
}

static bool is_for(uint64_t key, uint64_t address)
{
	uint64_t part = key & PART;

	return (key & ~PART) == address && part != NOBODY && part <= FULL;
}

/* One more takes part in it; false: it is not for `address`. */
static bool key_join(uint64_t *where, uint64_t address)
{
	uint64_t key = fx_load_relaxed(where);

	while (is_for(key, address) && (key & PART) != FULL)
		if (fx_cas_acq_rel(where, &key, key + 1))
			return true;
	return false;
}

static struct fx_wait_cell *cell_join(struct bucket *b, uint64_t address)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (key_join(&b->keys[i], address))
			return &b->cells[i];
	return NULL;
}

/*
 * Nobody else has, or makes, a cell for the object of `mine`: those who make one at the same time are told that they
 * collide, and only who was not told has it. Each looks at all the keys after his own can be seen. So of two, the one
 * who came later finds the other.
 */
static bool key_is_sole(struct bucket *b, unsigned mine, uint64_t address)
{
	uint64_t in_making = address | IN_MAKING;

	fx_fence(); /* pairs with itself: own key stored, others' loaded */
	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t key = fx_load_acquire(&b->keys[i]);

		if (i == mine)
			continue;
		if (key == in_making && !fx_cas_acq_rel(&b->keys[i], &key, address | COLLIDED) &&
		    key == in_making)
			return false;
		if (is_for(key, address))
			return false;
	}
	return fx_cas_acq_rel(&b->keys[mine], &in_making, address | 1);
}

/* False: there is no room. */
static bool cell_make(struct bucket *b, uint64_t address, struct fx_wait_cell **ret)
{
	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t free = 0;

		if (fx_load_relaxed(&b->keys[i]) != 0 ||
		    !fx_cas_acq_rel(&b->keys[i], &free, address | IN_MAKING))
			continue;
		if (key_is_sole(b, i, address))
			*ret = &b->cells[i];
		else
			fx_store_release(&b->keys[i], 0); /* pairs with cell_make() */
		return true;
	}
	return false;
}

static struct fx_wait_cell *cell_enter(const volatile void *object)
{
	struct fx_wait_head *head = fx_wait_head(object);
	struct bucket *b = bucket_of(object);
	uint64_t address = address_of(object);
	struct fx_wait_cell *c = NULL;

	use(b);
	/* Also while others make one: nobody who releases may pass by. */
	fx_add_relaxed(&head->waiting, 1);
	for (int i = 0; i < PATIENCE; i++) {
		c = cell_join(b, address);
		if (c || !cell_make(b, address, &c) || c)
			break;
	}
	if (!c)
		fx_add_relaxed(&head->waiting, -1);
	return c;
}

static void block_free(uint64_t number)
{
	uint64_t top = fx_load_relaxed(&blocks_free);
	struct block *b = &blocks[number - 1];

	memset(b->tokens, 0, sizeof(b->tokens));
	do
		fx_store_relaxed(&b->next, top & FREE_MASK);
	while (!fx_cas_acq_rel(&blocks_free, &top, (top & ~FREE_MASK) + FREE_ONE + number));
}

/* 1 + number of a block that has nothing in it; 0: there is none. */
static uint64_t block_new(void)
{
	uint64_t top = fx_load_acquire(&blocks_free), number;

	while (top & FREE_MASK) {
		struct block *b = &blocks[(top & FREE_MASK) - 1];
		uint64_t rest = (top & ~FREE_MASK) + FREE_ONE + fx_load_relaxed(&b->next);

		if (fx_cas_acq_rel(&blocks_free, &top, rest)) {
			fx_store_relaxed(&b->next, 0);
			return (top & FREE_MASK);
		}
	}
	if (fx_load_relaxed(&blocks_used) >= BLOCKS)
		return 0;
	number = fx_add_relaxed(&blocks_used, 1) + 1;
	return number <= BLOCKS ? number : 0;
}

static void cell_leave(struct fx_wait_cell *c)
{
	uint64_t *where = key_of(c);
	uint64_t key = fx_load_relaxed(where);
	struct fx_wait_head *head;

	head = fx_wait_head((void *)(uintptr_t)(key >> KEY_LSB));
	while (!fx_cas_acq_rel(where, &key, key - 1))
		;
	if ((key & PART) == 1) {
		/* Without waiters it is nobody's but ours, until the key is 0. */
		for (uint64_t b = c->more, next; b; b = next) {
			next = blocks[b - 1].next;
			block_free(b);
		}
		c->count = 0;
		c->begun = 0;
		c->more = 0;
		for (unsigned i = 0; i < FX_TOKENS; i++)
			fx_store_relaxed(&c->tokens[i].who, 0);
		fx_store_release(where, 0); /* pairs with cell_make() */
	}
	fx_add_relaxed(&head->waiting, -1);
}

/* --- Waits ------------------------------------------------------------------------------------ */

static void leave_innermost(void)
{
	struct fx_wait_cell *c = self.waits[self.depth - 1].cell;

	self.waits[self.depth - 1].cell = NULL;
	fx_barrier();
	self.depth--;
	fx_barrier();
	if (c)
		cell_leave(c);
}

/* A place for it; a handler that comes meanwhile takes the next one. */
static void enter(struct fx_wait *w, uint64_t sp)
{
	*w = (struct fx_wait){.sp = sp, .level = self.depth};
	if (w->level == NESTED)
		return;
	self.depth++;
	fx_barrier();
	self.waits[w->level].sp = sp;
}

static void entered(struct fx_wait *w, struct fx_wait_cell *cell)
{
	w->cell = cell;
	fx_barrier();
	if (w->level < NESTED)
		self.waits[w->level].cell = cell;
}

void fx_wait_begin(struct fx_wait *w, const volatile void *object, uint64_t sp)
{
	if (object)
		FX_FAULT(wait_begin);
	while (self.depth && self.waits[self.depth - 1].sp <= sp)
		leave_innermost();
	enter(w, sp);
	entered(w, object ? cell_enter(object) : NULL);
	if (!w->cell)
		return;
	fx_fence(); /* what is looked at now is from after R */
	w->note = fx_load_relaxed(&fx_wait_head(object)->last);
	w->since = fx_add_acq_rel(&w->cell->begun, 1) + 1; /* pairs with fx_token_done() */
	FX_FAULT(wait_begun);
}

void fx_wait_found_free(struct fx_wait *w)
{
	w->looked_free = true;
	w->since = 0;
	w->stale = 0;
	w->note &= ~FX_NOTE_DONE;
}

/* What has been left stays: who visits may stand on a stack of his own, a signal handler's. */
bool fx_visit_begin(struct fx_wait *w, const volatile void *object)
{
	struct fx_wait_cell *cell;

	/* Before, and not after: then who is counted has a cell. */
	fx_add_relaxed(&fx_wait_head(object)->waiting, 1);
	cell = cell_join(bucket_of(object), address_of(object));
	if (!cell) {
		fx_add_relaxed(&fx_wait_head(object)->waiting, -1);
		return false;
	}
	enter(w, (uint64_t)(uintptr_t)w);
	entered(w, cell);
	return true;
}

/* A handler may have taken it for one that was left. */
static bool is_open(const struct fx_wait *w)
{
	return self.depth > w->level && self.waits[w->level].cell == w->cell &&
	       self.waits[w->level].sp == w->sp;
}

struct fx_wait_cell *fx_wait_cell(const struct fx_wait *w)
{
	return w->level == NESTED || is_open(w) ? w->cell : NULL;
}

/* With what was left inside it. */
void fx_wait_end(struct fx_wait *w)
{
	if (w->level == NESTED && w->cell)
		cell_leave(w->cell);
	else if (is_open(w))
		while (self.depth > w->level)
			leave_innermost();
}

void fx_wait_abandon(void)
{
	while (self.depth)
		leave_innermost();
}

static void bucket_reset(unsigned number)
{
	enum { HEADS = FX_WAIT_HEADS / BUCKETS };
	struct bucket *b = &buckets[number];

	for (unsigned i = 0; i < HEADS; i++)
		fx_wait_heads[number * HEADS + i].waiting = 0;
	for (unsigned i = 0; i < WAYS; i++)
		if (b->keys[i]) {
			b->keys[i] = 0;
			memset(&b->cells[i], 0, sizeof(b->cells[i]));
		}
}

void fx_waits_reset(void)
{
	memset(&self, 0, sizeof(self));
	for (unsigned i = 0; i < BUCKETS; i++)
		if (used[i / 64] >> i % 64 & 1)
			bucket_reset(i);
	memset(used, 0, sizeof(used));
	for (uint64_t i = 0; i < blocks_used && i < BLOCKS; i++)
		memset(&blocks[i], 0, sizeof(blocks[i]));
	blocks_free = blocks_used = 0;
}

static bool is_note_of(uint64_t note, const volatile void *object)
{
	return note && (note ^ fx_note_of(object, 0)) >> FX_NOTE_OBJECT == 0;
}

uint32_t fx_wait_noted(const struct fx_wait *w, const volatile void *object, bool alone)
{
	uint64_t last = fx_load_relaxed(&fx_wait_head(object)->last);

	if (is_note_of(last, object) && (alone || last != w->note || !(last & FX_NOTE_DONE)))
		return last & TID_MASK;
	if (!alone && is_note_of(w->note, object) && !(w->note & FX_NOTE_DONE))
		return w->note & TID_MASK;
	return 0;
}

uint32_t fx_wait_written(const volatile void *object)
{
	uint32_t writer = fx_load_relaxed(&fx_wait_head(object)->writer);

	return (writer ^ fx_note_written(object, 0)) & ~TID_MASK ? 0 : writer & TID_MASK;
}

void fx_note_forget(const volatile void *object)
{
	struct fx_wait_head *h = fx_wait_head(object);

	if (is_note_of(fx_load_relaxed(&h->last), object))
		fx_store_relaxed(&h->last, 0);
	if (fx_wait_written(object))
		fx_store_relaxed(&h->writer, 0);
}

void fx_release_unknown(const volatile void *object)
{
	const struct fx_source nobody = {.tid = 0};
	struct fx_wait visit;

	fx_note_forget(object);
	if (!fx_is_awaited(object) || !fx_visit_begin(&visit, object))
		return;
	fx_tokens_clear(visit.cell, 1);
	fx_token_set(&visit.cell->tokens[0], &nobody, true);
	fx_wait_end(&visit);
}

/* --- Tokens ----------------------------------------------------------------------------------- */

static uint64_t who_is(const struct fx_source *s, bool many, uint32_t number)
{
	return WHO_TID(s->tid) | (many ? WHO_MANY : 0) |
	       (uint64_t)(number & NUMBER_MASK) << WHO_NUMBER_LSB |
	       (uint64_t)s->name << WHO_NAME_LSB;
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
	for (int i = 0; i < PATIENCE && identity(now) == identity(who); i++)
		if (fx_cas_acq_rel(&token->who, &now, now | WHO_DONE))
			return;
}

/* It was not over as the wait began. */
static bool is_fresh(const struct fx_wait *w, const struct fx_token *t, uint64_t who)
{
	return !(who & WHO_DONE) || fx_load_relaxed(&t->over) > w->since;
}

uint64_t fx_token_stale(const struct fx_token *token)
{
	uint64_t who = fx_load_acquire(&token->who);

	return who & WHO_DONE ? identity(who) : 0;
}

bool fx_token_get(struct fx_token *token, uint64_t stale, struct fx_source *ret)
{
	for (int i = 0; i < PATIENCE; i++) {
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
	for (int tries = 0; tries < PATIENCE; tries++) {
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
		struct block *b = number ? &blocks[number - 1] : NULL;

		if (!b)
			return NULL;
		*w = (struct walk){b->tokens, b->tokens + BLOCK_TOKENS, &b->next};
	}
	return w->token++;
}

/* More tokens than take part, and some: nobody will ask for the oldest. */
#define SPARE 8u

/* A block more behind the last of the cell. */
static void cell_extend(struct fx_wait_cell *c)
{
	uint64_t number = block_new();
	uint64_t *more = &c->more;

	for (int i = 0; number && i < PATIENCE; i++) {
		uint64_t none = 0;

		if (fx_cas_acq_rel(more, &none, number))
			return;
		more = &blocks[none - 1].next;
	}
	if (number)
		block_free(number);
}

/* A place for a new token, marked as busy. */
static struct fx_token *token_reserve(struct fx_wait_cell *c)
{
	for (int tries = 0; tries < PATIENCE; tries++) {
		uint32_t enough = (uint32_t)(fx_load_relaxed(key_of(c)) & PART) + SPARE, count = 0;
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

void fx_left_done(const struct fx_left *left)
{
	if (left->token)
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
	for (int tries = 0; tries < PATIENCE; tries++) {
		struct walk walk = walk_begin(w->cell);
		uint64_t best_who = 0, best_time = 0;
		struct fx_token *best = NULL, *t;

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
		if (token_claim(best, best_who)) {
			source_of(best_who, best_time, ret);
			return true;
		}
	}
	return false;
}
