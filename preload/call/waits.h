/* SPDX-License-Identifier: MIT */
/*
 * Waits: which thread waits for which object, and which release let it go.
 *
 * The thread that waits writes the whole arrow, both its ends, so that none is ever cut in two, whatever is lost; the
 * thread that releases writes no record. It leaves two traces, each before the object is free:
 *
 *	a note	in the head of the object's address: "thread T released object O last". One store, at each release.
 *	a token	in the object's cell: thread and time. Only if somebody waits, which is one load of the head.
 *
 * A token goes with its cell. A thread that takes part only then, and finds the object free, needs the note that is
 * beside it.
 *
 *	head (by address)   waiting: 1   last: T released O   writer: ...
 *	                         |
 *	cell (by object)    begun: 1     tokens: [T2, 14:05:07] [free] ...
 *
 * An example: thread A holds the mutex, B wants it.
 *
 *	A				B					head of the mutex	its cell
 *	unlocks, an hour ago						last: A			-
 *	locks it again							last: A			-
 *					begins to wait: takes part		waiting: 1		no token
 *	about to unlock: somebody waits,
 *	leaves a token							waiting: 1		[A, now]
 *	unlocks
 *					has it; takes the token: from A, then
 *					leaves, and the cell is free		waiting: 0		-
 *
 * Had A looked at the head just before B took part, there would be no token. Then A was "under way" at R, the moment at
 * which B took part, and its note stands there, or the mutex itself says that A is its holder. So what B finds:
 *
 *	Object				At R			B finds			The arrow comes from
 *	--------------------------------------------------------------------------------------------------------------
 *	held by one thread at a time	the holder has not	a token			the newest token: only a holder
 *	(mutex, spin lock, a writer's	looked yet					sets one
 *	lock)				the holder is under way	no token		the holder that the object told
 *											after R, else the note
 *	released by several at once	is not under way yet	a token			the token, unless it was over as
 *	(semaphore, condition, read							the wait began: the cell counts
 *	locks)										waits, and a token says how far
 *											it had counted when it was done
 *					is under way		a note that says	the note; a release that was done
 *								"not done"		at R is of no use to this wait
 *	a reader's wait for a writer	a writer holds or wants	a writer's token	that; or else the head's second
 *					the lock					note, which readers leave alone
 *	a condition			B does not stand in its	a token that counts	nobody: the signal is lost; a
 *					row yet			the waiters before B	waiter that was counted has it
 *
 * A lock that prefers writers may hold a reader back for a writer that only wants to write: that one comes after R, and
 * leaves a token; or it gives up, and there is no arrow. Where two releases overlap in time, nobody can tell which came
 * first, not even the two.
 *
 * An object has one cell at most. A cell has one object, from the first thread that takes part to the last that leaves,
 * and the thread that leaves a token takes part meanwhile: so no token comes to another object, and none outlives its
 * waiters. No thread ever waits here, and a signal handler may do all of it in the middle of itself. What does not find
 * room is left out; then an arrow is missing.
 */
#ifndef FX_PRELOAD_WAITS_H
#define FX_PRELOAD_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

/* Where an arrow comes from: the call that released. */
struct fx_source {
	uint32_t tid;  /* 0: not known */
	uint32_t name; /* builtin string: what it did */
	uint64_t time; /* ticks */
	uint64_t held; /* ticks for which it has held a lock that was waited for; 0: not known */
};

/* A source that was left. `who` is 0 in one that is free; it is stored last. */
struct fx_token {
	uint64_t who;
	uint64_t time;
	uint64_t number; /* in a heap: by age */
	uint64_t over;	 /* when its release was done: 1 + the cell's begun */
	uint64_t until; /* in a heap: for waits that stood before this place; UINT64_MAX: for all */
	uint64_t ended; /* in a heap: ticks when its release was done */
};

#define FX_TOKENS 7u

struct fx_wait_cell {
	uint64_t count; /* arrivals at a barrier, or else tokens left, since the cell was made */
	uint64_t begun; /* waits, since the cell was made */
	uint64_t more;	/* tokens that have no room here: 1 + number of the first block of them */
	struct fx_token tokens[FX_TOKENS];
};

/* By address: how many cells are in use for it and what else falls together with it; and the note of the thread that
 * released an object last. It is written at each release. And the same of writers alone. */
#define FX_WAIT_HEADS 16384u

struct fx_wait_head {
	uint64_t last;
	uint32_t waiting;
	uint32_t writer; /* thread in the low 22 bits, above it a part of the object's hash */
} __attribute__((aligned(16)));

extern struct fx_wait_head fx_wait_heads[FX_WAIT_HEADS] __attribute__((visibility("hidden")));

fx_hot uint64_t fx_wait_hash(const volatile void *object)
{
	return ((uint64_t)(uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull;
}

fx_hot struct fx_wait_head *fx_wait_head(const volatile void *object)
{
	struct fx_wait_head *heads = fx_wait_heads;

	__asm__("" : "+r"(heads)); /* that the address of each field is not loaded by itself */
	return &heads[fx_wait_hash(object) >> 50];
}

/* Whether anyone may be waiting for `object`. */
fx_hot bool fx_is_awaited(const volatile void *object)
{
	return fx_unlikely(fx_load_relaxed(&fx_wait_head(object)->waiting) != 0);
}

/* Thread in the low 22 bits, then whether it is done, its number, whether it left a token too, and the address. */
#define FX_TID_END     (1u << 22)
#define FX_NOTE_DONE   (1ull << 22)
#define FX_NOTE_NUMBER 23
#define FX_NOTE_TOKEN  (1ull << 28)
#define FX_NOTE_OBJECT 29

fx_hot uint64_t fx_note_of(const volatile void *object, uint32_t tid)
{
	return (uint64_t)(uintptr_t)object >> 3 << FX_NOTE_OBJECT | tid;
}

/* Thread `tid` is about to release `object`, which it holds alone. */
fx_hot void fx_note_holder(const volatile void *object, uint32_t tid)
{
	fx_store_relaxed(&fx_wait_head(object)->last, fx_note_of(object, tid));
}

/* The same. True: that thread is to leave a token. */
fx_hot bool fx_releases(const volatile void *object, uint32_t tid)
{
	struct fx_wait_head *h = fx_wait_head(object);
	bool awaited = fx_unlikely(fx_load_relaxed(&h->waiting) != 0);

	fx_store_relaxed(&h->last, fx_note_of(object, tid));
	return awaited;
}

/* The second note: object and thread. */
fx_hot uint32_t fx_note_written(const volatile void *object, uint32_t tid)
{
	return (uint32_t)(fx_wait_hash(object) >> 40 & 0x3ff) << 22 | tid;
}

extern __thread uint32_t fx_notes __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Where others may release it at the same time: the note, to be said to be done behind the release. */
fx_hot uint64_t fx_note_begin(struct fx_wait_head *h, const volatile void *object, uint32_t tid)
{
	uint64_t note = fx_note_of(object, tid) | (uint64_t)(++fx_notes & 31) << FX_NOTE_NUMBER;

	fx_store_relaxed(&h->last, note);
	return note;
}

fx_hot void fx_note_end(struct fx_wait_head *h, uint64_t note)
{
	if (fx_likely(fx_load_relaxed(&h->last) == note))
		fx_store_relaxed(&h->last, note | FX_NOTE_DONE);
}

/* The note of a thread that is one of several and leaves a token too: for waits that find the object free. The note of a
 * release that goes on stays, for it has no token that says so. */
void fx_note_beside(const volatile void *object, uint32_t tid);

/* One wait, or one visit of a releasing thread to a cell, on the stack of that thread. */
struct fx_wait {
	struct fx_wait_cell *cell; /* NULL: no arrow will come */
	uint32_t holder; /* tid of the thread that held the lock as the wait began; 0: not known */
	const void *taken;     /* where the holder had locked it; NULL: not known */
	bool looked_free;      /* nobody held it then */
	bool held_back;	       /* no thread held it that could end this wait */
	bool ran;	       /* it was no wait: what is to run once ran here */
	struct fx_source from; /* the release that ended the wait, as fx_end_KIND() found it */
	unsigned round; /* of a barrier: the place of its token; of a semaphore: the units it had */
	uint64_t
	    since; /* its number among the cell's: what was over then is not for it; 0: all is */
	uint64_t stale; /* a token at a fixed place that is not */
	uint64_t note;	/* as it was found then */
	uint64_t
	    place; /* of a condition: where it stands in the row, or behind; of a shared barrier: how many meet */
	uint64_t start;	 /* ticks: takes part since then */
	uint64_t called; /* of one that looked free: ticks at its call; 0: not known */
	uint64_t looked; /* of one that processes share: ticks when it was looked at; 0: never */
	uint64_t sp;
	unsigned level; /* in a signal handler: inside so many of the thread's waits */
};

/* Begins to wait for `object` (NULL: nothing that an arrow could be drawn for); `sp` is the caller's stack address,
 * by which waits are known that were left by longjmp or cancellation. */
void fx_wait_begin(struct fx_wait *w, const volatile void *object, uint64_t sp);

/* It can be had as the wait begins, and could not just before: it is the newest release that an arrow comes from, though
 * it was over before this wait took part. */
void fx_wait_found_free(struct fx_wait *w);

/* The same of what several release at once, where an older release's token may have been left over: there is no arrow
 * from one that was over at the call, in ticks, nor from a note that is older than a token. */
void fx_wait_found_left(struct fx_wait *w, uint64_t called);

void fx_wait_end(struct fx_wait *w);

/* Its cell; NULL also if a signal handler took it for a wait that was left. */
struct fx_wait_cell *fx_wait_cell(const struct fx_wait *w);

/* A thread that releases `object` takes part, until fx_wait_end(). False, and nothing was done: nobody waits. */
bool fx_visit_begin(struct fx_wait *w, const volatile void *object);

/* The thread ends, maybe inside a wait. */
void fx_wait_abandon(void);

/* In a forked child: its parent's threads do not wait here. */
void fx_waits_reset(void);

/* A thread that is not traced releases `object`: what is known of it is no longer so. */
void fx_note_forget(const volatile void *object);

/* The same, and of tokens at a fixed place. */
void fx_release_unknown(const volatile void *object);

/* The tid whose release was under way as the wait began; 0: not known. `alone`: by the rules of what one thread holds
 * alone. */
uint32_t fx_wait_noted(const struct fx_wait *w, const volatile void *object, bool alone);

/* The tid of the thread that wrote last; 0: not known. */
uint32_t fx_wait_written(const volatile void *object);

/* --- Tokens at a fixed place ------------------------------------------------------------------- */

/* `many`: for all threads that wait, and not for one alone. Returns what fx_token_done() wants. */
uint64_t fx_token_set(struct fx_token *token, const struct fx_source *source, bool many);
void fx_token_clear(struct fx_token *token);

/* The tid of the thread that left it; 0: there is none. */
uint32_t fx_token_tid(const struct fx_token *token);

/* The release is over. */
void fx_token_done(const struct fx_wait_cell *cell, struct fx_token *token, uint64_t who);

/* Takes it, unless it is `stale`; false if there is none. */
bool fx_token_get(struct fx_token *token, uint64_t stale, struct fx_source *ret);

/* What the wait that begins must not take: a token whose release is over. */
uint64_t fx_token_stale(const struct fx_token *token);

/* --- Tokens of releases that may begin one after the other before any of them is over ------------- */

/* The place of a token in tokens[first .. FX_TOKENS); NULL without one. */
struct fx_token *fx_token_place(struct fx_wait_cell *cell, unsigned first);

/* Takes the newest of those whose release is not over; if all are, the newest; but none that was over as the wait
 * began. *any: there were some. */
bool fx_token_newest(const struct fx_wait *w, unsigned first, struct fx_source *ret, bool *any);

void fx_tokens_clear(struct fx_wait_cell *cell, unsigned first);

/* --- A cell's tokens as a heap of them -------------------------------------------------------- */

/* What was left, to be said to be over, or taken back. */
struct fx_left {
	struct fx_wait_cell *cell;
	struct fx_token *token; /* NULL: there was no room */
	uint64_t who;
};

/* In the place of the oldest, if there are more than anyone waits for. `until`: see struct fx_token. */
struct fx_left fx_token_add(const struct fx_wait *visit, const struct fx_source *source, bool many,
			    uint64_t until);
void fx_left_done(const struct fx_left *left, uint64_t now);
void fx_left_undo(const struct fx_left *left);

/* Takes the oldest that is for this wait; for a visit, the oldest; and for one that found the object free, the newest.
 * Without any, the newest of those that came before its place, or just then. Its tid is 0 if it was left over. */
bool fx_token_take(const struct fx_wait *w, struct fx_source *ret);

#endif
