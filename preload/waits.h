/* SPDX-License-Identifier: MIT */
/*
 * Who waits for what, and who let him go.
 *
 * One who is about to wait for an object takes part in the object's cell, looked up by address. One who
 * releases an object looks first whether its bucket has any cell, which is one load; only then does he
 * look for the cell, and leave a token in it: his thread and the time. The waiter finds the token when
 * he is through, and writes the whole arrow, both its ends, himself: so no arrow is ever cut in two,
 * whatever is lost, and the releaser writes nothing.
 *
 * Nobody ever waits here, and a signal handler may do all of it in the middle of itself. What does not
 * find room is left out; then an arrow is missing.
 */
#ifndef FX_PRELOAD_WAITS_H
#define FX_PRELOAD_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

/* Where an arrow comes from. */
struct fx_source {
	uint32_t tid;  /* 0: not known */
	uint32_t name; /* builtin string: what it did */
	uint64_t time; /* ticks */
};

/* A source that was left. `who` is 0 in one that is free; it is stored last. */
struct fx_token {
	uint64_t who;
	uint64_t time;
};

#define FX_TOKENS 7u

struct fx_wait_cell {
	uint64_t key;	   /* address << 16 | number of waiters; 0: free */
	uint64_t arrivals; /* at a barrier, since the cell was made */
	struct fx_token tokens[FX_TOKENS];
};

/* By address: how many cells are in use for it and what else falls together with it; and who released an object
 * last without leaving a token, for those who begin to wait just after he has looked. On a line of its own: it is
 * written at each release. */
#define FX_WAIT_HEADS 4096u

struct fx_wait_head {
	uint32_t waiting;
	uint64_t last;
} __attribute__((aligned(64)));

extern struct fx_wait_head fx_wait_heads[FX_WAIT_HEADS] __attribute__((visibility("hidden")));

fx_hot struct fx_wait_head *fx_wait_head(const volatile void *object)
{
	return &fx_wait_heads[((uint64_t)(uintptr_t)object >> 3) * 0x9e3779b97f4a7c15ull >> 52];
}

/* Whether anyone may be waiting for `object`. */
fx_hot bool fx_is_awaited(const volatile void *object)
{
	return fx_unlikely(fx_load_relaxed(&fx_wait_head(object)->waiting) != 0);
}

/* Thread in the low 22 bits, above them the address. */
fx_hot uint64_t fx_wait_last(const volatile void *object, uint32_t tid)
{
	return (uint64_t)(uintptr_t)object >> 3 << 22 | tid;
}

/* Thread `tid` is about to release `object`. True: he is to look for its cell, and leave a token there. */
fx_hot bool fx_releases(const volatile void *object, uint32_t tid)
{
	struct fx_wait_head *h = fx_wait_head(object);

	if (fx_unlikely(fx_load_relaxed(&h->waiting) != 0))
		return true;
	fx_store_relaxed(&h->last, fx_wait_last(object, tid));
	return false;
}

/* Who released it last without a token; 0: not known. */
uint32_t fx_released_last(const volatile void *object);

/* One wait, on the stack of who waits. */
struct fx_wait {
	struct fx_wait_cell *cell; /* NULL: no arrow will come */
	uint32_t holder;	   /* tid of who held the lock as the wait began; 0: not known */
	struct fx_source from;	   /* set by whoever ends the wait */
	unsigned round;		   /* of a barrier: the place of its token */
	uint64_t start;		   /* ticks: a token of before is not for it */
	uint64_t sp;
	struct { /* the thread's wait that this one interrupts, in a signal handler */
		struct fx_wait_cell *cell;
		uint64_t sp;
	} outer;
};

/* Begins to wait for `object` (NULL: nothing that an arrow could be drawn for); `sp` is the caller's stack address,
 * by which waits are known that were left by longjmp or cancellation. */
void fx_wait_begin(struct fx_wait *w, const volatile void *object, uint64_t sp, uint64_t start);
void fx_wait_end(struct fx_wait *w);

/* The thread ends, maybe inside a wait. */
void fx_wait_abandon(void);

/* In a forked child: its parent's threads do not wait here. */
void fx_waits_reset(void);

/* The cell of `object`, if anyone waits for it. */
struct fx_wait_cell *fx_waits_find(const volatile void *object);

/* The same for thread `tid` who releases it; if nobody waits, that is noted as by fx_releases(). */
struct fx_wait_cell *fx_waits_release(const volatile void *object, uint32_t tid);

/* --- Tokens at a fixed place: one releases at a time ------------------------------------------ */

/* `many`: for all who wait, and not for one alone. */
void fx_token_set(struct fx_token *token, const struct fx_source *source, bool many);
void fx_token_clear(struct fx_token *token);

/* Takes it if it was left at `since` or later; false if there is none. */
bool fx_token_get(struct fx_token *token, uint64_t since, struct fx_source *ret);

/* --- A cell's tokens as a heap of them -------------------------------------------------------- */

/* In the place of the oldest, if there is no room. */
void fx_token_add(struct fx_wait_cell *cell, const struct fx_source *source, bool many);

/* Takes the oldest that was left at `since` or later. */
bool fx_token_take(struct fx_wait_cell *cell, uint64_t since, struct fx_source *ret);

#endif
