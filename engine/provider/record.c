/* SPDX-License-Identifier: MIT */
#include "engine/provider/record.h"

#include "engine/provider/chunk.h"
#include "engine/provider/space.h"

static void record_note_time(struct fx_thread_slot *slot)
{
	uint64_t now = fx_now();

	if (!fx_load_relaxed(&slot->dropped_first))
		fx_store_relaxed(&slot->dropped_first, now);
	fx_store_relaxed(&slot->dropped_last, now);
}

/* Lock prefixes cost little here, and make the counts exact under signal handlers that lose records too. */
void fx_record_drop(struct fx_thread *t, enum fx_loss why)
{
	record_note_time(t->slot);
	if (why != FX_LOSS_FULL)
		fx_add_relaxed(&t->slot->lost[why], 1);
	/* Releases the count above: see read_facts() in drain-internal.h. */
	fx_add_acq_rel(&t->slot->dropped, 1);
}

void fx_record_resume(struct fx_thread *t)
{
	struct fx_thread_slot *slot = fx_load_relaxed(&t->slot);
	uint64_t first = slot ? fx_load_relaxed(&slot->dropped_first) : 0;

	if (!first)
		return;
	fx_store_relaxed(&slot->gap_first, first);
	fx_store_relaxed(&slot->gap_last, fx_load_relaxed(&slot->dropped_last));
	/* Pairs with read_facts() in drain-internal.h: a reader that sees the total sees its times. */
	fx_store_release(&slot->gap_total, fx_load_relaxed(&slot->dropped));
	fx_store_relaxed(&slot->dropped_first, 0);
}

void fx_record_owe(struct fx_thread *t)
{
	record_note_time(t->slot);
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

/* A gap of lost records ends where there is room again. */
static int record_next_chunk(struct fx_thread *t, unsigned level, unsigned words,
			     enum fx_loss *ret_why)
{
	int r = fx_chunk_next(t, level, words, ret_why);

	if (r == 0)
		fx_record_resume(t);
	return r;
}

fx_cold uint64_t *fx_record_reserve_slow(struct fx_thread *t, unsigned words, uint32_t level,
					 struct fx_claim claim)
{
	struct fx_cursor *c = &t->cursor[level];
	enum fx_loss why;
	uint64_t *p;

	if (fx_load_relaxed(&c->end) - c->pos < (ptrdiff_t)words &&
	    record_next_chunk(t, level, words, &why) != 0) {
		fx_record_drop(t, why);
		fx_barrier();
		fx_store_relaxed(&t->busy[level], 0);
		return NULL;
	}
	p = c->pos;
	fx_record_put_claim(p, claim);
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
		if (!fx_frame_settle(t, i) && p < c->pos)
			fx_record_drop(t, FX_LOSS_LEFT);
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
					   struct fx_claim claim, uint32_t *ret_level)
{
	uint32_t level = level_find(t, sp);

	*ret_level = level;
	if (level == FX_LEVELS) {
		fx_record_drop(t, FX_LOSS_NESTED);
		return NULL;
	}
	fx_store_relaxed(&t->busy[level], sp);
	fx_barrier();
	return fx_record_reserve_slow(t, words, level, claim);
}

fx_cold bool fx_record_make_room(struct fx_thread *t, unsigned words)
{
	uint64_t sp = fx_stack_address();
	uint32_t level = level_find(t, sp);
	struct fx_cursor *c;
	enum fx_loss why;
	bool made;

	if (level == FX_LEVELS)
		return false;
	c = &t->cursor[level];
	if (fx_load_relaxed(&c->end) - c->pos >= (ptrdiff_t)words)
		return true;
	fx_store_relaxed(&t->busy[level], sp);
	fx_barrier();
	made = record_next_chunk(t, level, words, &why) == 0;
	fx_barrier();
	fx_store_relaxed(&t->busy[level], 0);
	return made;
}

void fx_chunks_release(struct fx_thread *t)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		if (t->busy[i]) /* the thread ended in the middle of it */
			fx_record_abandon(t, i);
		fx_chunk_release(t, &t->cursor[i]);
	}
}
