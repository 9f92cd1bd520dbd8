/* SPDX-License-Identifier: MIT */
#include "engine/record.h"

#include "engine/chunk.h"

/* The record is lost: one more for its thread, and when. A lock prefix costs little here, and makes
 * the count exact under signal handlers that lose records too. */
static void count_drop(struct fx_thread *t)
{
	uint64_t now = fx_now();

	if (!fx_load_relaxed(&t->slot->dropped_first))
		fx_store_relaxed(&t->slot->dropped_first, now);
	fx_store_relaxed(&t->slot->dropped_last, now);
	fx_add_acq_rel(&t->slot->dropped, 1);
}

fx_cold uint64_t *fx_record_reserve_slow(struct fx_thread *t, unsigned words,
					 struct fx_reservation *r)
{
	unsigned level = r->level;
	uint64_t *p = NULL;

	if (level < FX_LEVELS) {
		struct fx_cursor *c = &t->cursor[level];

		if (c->end - c->pos >= (ptrdiff_t)words || fx_chunk_next(t, level, words) == 0) {
			p = c->pos;
			c->pos = p + words;
		}
	}
	if (!p) {
		count_drop(t);
		fx_barrier();
		t->level = level;
	}
	return p;
}
