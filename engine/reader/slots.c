/* SPDX-License-Identifier: MIT */
/* Draining the thread area: what is known of the thread in each slot, and the calls that are open in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "engine/reader/drain-internal.h"

/* Slots are first used in their order, and one never used would take memory when looked at. */
static int find_new_slots(struct fx_drain *d)
{
	while (d->slots_used < d->layout.thread_count) {
		const struct fx_thread_slot *slot = slot_at(d, d->slots_used);

		if (fx_load_acquire(&slot->incarnation) == 0)
			return 0;
		if (d->slots_used == d->slot_room) {
			uint32_t room = d->slot_room ? 2 * d->slot_room : 8;
			void *slots = realloc(d->slots, room * sizeof(*d->slots));

			if (!slots)
				return -ENOMEM;
			d->slots = slots;
			d->slot_room = room;
		}
		memset(&d->slots[d->slots_used++], 0, sizeof(*d->slots));
	}
	return 0;
}

bool fx_drain_has_thread(const struct fx_drain *d, uint32_t tid)
{
	if (!fx_drain_is_attached(d))
		return false;
	for (uint32_t i = 0; i < d->layout.thread_count; i++) {
		const struct fx_thread_slot *slot = slot_at(d, i);

		if (fx_load_acquire(&slot->incarnation) == 0)
			return false;
		if (fx_load_relaxed(&slot->tid) == tid)
			return true;
	}
	return false;
}

int fx_drain_threads(struct fx_drain *d, struct fx_drain_block *block)
{
	int r = find_new_slots(d);

	if (r < 0)
		return r;
	for (; d->slot_next < d->slots_used; d->slot_next++) {
		uint32_t i = d->slot_next;
		struct fx_thread_facts facts;
		void *to;

		read_facts(slot_at(d, i), d->over, &facts);
		fx_drain_discount(d, i, &facts);
		if (memcmp(&facts, &d->slots[i], sizeof(facts)) == 0)
			continue;
		to = piece_begin(block, (struct fx_piece){
					    .kind = FX_PIECE_THREAD,
					    .bytes = sizeof(facts),
					    .index = i,
					});
		if (!to)
			return 1;
		memcpy(to, &facts, sizeof(facts));
		d->slots[i] = facts;
	}
	d->slot_next = 0;
	return 0;
}

/* How many open calls a slot has, without the sentinel. */
static uint32_t count_frames(const struct fx_thread_slot *slot)
{
	uint32_t n = 0;

	/* relaxed: they are read again */
	while (n < FX_FRAMES - 1 && fx_load_relaxed(&slot->frames[n + 1].start))
		n++;
	return n;
}

/* Copies `most' of them, or as many as there still are, which it returns. (Straight into the block: all that there can be take
 * 16 KB, which is much for a narrow stack.) */
static uint32_t read_frames(const struct fx_thread_slot *slot, struct fx_frame *ret, uint32_t most)
{
	uint32_t n = 0;

	while (n < most) {
		const struct fx_frame *f = &slot->frames[n + 1];
		/* acquire: the rest of the frame stands. Pairs with fx_frame_push(). */
		uint64_t start = fx_load_acquire(&f->start);

		if (start == 0)
			break;
		ret[n].start = start;
		ret[n].id = fx_load_relaxed(&f->id);
		ret[n].sp = fx_load_relaxed(&f->sp);
		ret[n].key = fx_load_relaxed(&f->key);
		n++;
	}
	return n;
}

/* What stands in the places of the first `count' calls of a slot, as entries. Returns their words. */
static size_t read_places(const struct fx_stash *stash, uint32_t count, uint64_t *to)
{
	const uint64_t *begin = to;

	for (uint32_t i = 1; i <= count; i++) {
		const struct fx_stash_place *p = &stash->places[i];
		struct fx_stash_entry e = {.frame = (uint16_t)i};
		uint64_t header;
		uint32_t words;

		/* acquire, twice: before and behind the rest. Pairs with fx_hooks_enter_quick_kept(). */
		e.start = fx_load_acquire(&p->start);
		header = fx_load_acquire(&p->header);
		words = (uint32_t)FXT_GET(header, RECORD_SIZE) - 3;
		if (!e.start || words > FX_STASH_PLACE_WORDS)
			continue;
		e.words = (uint16_t)words;
		e.count = (uint16_t)FXT_GET(header, EVENT_NARGS);
		for (uint32_t j = 0; j < words; j++)
			to[FX_STASH_HEAD + j] = fx_load_acquire(&p->args[j]);
		if (fx_load_relaxed(&p->start) != e.start)
			continue;
		memcpy(to, &e, sizeof(e));
		to += FX_STASH_HEAD + words;
	}
	return (size_t)(to - begin);
}

/* Copies what is kept of a slot's open calls, of which there are so many. False: the block is full. */
static bool take_stash(struct fx_drain *d, uint32_t slot, uint32_t tid, uint32_t count,
		       struct fx_drain_block *block)
{
	const struct fx_stash *stash =
	    (const struct fx_stash *)(d->buffer + d->stash_offset) + slot;
	uint64_t top = d->stash_offset ? fx_load_relaxed(&stash->top) : 0, most, words;
	uint64_t *to;

	if (!d->stash_offset)
		return true;
	if (top > FX_STASH_WORDS)
		top = 0;
	most = top + count * (FX_STASH_HEAD + FX_STASH_PLACE_WORDS);
	to = piece_begin(block, (struct fx_piece){
				    .kind = FX_PIECE_STASH,
				    .bytes = (uint32_t)(most * FXT_WORD_SIZE),
				    .index = slot,
				    .serial = tid,
				});
	if (!to)
		return false;
	words = read_places(stash, count, to);
	memcpy(to + words, stash->words, top * FXT_WORD_SIZE);
	piece_shrink(block, to, (uint32_t)((words + top) * FXT_WORD_SIZE));
	return true;
}

int fx_drain_frames(struct fx_drain *d, uint32_t *cursor, struct fx_drain_block *block)
{
	/* (Without memory, those that are known.) */
	if (*cursor == 0)
		find_new_slots(d);
	for (; *cursor < d->slots_used; ++*cursor) {
		const struct fx_thread_slot *slot = slot_at(d, *cursor);
		uint32_t tid = fx_load_acquire(&slot->tid);
		uint32_t n;
		uint64_t holder;
		size_t used;
		void *to;

		if (tid == 0 || tid == TID_TAKEN)
			continue;
		n = count_frames(slot);
		if (n == 0)
			continue;
		/* Both, or none: else they are taken again. */
		used = block->used;
		to = NULL;
		/* Pairs with fx_wait_tell(). */
		holder = fx_load_acquire(&slot->frames[0].key);
		if (take_stash(d, *cursor, tid, n, block))
			to = piece_begin(block,
					 (struct fx_piece){
					     .kind = FX_PIECE_FRAMES,
					     .bytes = (uint32_t)(n * sizeof(struct fx_frame)),
					     .index = *cursor,
					     .serial = tid,
					     .holder = holder,
					     .held_at = fx_load_relaxed(&slot->frames[0].start),
					 });
		if (!to) {
			block->used = used;
			return 1;
		}
		n = read_frames(slot, to, n);
		if (n)
			piece_shrink(block, to, (uint32_t)(n * sizeof(struct fx_frame)));
		else
			block->used = used; /* none is left */
	}
	return 0;
}
