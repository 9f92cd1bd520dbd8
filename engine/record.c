/* SPDX-License-Identifier: MIT */
#include "engine/record.h"

#include "engine/chunk.h"

static void note_time(struct fx_thread_slot *slot)
{
	uint64_t now = fx_now();

	if (!fx_load_relaxed(&slot->dropped_first))
		fx_store_relaxed(&slot->dropped_first, now);
	fx_store_relaxed(&slot->dropped_last, now);
}

/* A lock prefix costs little here, and makes the counts exact under signal handlers that lose records
 * too. */
void fx_record_drop(struct fx_thread *t)
{
	note_time(t->slot);
	fx_add_acq_rel(&t->slot->dropped, 1);
}

void fx_record_owe(struct fx_thread *t)
{
	note_time(t->slot);
	fx_add_acq_rel(&t->slot->owed, 1);
}

void fx_record_give_up(struct fx_thread_slot *slot)
{
	uint32_t owed = fx_load_relaxed(&slot->owed);

	if (!owed)
		return;
	fx_store_relaxed(&slot->owed, 0);
	fx_add_acq_rel(&slot->dropped, owed);
}

fx_cold uint64_t *fx_record_reserve_slow(struct fx_thread *t, unsigned words, uint32_t level)
{
	struct fx_cursor *c = &t->cursor[level];
	uint64_t *p;

	if (fx_load_relaxed(&c->end) - c->pos < (ptrdiff_t)words &&
	    fx_chunk_next(t, level, words) != 0) {
		fx_record_drop(t);
		fx_barrier();
		fx_store_relaxed(&t->busy[level], 0);
		return NULL;
	}
	p = c->pos;
	fx_store_relaxed(&c->pos, p + words);
	return p;
}

void fx_record_abandon(struct fx_thread *t, unsigned i)
{
	struct fx_cursor *c = &t->cursor[i];
	uint64_t *p = c->chunk;

	/* So that the chunk is given back before the next record. */
	fx_store_relaxed(&c->end, NULL);
	if (p && fx_chunk_is_held(t, c)) {
		while (p < c->pos && *p >> 4 & 0xfff)
			p += *p >> 4 & 0xfff;
		if (p < c->pos)
			fx_record_drop(t);
		fx_store_relaxed(&c->pos, p);
	}
	fx_barrier();
	fx_store_relaxed(&t->busy[i], 0);
}

/* The first level without a living record, FX_LEVELS if there is none. */
static uint32_t level_find(struct fx_thread *t, uint64_t sp)
{
	for (uint32_t i = FX_LEVELS; i-- > 0;) {
		if (t->busy[i] && fx_stack_was_left(t->busy[i], sp))
			fx_record_abandon(t, i);
	}
	for (uint32_t i = 0; i < FX_LEVELS; i++) {
		if (!t->busy[i])
			return i;
	}
	return FX_LEVELS;
}

fx_cold uint64_t *fx_record_reserve_nested(struct fx_thread *t, unsigned words, uint64_t sp,
					   uint32_t *ret_level)
{
	uint32_t level = level_find(t, sp);

	*ret_level = level;
	if (level == FX_LEVELS) {
		fx_record_drop(t);
		return NULL;
	}
	fx_store_relaxed(&t->busy[level], sp);
	fx_barrier();
	return fx_record_reserve_slow(t, words, level);
}

fx_cold bool fx_record_make_room(struct fx_thread *t, unsigned words)
{
	uint64_t sp = fx_stack_address();
	uint32_t level = level_find(t, sp);
	struct fx_cursor *c;
	bool made;

	if (level == FX_LEVELS)
		return false;
	c = &t->cursor[level];
	if (fx_load_relaxed(&c->end) - c->pos >= (ptrdiff_t)words)
		return true;
	fx_store_relaxed(&t->busy[level], sp);
	fx_barrier();
	made = fx_chunk_next(t, level, words) == 0;
	fx_barrier();
	fx_store_relaxed(&t->busy[level], 0);
	return made;
}
