/* SPDX-License-Identifier: MIT */
/*
 * Records into the calling thread's chunk: reserve, fill, publish.
 *
 *	struct fx_reservation r;
 *	uint64_t *p = fx_record_reserve(t, words, &r);
 *	if (p) {
 *		p[1] = ...;
 *		fx_record_commit(t, p, header, &r);
 *	}
 *
 * A signal handler that traces between the two takes the next level's chunk, so the two never write
 * into one another's space, and every update here is a plain store. A level is marked as busy with
 * the stack address: a handler that never returns to what it interrupted (siglongjmp) leaves a mark
 * that is seen to be stale. So a thread commits each record before it reserves the next.
 */
#ifndef FX_ENGINE_RECORD_H
#define FX_ENGINE_RECORD_H

#include "base/fault.h"
#include "engine/provider/engine.h"
#include "engine/provider/stack.h"

struct fx_reservation {
	uint32_t level; /* whose mark is taken off at commit */
};

/* The call that the record will be of, in a word of it (`at`) that stands before the place is reserved: the open one that
 * begins or ends at that time. `at` 0: none. See unwound.c. */
struct fx_claim {
	uint64_t time;
	unsigned at;
};

/* Slow half: takes a new chunk for `level`. NULL: the record is lost, is counted, and the level is
 * free again. */
fx_cold uint64_t *fx_record_reserve_slow(struct fx_thread *t, unsigned words, uint32_t level,
					 struct fx_claim claim);

/* The same when level 0 is busy; `sp` is the caller's stack address. */
fx_cold uint64_t *fx_record_reserve_nested(struct fx_thread *t, unsigned words, uint64_t sp,
					   struct fx_claim claim, uint32_t *ret_level);

/* A record is lost: one more for its thread, when, and why. */
void fx_record_drop(struct fx_thread *t, enum fx_loss why);

/* There is room again: what was lost until now is a gap, with its end. */
void fx_record_resume(struct fx_thread *t);

/* For a record that is not lost if it finds no room, but owed: it will be tried again. */
fx_cold bool fx_record_make_room(struct fx_thread *t, unsigned words);
void fx_record_owe(struct fx_thread *t);

/* What a slot's thread owes will never be written: it is lost. */
void fx_record_give_up(struct fx_thread_slot *slot);

/* The record under way in `level` will never be finished: it is lost, and its chunk ends before it. If it is an open
 * call's, nothing is lost: the code that closes it writes another one, unless this one stands. */
void fx_record_abandon(struct fx_thread *t, unsigned level);

/* The code that was at the record under way in `level` will not go on. True: it is an open call's, which now says
 * whether it is recorded (unwound.c). */
fx_cold bool fx_frame_settle(struct fx_thread *t, unsigned level);

/* Gives back every chunk that `t` holds; what is under way in one is abandoned. */
void fx_chunks_release(struct fx_thread *t);

/* A record is under way in `level`. */
fx_hot void fx_record_mark(struct fx_thread *t, uint32_t level)
{
	fx_stack_address_store(&t->busy[level]); /* relaxed, for idle.c */
	fx_barrier(); /* a handler must see the mark before the position is read */
}

/* In some level, by code that may have been left. */
fx_hot bool fx_record_is_under_way(const struct fx_thread *t)
{
	return t->busy[0] | t->busy[1] | t->busy[2];
}

/* It is over. */
fx_hot void fx_record_over(struct fx_thread *t, uint32_t level)
{
	fx_barrier();
	fx_store_relaxed(&t->busy[level], 0);
}

/* Stores a claim in the place of a record that is not reserved yet, but marked as under way. */
fx_hot void fx_record_put_claim(uint64_t *p, struct fx_claim claim)
{
	if (!claim.at)
		return;
	fx_store_relaxed(&p[claim.at], claim.time);
	fx_barrier();
	FX_FAULT(record_claimed);
}

/* Takes a claim back, and the place, which is the newest: all of it is zero again. The level is free. */
fx_hot void fx_record_disclaim(struct fx_thread *t, uint64_t *p, struct fx_claim claim,
			       uint32_t level)
{
	fx_store_relaxed(&p[claim.at], 0);
	fx_store_relaxed(&t->cursor[level].pos, p);
	fx_barrier();
	fx_store_relaxed(&t->busy[level], 0);
}

/*
 * A chunk is zeroed as a whole when it is taken, and the manager had it in another cache since. So with each record the same place of
 * the chunk that probably comes next is asked for: it arrives while the clock is read. A wrong guess, or an address where nothing
 * is, does nothing.
 */
fx_hot void fx_record_foresee(const struct fx_cursor *c, const uint64_t *p)
{
#if defined(__x86_64__)
	/* (A compiler makes three instructions of it.) */
	__asm__ __volatile__("prefetcht0 (%0,%1)" : : "r"(p), "r"(c->ahead));
#else
	__builtin_prefetch((const char *)p + c->ahead, 1);
#endif
}

/* Whether a record that ends before `next` lies in the chunk at hand. (Without a chunk its end is NULL.) */
fx_hot bool fx_record_fits(const struct fx_cursor *c, const uint64_t *next)
{
	return (uintptr_t)next <= (uintptr_t)fx_load_relaxed(&c->end);
}

/* Space for a record of `words` 8-byte words, zeroed but for the claim; NULL if it is lost (already counted).
 * 12 instructions, two tests; one more with a claim. */
fx_hot uint64_t *fx_record_reserve_for(struct fx_thread *t, unsigned words, struct fx_claim claim,
				       struct fx_reservation *r)
{
	struct fx_cursor *c = &t->cursor[0];
	uint64_t *p, *next;

	if (fx_unlikely(t->busy[0] != 0)) {
		uint32_t level; /* so that *r, whose address goes nowhere, is a register */

		p = fx_record_reserve_nested(t, words, fx_stack_address(), claim, &level);
		r->level = level;
		return p;
	}
	r->level = 0;
	fx_record_mark(t, 0);
	p = c->pos;
	next = p + words;
	if (fx_unlikely(!fx_record_fits(c, next)))
		return fx_record_reserve_slow(t, words, 0, claim);
	fx_record_put_claim(p, claim);
	fx_record_foresee(c, p);
	fx_store_relaxed(&c->pos, next);
	FX_FAULT(record_reserved);
	return p;
}

fx_hot uint64_t *fx_record_reserve(struct fx_thread *t, unsigned words, struct fx_reservation *r)
{
	return fx_record_reserve_for(t, words, (struct fx_claim){0}, r);
}

/* The same in level 0, which is free, of the chunk at hand. False: nothing has happened. */
fx_hot bool fx_record_reserve_at_hand(struct fx_thread *t, unsigned words, struct fx_claim claim,
				      uint64_t **ret)
{
	struct fx_cursor *c = &t->cursor[0];
	uint64_t *p, *next;

	fx_record_mark(t, 0);
	p = c->pos;
	next = p + words;
	if (fx_unlikely(!fx_record_fits(c, next))) {
		fx_record_over(t, 0);
		return false;
	}
	fx_record_put_claim(p, claim);
	fx_record_foresee(c, p);
	fx_store_relaxed(&c->pos, next);
	FX_FAULT(record_reserved);
	*ret = p;
	return true;
}

/* The same where that is easy: level 0 may be busy. */
fx_hot bool fx_record_reserve_easily(struct fx_thread *t, unsigned words, struct fx_claim claim,
				     uint64_t **ret)
{
	return fx_likely(t->busy[0] == 0) && fx_record_reserve_at_hand(t, words, claim, ret);
}

/* Gives back what was reserved from `end` on; between reserve and commit. All of that is still zero. */
fx_hot void fx_record_shrink(struct fx_thread *t, uint64_t *end, const struct fx_reservation *r)
{
	fx_store_relaxed(&t->cursor[r->level].pos, end);
}

/* Publishes the record at `p`; its payload must stand. */
fx_hot void fx_record_publish(uint64_t *p, uint64_t header)
{
	FX_FAULT(record_publish);
	fx_store_release(p, header); /* pairs with the header walk in drain.c */
	FX_FAULT(record_published);
	fx_barrier();
}

/* Both. The record of an open call goes by fx_frame_commit() (frame.h), which takes the call off between the two. */
fx_hot void fx_record_commit(struct fx_thread *t, uint64_t *p, uint64_t header,
			     struct fx_reservation *r)
{
	fx_record_publish(p, header);
	fx_record_over(t, r->level);
}

/* Header word of an Event Record of this process: thread reference as every chunk defines it. */
#define FX_EVENT_HEADER(type, words, nargs, category, name)                                        \
	(4ull | (uint64_t)(words) << 4 | (uint64_t)(type) << 16 | (uint64_t)(nargs) << 20 |        \
	 (uint64_t)FX_CHUNK_THREAD_INDEX << 24 | (uint64_t)(category) << 32 |                      \
	 (uint64_t)(name) << 48)

/* The same of a thread whose process and number stand behind the time. */
#define FX_EVENT_HEADER_AT(type, words, nargs, category, name)                                     \
	(FX_EVENT_HEADER(type, words, nargs, category, name) & ~(0xffull << 24))

/* Event types of the trace format. */
enum fx_event_type {
	FX_EVENT_INSTANT = 0,
	FX_EVENT_COUNTER = 1,
	FX_EVENT_BEGIN = 2,
	FX_EVENT_END = 3,
	FX_EVENT_COMPLETE = 4,
	FX_EVENT_FLOW_BEGIN = 8,
	FX_EVENT_FLOW_STEP = 9,
	FX_EVENT_FLOW_END = 10,
};

/* Header of a Duration Begin or End record from that of a Complete record: other type, two words. */
#define FX_HEADER_RETYPE(header, type)                                                             \
	(((header) & ~0xffff0ull) | 2ull << 4 | (uint64_t)(type) << 16)

/* A flow record (type FX_EVENT_FLOW_*). Write it after the slice that it belongs to. */
fx_hot void fx_record_flow(struct fx_thread *t, enum fx_event_type type, uint64_t category,
			   uint64_t name, uint64_t ticks, uint64_t id)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, 3, &r);

	if (fx_likely(p != NULL)) {
		p[1] = ticks;
		p[2] = id;
		fx_record_commit(t, p, FX_EVENT_HEADER(type, 3, 0, category, name), &r);
	}
}

#endif
