/* SPDX-License-Identifier: MIT */
#include "preload/call/waits-internal.h"

#include <stddef.h>
#include <string.h>

#include "base/fault.h"
#include "preload/call/tables.h"

#define WAYS	16u
#define BUCKETS 1024u /* of cells; each for several heads */

/* A key: the address, and below it how many threads take part, or what becomes of the cell. */
#define PART	  0xffffull
#define NOBODY	  0ull /* the last thread has left, and clears it */
#define FULL	  0xfff0ull
#define IN_MAKING 0xfffeull
#define COLLIDED                                                                                   \
	0xffffull /* another thread makes one for the same object too; the key's own thread begins anew */
#define KEY_LSB 16

struct fx_wait_head fx_wait_heads[FX_WAIT_HEADS] FX_LARGE;
__thread uint32_t fx_notes;

struct bucket {
	uint64_t keys[WAYS]; /* 0: free */
	struct fx_wait_cell cells[WAYS];
};

static struct bucket *buckets; /* NULL: there is no room */

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

_Static_assert(BUCKETS * sizeof(struct bucket) <= FX_WAITS_ROOM, "cells have room");

extern char __libc_single_threaded __attribute__((weak));

static const char many;
const char *fx_one_thread = &many;

__attribute__((section(".text.startup"))) /* beside the constructor: a page fault less of a start */
void fx_waits_place(void *room)
{
	if (&__libc_single_threaded)
		fx_one_thread = &__libc_single_threaded;
	buckets = room;
}

/* --- Cells ------------------------------------------------------------------------------------ */

static struct bucket *waits_bucket_of(const volatile void *object)
{
	return &buckets[(fx_wait_head(object) - fx_wait_heads) / (FX_WAIT_HEADS / BUCKETS)];
}

static void waits_use(const struct bucket *b)
{
	uint64_t *word = &used[(b - buckets) / 64], bit = 1ull << (b - buckets) % 64;

	if (!(fx_load_relaxed(word) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED); /* read by its own thread, forked */
}

static uint64_t *waits_key_of(struct fx_wait_cell *c)
{
	struct bucket *b = &buckets[((char *)c - (char *)buckets) / sizeof(struct bucket)];

	return &b->keys[c - b->cells];
}

static uint64_t waits_address_of(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object << KEY_LSB;
}

static bool waits_is_for(uint64_t key, uint64_t address)
{
	uint64_t part = key & PART;

	return (key & ~PART) == address && part != NOBODY && part <= FULL;
}

/* One more thread takes part in it; false: it is not for `address`. */
static bool key_join(uint64_t *where, uint64_t address)
{
	uint64_t key = fx_load_relaxed(where);

	while (waits_is_for(key, address) && (key & PART) != FULL)
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
 * Whether no other thread has, or makes, a cell for the object of `mine`. Threads that make one at the same time tell each
 * other that they collide (COLLIDED), and only a thread that was not told has it. Each looks at all the keys after its own
 * can be seen. So of two threads, the later one finds the other's key.
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
		if (waits_is_for(key, address))
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
	struct bucket *b = waits_bucket_of(object);
	uint64_t address = waits_address_of(object);
	struct fx_wait_cell *c = NULL;

	if (!buckets)
		return NULL;
	waits_use(b);
	/* Also while other threads make the cell: no thread that releases may pass by. */
	fx_add_relaxed(&head->waiting, 1);
	for (int i = 0; i < FX_WAIT_PATIENCE; i++) {
		c = cell_join(b, address);
		if (c || !cell_make(b, address, &c) || c)
			break;
	}
	if (!c)
		fx_add_relaxed(&head->waiting, -1);
	return c;
}

uint32_t fx_cell_parts(struct fx_wait_cell *c)
{
	return (uint32_t)(fx_load_relaxed(waits_key_of(c)) & PART);
}

static void cell_leave(struct fx_wait_cell *c)
{
	uint64_t *where = waits_key_of(c);
	uint64_t key = fx_load_relaxed(where);
	struct fx_wait_head *head;

	head = fx_wait_head((void *)(uintptr_t)(key >> KEY_LSB));
	while (!fx_cas_acq_rel(where, &key, key - 1))
		;
	if ((key & PART) == 1) {
		/* No other thread takes part: the cell is ours alone, until the key is 0. */
		for (uint64_t b = c->more, next; b; b = next) {
			next = fx_token_block(b)->next;
			fx_token_block_free(b);
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
static void waits_enter(struct fx_wait *w, uint64_t sp)
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
	waits_enter(w, sp);
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

void fx_wait_found_left(struct fx_wait *w, uint64_t called)
{
	uint64_t note = w->note;

	fx_wait_found_free(w);
	w->called = called;
	if (w->cell && fx_load_relaxed(&w->cell->count))
		w->note = note;
}

/* Waits that have been left stay: the thread that visits may stand on another stack, a signal handler's. */
bool fx_visit_begin(struct fx_wait *w, const volatile void *object)
{
	struct fx_wait_cell *cell;

	if (!buckets)
		return false;
	/* Before, and not after: then each thread that is counted has a cell. */
	fx_add_relaxed(&fx_wait_head(object)->waiting, 1);
	cell = cell_join(waits_bucket_of(object), waits_address_of(object));
	if (!cell) {
		fx_add_relaxed(&fx_wait_head(object)->waiting, -1);
		return false;
	}
	waits_enter(w, (uint64_t)(uintptr_t)w);
	entered(w, cell);
	return true;
}

/* A signal handler may have taken it for a wait that was left. */
static bool waits_is_open(const struct fx_wait *w)
{
	return self.depth > w->level && self.waits[w->level].cell == w->cell &&
	       self.waits[w->level].sp == w->sp;
}

struct fx_wait_cell *fx_wait_cell(const struct fx_wait *w)
{
	return w->level == NESTED || waits_is_open(w) ? w->cell : NULL;
}

/* With the waits that were left inside it. */
void fx_wait_end(struct fx_wait *w)
{
	if (w->level == NESTED && w->cell)
		cell_leave(w->cell);
	else if (waits_is_open(w))
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
	fx_token_blocks_reset();
}

static bool is_note_of(uint64_t note, const volatile void *object)
{
	return note && (note ^ fx_note_of(object, 0)) >> FX_NOTE_OBJECT == 0;
}

void fx_note_beside(const volatile void *object, uint32_t tid)
{
	struct fx_wait_head *h = fx_wait_head(object);
	uint64_t last = fx_load_relaxed(&h->last);

	if (!is_note_of(last, object) || last & FX_NOTE_DONE)
		fx_cas_acq_rel(&h->last, &last,
			       fx_note_of(object, tid) | FX_NOTE_TOKEN | FX_NOTE_DONE);
}

/* Of a release that began before the wait: its note was there then and not done, or came only after that. */
uint32_t fx_wait_noted(const struct fx_wait *w, const volatile void *object, bool alone)
{
	uint64_t last = fx_load_relaxed(&fx_wait_head(object)->last);

	if (alone)
		return is_note_of(last, object) ? last & FX_WAIT_TID_MASK : 0;
	if (is_note_of(last, object) && last != w->note && !(last & FX_NOTE_TOKEN))
		return last & FX_WAIT_TID_MASK;
	if (is_note_of(w->note, object) && !(w->note & FX_NOTE_DONE))
		return w->note & FX_WAIT_TID_MASK;
	return 0;
}

uint32_t fx_wait_written(const volatile void *object)
{
	uint32_t writer = fx_load_relaxed(&fx_wait_head(object)->writer);

	return (writer ^ fx_note_written(object, 0)) & ~FX_WAIT_TID_MASK
		   ? 0
		   : writer & FX_WAIT_TID_MASK;
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
