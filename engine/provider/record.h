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

/* Slow half: takes a new chunk for `level`. NULL: the record is lost, is counted, and the level is
 * free again. */
fx_cold uint64_t *fx_record_reserve_slow(struct fx_thread *t, unsigned words, uint32_t level);

/* The same when level 0 is busy; `sp` is the caller's stack address. */
fx_cold uint64_t *fx_record_reserve_nested(struct fx_thread *t, unsigned words, uint64_t sp,
					   uint32_t *ret_level);

/* A record is lost: one more for its thread, when, and why. */
void fx_record_drop(struct fx_thread *t, enum fx_loss why);

/* There is room again: what was lost until now is a gap, with its end. */
void fx_record_resume(struct fx_thread *t);

/* For a record that is not lost if it finds no room, but owed: it will be tried again. */
fx_cold bool fx_record_make_room(struct fx_thread *t, unsigned words);
void fx_record_owe(struct fx_thread *t);

/* What a slot's thread owes will never be written: it is lost. */
void fx_record_give_up(struct fx_thread_slot *slot);

/* The record under way in `level` will never be finished: it is lost, and its chunk ends before it. */
void fx_record_abandon(struct fx_thread *t, unsigned level);

/* Gives back every chunk that `t` holds; what is under way in one is abandoned. */
void fx_chunks_release(struct fx_thread *t);

/* Space for a record of `words` 8-byte words, zeroed; NULL if it is lost (already counted).
 * 10 instructions, two tests. */
fx_hot uint64_t *fx_record_reserve(struct fx_thread *t, unsigned words, struct fx_reservation *r)
{
	struct fx_cursor *c = &t->cursor[0];
	uint64_t *p;

	if (fx_unlikely(t->busy[0] != 0)) {
		uint32_t level; /* so that *r, whose address goes nowhere, is a register */

		p = fx_record_reserve_nested(t, words, fx_stack_address(), &level);
		r->level = level;
		return p;
	}
	r->level = 0;
	fx_store_relaxed(&t->busy[0], fx_stack_address());
	fx_barrier(); /* a handler must see the mark before the position is read */
	p = c->pos;
	if (fx_unlikely(fx_load_relaxed(&c->end) - p < (ptrdiff_t)words))
		return fx_record_reserve_slow(t, words, 0);
	fx_store_relaxed(&c->pos, p + words);
	FX_FAULT(record_reserved);
	return p;
}

/* The same where that is easy: in level 0, of the chunk at hand. False: nothing has happened. */
fx_hot bool fx_record_reserve_easily(struct fx_thread *t, unsigned words, uint64_t **ret)
{
	struct fx_cursor *c = &t->cursor[0];
	uint64_t *p;

	if (fx_unlikely(t->busy[0] != 0))
		return false;
	fx_store_relaxed(&t->busy[0], fx_stack_address());
	fx_barrier(); /* as above */
	p = c->pos;
	if (fx_unlikely(fx_load_relaxed(&c->end) - p < (ptrdiff_t)words)) {
		fx_barrier();
		fx_store_relaxed(&t->busy[0], 0);
		return false;
	}
	fx_store_relaxed(&c->pos, p + words);
	FX_FAULT(record_reserved);
	*ret = p;
	return true;
}

/* Gives back what was reserved from `end` on; between reserve and commit. All of that is still zero. */
fx_hot void fx_record_shrink(struct fx_thread *t, uint64_t *end, const struct fx_reservation *r)
{
	fx_store_relaxed(&t->cursor[r->level].pos, end);
}

/* Publishes the record at `p`; its payload must stand. */
fx_hot void fx_record_commit(struct fx_thread *t, uint64_t *p, uint64_t header,
			     struct fx_reservation *r)
{
	FX_FAULT(record_publish);
	fx_store_release(p, header); /* pairs with the header walk in drain.c */
	FX_FAULT(record_published);
	fx_barrier();
	fx_store_relaxed(&t->busy[r->level], 0);
}

/* Header word of an Event Record of this process: thread reference as every chunk defines it. */
#define FX_EVENT_HEADER(type, words, nargs, category, name)                                        \
	(4ull | (uint64_t)(words) << 4 | (uint64_t)(type) << 16 | (uint64_t)(nargs) << 20 |        \
	 (uint64_t)FX_CHUNK_THREAD_INDEX << 24 | (uint64_t)(category) << 32 |                      \
	 (uint64_t)(name) << 48)

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

/* A Duration Complete record without arguments: 24 bytes. */
fx_hot void fx_record_complete(struct fx_thread *t, uint64_t header, uint64_t start, uint64_t end)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, 3, &r);

	if (fx_likely(p != NULL)) {
		p[1] = start;
		FX_FAULT(record_half);
		p[2] = end;
		fx_record_commit(t, p, header, &r);
	}
}

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
