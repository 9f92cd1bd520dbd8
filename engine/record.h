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
 * into one another's space, and every update here is a plain store.
 */
#ifndef FX_ENGINE_RECORD_H
#define FX_ENGINE_RECORD_H

#include "engine/engine.h"

struct fx_reservation {
	uint32_t level; /* to go back to at commit */
};

/* Slow half: takes a new chunk. NULL: the record is lost, is counted, and the level is restored. */
fx_cold uint64_t *fx_record_reserve_slow(struct fx_thread *t, unsigned words,
					 struct fx_reservation *r);

/* Space for a record of `words` 8-byte words, zeroed; NULL if it is lost (already counted).
 * 8 instructions, two tests. */
fx_hot uint64_t *fx_record_reserve(struct fx_thread *t, unsigned words, struct fx_reservation *r)
{
	struct fx_cursor *c = &t->cursor[0];
	uint32_t level = t->level;
	uint64_t *p;

	r->level = level;
	t->level = level + 1;
	fx_barrier(); /* a handler must see the level before the position is read */
	p = c->pos;
	if (fx_unlikely(level != 0 || c->end - p < (ptrdiff_t)words))
		return fx_record_reserve_slow(t, words, r);
	c->pos = p + words;
	return p;
}

/* Publishes the record at `p`; its payload must stand. */
fx_hot void fx_record_commit(struct fx_thread *t, uint64_t *p, uint64_t header,
			     struct fx_reservation *r)
{
	fx_store_release(p, header); /* pairs with the header walk in drain.c */
	fx_barrier();
	t->level = r->level;
}

/* Header word of an Event Record of this process: thread reference as every chunk defines it. */
#define FX_EVENT_HEADER(type, words, nargs, category, name)                                        \
	(4ull | (uint64_t)(words) << 4 | (uint64_t)(type) << 16 | (uint64_t)(nargs) << 20 |        \
	 (uint64_t)FX_CHUNK_THREAD_INDEX << 24 | (uint64_t)(category) << 32 |                      \
	 (uint64_t)(name) << 48)

enum fx_event_type { /* seed 004, event types */
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
		p[2] = end;
		fx_record_commit(t, p, header, &r);
	}
}

/* Duration Begin and End from the header of a Complete record: other type, two words. Returns false
 * if it is lost. */
#define FX_HEADER_RETYPE(header, type)                                                             \
	(((header) & ~0xffff0ull) | 2ull << 4 | (uint64_t)(type) << 16)

fx_hot bool fx_record_two(struct fx_thread *t, uint64_t header, uint64_t ticks)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, 2, &r);

	if (fx_unlikely(!p))
		return false;
	p[1] = ticks;
	fx_record_commit(t, p, header, &r);
	return true;
}

fx_hot bool fx_record_begin(struct fx_thread *t, uint64_t header, uint64_t ticks)
{
	return fx_record_two(t, FX_HEADER_RETYPE(header, FX_EVENT_BEGIN), ticks);
}

fx_hot bool fx_record_end(struct fx_thread *t, uint64_t header, uint64_t ticks)
{
	return fx_record_two(t, FX_HEADER_RETYPE(header, FX_EVENT_END), ticks);
}

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
