/* SPDX-License-Identifier: MIT */
#include "engine/reader/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/fault.h"
#include "engine/reader/drain-internal.h"

int fx_drain_broken(struct fx_drain *d, const char *how)
{
	d->broken = how;
	return -EBADMSG;
}

int fx_drain_init(struct fx_drain *ret, const struct fx_layout *layout, const void *buffer,
		  struct fx_control *control)
{
	struct fx_drain d = {
	    .buffer = buffer,
	    .control = control,
	    .layout = *layout,
	    .chunk_count = layout->halves * layout->chunks_per_half,
	    .share = layout->chunks_per_half,
	};

	d.watch = calloc(d.chunk_count, sizeof(*d.watch));
	d.chunks = calloc(d.chunk_count, sizeof(*d.chunks));
	if (!d.watch || !d.chunks) {
		fx_drain_destroy(&d);
		return -ENOMEM;
	}
	*ret = d;
	return 0;
}

void fx_drain_destroy(struct fx_drain *d)
{
	free(d->watch);
	free(d->chunks);
	free(d->holes);
	free(d->slots);
	free(d->history);
	free(d->baseline);
	memset(d, 0, sizeof(*d));
}

bool fx_drain_is_attached(const struct fx_drain *d)
{
	return fx_load_acquire(&header_of(d)->magic) == FX_BUFFER_MAGIC;
}

bool fx_drain_has_news(const struct fx_drain *d)
{
	return fx_load_acquire(&header_of(d)->rolling_state) != d->state;
}

uint32_t fx_drain_fill(const struct fx_drain *d)
{
	return (uint32_t)fx_load_relaxed(&header_of(d)->rolling_state);
}

/* --- Chunks ---------------------------------------------------------------------------------- */

/* Whether a claim took the chunk. One whose newest word was not published when its half was used
 * again has been passed over, for saved[] does not change while claims are made in a half. */
static bool claim_took(const struct fx_drain *d, uint32_t number)
{
	return d->chunks[number].done == d->control->saved[number];
}

int fx_drain_watch_new(struct fx_drain *d, uint64_t state)
{
	uint64_t from = d->limit, limit = serial_of(d, state);

	if (limit < from)
		return fx_drain_broken(d, "the count of claimed chunks went back");
	if (limit - from > d->chunk_count)
		from = limit - d->chunk_count;
	for (uint64_t serial = from; serial < limit; serial++) {
		uint32_t number = chunk_number(d, serial);

		if (!was_claimed(d, serial, state))
			continue;
		d->claimed++;
		if (d->chunks[number].watched || !claim_took(d, number))
			continue;
		d->chunks[number].watched = 1;
		d->watch[d->watch_count++] = number;
	}
	d->limit = limit;
	return 0;
}

/* Loads rolling_state and watches what it says was claimed. */
static int observe_claims(struct fx_drain *d)
{
	/* acquire, and before the table is read: chunks claimed later are left for the next pass, so
	 * that a thread's newer chunk is never taken before its older one. */
	uint64_t state = fx_load_acquire(&header_of(d)->rolling_state);
	uint64_t wrap = state >> 32, claimed = (uint32_t)state;
	int r;

	if (claimed > d->layout.chunks_per_half)
		return fx_drain_broken(d, "more chunks are claimed than there are");
	if (wrap * d->layout.chunks_per_half + claimed > FX_CHUNK_SERIAL_MAX)
		return fx_drain_broken(d, FX_BROKEN_WORN);
	if (d->layout.halves == 1 && wrap != 0)
		return fx_drain_broken(d, "a oneshot buffer wrapped");
	if (wrap > (uint64_t)d->control->wraps_saved + 1)
		return fx_drain_broken(d, "a half was reused before it was saved");
	r = fx_drain_watch_new(d, state);
	if (r == 0)
		d->state = state;
	return r;
}

/* Whether a word of the table can be true. */
static bool word_is_sound(const struct fx_drain *d, uint32_t number, uint64_t word)
{
	const struct fx_drain_chunk *c = &d->chunks[number];
	bool held = word & FX_CHUNK_HELD, released = word & FX_CHUNK_RELEASED;
	uint64_t serial = FX_CHUNK_SERIAL(word);
	uint32_t end = FX_CHUNK_END(word);

	if (held == released || chunk_number(d, serial) != number)
		return false;
	if (c->done && serial <= FX_CHUNK_SERIAL(c->done))
		return false;
	if (c->pos && serial != c->serial)
		return false;
	if (held)
		return end == 0;
	return end <= d->layout.chunk_size && end % FXT_WORD_SIZE == 0 && end >= c->pos;
}

/* The watched chunks whose word has moved and lies below the limit, oldest first. */
static int gather(struct fx_drain *d, struct candidate *ret, uint32_t *ret_count)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < d->watch_count; i++) {
		uint32_t number = d->watch[i];
		/* acquire: what a released chunk holds stands. Pairs with chunk.c. */
		uint64_t word = fx_load_acquire(&table_of(d)[number]);

		if (word == d->chunks[number].done)
			continue; /* claimed, but its owner has not said so yet */
		if (is_opening(word) && FX_CHUNK_SERIAL(word) < d->floor)
			continue; /* the same, in a circular session before */
		if (!word_is_sound(d, number, word))
			return fx_drain_broken(d, "a word of the chunk table makes no sense");
		if (FX_CHUNK_SERIAL(word) >= d->limit)
			continue;
		ret[count++] = (struct candidate){word, FX_CHUNK_SERIAL(word), number};
	}
	qsort(ret, count, sizeof(*ret), by_serial);
	*ret_count = count;
	return 0;
}

/* Copies `bytes` of a chunk behind what was copied before. 0, or 1 if the block is full. */
static int copy_chunk(struct fx_drain *d, const struct candidate *candidate, uint64_t bytes,
		      struct fx_drain_block *block)
{
	const struct fx_drain_chunk *c = &d->chunks[candidate->number];
	bool released = candidate->word & FX_CHUNK_RELEASED;
	void *to = piece_begin(
	    block, (struct fx_piece){
		       .kind = FX_PIECE_CHUNK,
		       .flags = (c->pos ? 0 : FX_PIECE_FIRST) | (released ? FX_PIECE_LAST : 0),
		       .bytes = (uint32_t)bytes,
		       .index = candidate->number,
		       .serial = candidate->serial,
		   });
	if (!to)
		return 1;
	memcpy(to, chunk_address(d, candidate->number) + c->pos, bytes);
	return 0;
}

/* Takes what is new in one chunk. 0, or 1 if the block is full. */
static int take_chunk(struct fx_drain *d, const struct candidate *candidate,
		      struct fx_drain_block *block)
{
	struct fx_drain_chunk *c = &d->chunks[candidate->number];
	const uint8_t *data = chunk_address(d, candidate->number);
	bool released = candidate->word & FX_CHUNK_RELEASED;
	uint64_t bytes;

	if (released)
		bytes = FX_CHUNK_END(candidate->word) - c->pos;
	else
		bytes = committed_bytes(data, c->pos, d->layout.chunk_size, UINT64_MAX);
	if (candidate->serial >= d->floor && (bytes || (released && c->pos)) &&
	    copy_chunk(d, candidate, bytes, block))
		return 1;
	if (released) {
		c->done = candidate->word;
		c->pos = 0;
		c->watched = 0;
	} else {
		c->serial = candidate->serial;
		c->pos += (uint32_t)bytes;
	}
	return 0;
}

/* Takes the chunks that are no longer watched off the list. */
static void watch_compact(struct fx_drain *d)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < d->watch_count; i++) {
		if (d->chunks[d->watch[i]].watched)
			d->watch[kept++] = d->watch[i];
	}
	d->watch_count = kept;
}

static int take_chunks(struct fx_drain *d, bool held, const struct candidate *candidates,
		       uint32_t count, struct fx_drain_block *block)
{
	int r = 0;

	d->held = false;
	for (uint32_t i = 0; i < count && r == 0; i++) {
		if (candidates[i].word & FX_CHUNK_HELD)
			d->held = true;
		if (held || (candidates[i].word & FX_CHUNK_RELEASED))
			r = take_chunk(d, &candidates[i], block);
	}
	watch_compact(d);
	return r;
}

int fx_drain_chunks(struct fx_drain *d, bool held, struct fx_drain_block *block)
{
	struct candidate few[64], *candidates = few;
	uint32_t count = 0;
	int r;

	if (d->broken)
		return -EBADMSG;
	r = observe_claims(d);
	if (r < 0)
		return r;
	if (d->watch_count > FX_ARRAY_LEN(few)) {
		candidates = calloc(d->watch_count, sizeof(*candidates));
		if (!candidates)
			return -ENOMEM;
	}
	r = gather(d, candidates, &count);
	if (r == 0)
		r = take_chunks(d, held, candidates, count, block);
	if (candidates != few)
		free(candidates);
	return r;
}

bool fx_drain_must_acknowledge(const struct fx_drain *d)
{
	uint64_t wrap = fx_load_relaxed(&header_of(d)->rolling_state) >> 32;

	return !d->broken && wrap > d->control->wraps_saved;
}

/* Publishes what is saved of a half that nobody can claim in. */
static void half_publish(struct fx_drain *d, uint32_t half)
{
	uint32_t first = half * d->layout.chunks_per_half;

	for (uint32_t i = first; i < first + d->layout.chunks_per_half; i++) {
		struct fx_drain_chunk *c = &d->chunks[i];
		uint64_t saved = d->control->saved[i];

		/* Claimed, but not said so yet, or held: nobody else may have it. */
		if (c->watched)
			saved = FX_SAVED_NEVER;
		else if (i - first >= d->share)
			saved = FX_SAVED_BEYOND;
		else if (c->done)
			saved = c->done;
		if (saved != d->control->saved[i])
			/* release: our copy is made. Pairs with the load before zeroing in chunk.c. */
			fx_store_release(&d->control->saved[i], saved);
	}
}

bool fx_drain_acknowledge(struct fx_drain *d)
{
	uint32_t wrap = (uint32_t)(d->state >> 32);
	uint32_t saved = d->control->wraps_saved;

	if (d->broken || wrap <= saved)
		return false;
	half_publish(d, saved & 1);
	FX_FAULT(half_saved);
	/* release: saved[] stands. Pairs with half_switch() in chunk.c. */
	fx_store_release(&d->control->wraps_saved, saved + 1);
	return true;
}

/* --- The durable area ------------------------------------------------------------------------ */

/* Durable pieces are cut at record boundaries to about this size; a record is below 32 KiB, a large one
 * has no business there. */
#define DURABLE_PIECE_MAX (48u << 10)

static int take_durable(struct fx_drain_block *block, const uint8_t *from, uint64_t bytes)
{
	void *to = piece_begin(block, (struct fx_piece){
					  .kind = FX_PIECE_DURABLE,
					  .bytes = (uint32_t)bytes,
				      });
	if (!to)
		return 1;
	memcpy(to, from, bytes);
	return 0;
}

/* Whether the provider has the strings that we know; it cannot take that back, for it is asked once. */
static bool knows_builtin(const struct fx_drain *d)
{
	return d->builtin && d->builtin->id &&
	       fx_load_relaxed(&header_of(d)->builtin_id) == d->builtin->id;
}

const uint8_t *fx_drain_builtin(const struct fx_drain *d, uint64_t *ret_size)
{
	if (knows_builtin(d)) {
		*ret_size = d->builtin->words * 8ull;
		return (const uint8_t *)d->builtin->records;
	}
	*ret_size = FX_BUILTIN_SIZE;
	return d->buffer + d->layout.builtin_offset;
}

/* They are not copied, but said to be there. */
static int take_known_builtin(const struct fx_builtin *known, struct fx_drain_block *block)
{
	void *to = piece_begin(block, (struct fx_piece){
					  .kind = FX_PIECE_BUILTIN,
					  .bytes = sizeof(known),
				      });
	if (!to)
		return 1;
	memcpy(to, &known, sizeof(known));
	return 0;
}

static int drain_builtin(struct fx_drain *d, struct fx_drain_block *block)
{
	const uint8_t *area = d->buffer + d->layout.builtin_offset;
	uint64_t size = FX_BUILTIN_SIZE;

	if (d->builtin_pos == 0 && knows_builtin(d)) {
		if (take_known_builtin(d->builtin, block))
			return 1;
		d->builtin_done = true;
		return 0;
	}
	for (;;) {
		uint64_t bytes = committed_bytes(area, d->builtin_pos, size, DURABLE_PIECE_MAX);
		if (bytes == 0)
			break;
		if (take_durable(block, area + d->builtin_pos, bytes))
			return 1;
		d->builtin_pos += (uint32_t)bytes;
	}
	d->builtin_done = true;
	return 0;
}

/* Whether a record of the durable area has a size that the area, and a block, has room for. */
static bool is_durable_size(uint64_t bytes, uint64_t available)
{
	return bytes != 0 && bytes <= available && bytes <= DURABLE_PIECE_MAX;
}

/* Takes records that were only claimed when the walk passed them. */
static int drain_holes(struct fx_drain *d, const uint8_t *area, struct fx_drain_block *block)
{
	uint32_t kept = 0, i;
	int r = 0;

	for (i = 0; i < d->hole_count; i++) {
		uint64_t at = d->holes[i];
		uint64_t header = fx_load_acquire((const uint64_t *)(area + at));
		uint64_t bytes = record_bytes(header);

		if (is_claim(header)) {
			d->holes[kept++] = at;
			continue;
		}
		if (header == 0 || !is_durable_size(bytes, d->layout.durable_size - at))
			return fx_drain_broken(d, "a record of the durable area changed its size");
		r = take_durable(block, area + at, bytes);
		if (r)
			break;
	}
	while (i < d->hole_count)
		d->holes[kept++] = d->holes[i++];
	d->hole_count = kept;
	return r;
}

static int hole_add(struct fx_drain *d, uint64_t at)
{
	if (d->hole_count >= d->layout.thread_count)
		return fx_drain_broken(d,
				       "more durable records are claimed than there are threads");
	if (d->hole_count == d->hole_room) {
		uint32_t room = d->hole_room ? 2 * d->hole_room : 16;
		uint64_t *holes = realloc(d->holes, room * sizeof(*holes));

		if (!holes)
			return -ENOMEM;
		d->holes = holes;
		d->hole_room = room;
	}
	d->holes[d->hole_count++] = at;
	return 0;
}

/* Bytes of finished records from the walk's position on. */
static uint64_t finished_bytes(const struct fx_drain *d, const uint8_t *area)
{
	uint64_t at = d->durable_pos, end = d->layout.durable_size;

	while (at < end) {
		uint64_t header = fx_load_acquire((const uint64_t *)(area + at));
		uint64_t bytes = record_bytes(header);

		if (header == 0 || bytes == 0 || bytes > end - at || is_claim(header))
			break;
		if (at + bytes - d->durable_pos > DURABLE_PIECE_MAX)
			break;
		at += bytes;
	}
	return at - d->durable_pos;
}

/* Steps over one claim. 1: stepped, 0: the walk is at its end. */
static int step_over_claim(struct fx_drain *d, const uint8_t *area)
{
	uint64_t end = d->layout.durable_size;
	uint64_t header, bytes;
	int r;

	if (d->durable_pos >= end)
		return 0;
	header = fx_load_acquire((const uint64_t *)(area + d->durable_pos));
	if (header == 0)
		return 0;
	bytes = record_bytes(header);
	if (!is_durable_size(bytes, end - d->durable_pos))
		return fx_drain_broken(d, "a record of the durable area has no possible size");
	if (!is_claim(header))
		return 1; /* finished meanwhile */
	r = hole_add(d, d->durable_pos);
	if (r < 0)
		return r;
	d->durable_pos += bytes;
	return 1;
}

int fx_drain_durable(struct fx_drain *d, struct fx_drain_block *block)
{
	const uint8_t *area = d->buffer + d->layout.durable_offset;
	int r;

	if (d->broken)
		return -EBADMSG;
	if (!d->builtin_done && (r = drain_builtin(d, block)) != 0)
		return r;
	r = drain_holes(d, area, block);
	while (r == 0) {
		uint64_t bytes = finished_bytes(d, area);

		if (bytes && take_durable(block, area + d->durable_pos, bytes))
			return 1;
		d->durable_pos += bytes;
		r = step_over_claim(d, area);
		if (r <= 0)
			break;
		r = 0;
	}
	return r;
}

/* --- Threads --------------------------------------------------------------------------------- */

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

/* Copies the open calls of a slot, without the sentinel. Returns how many there are. */
static uint32_t read_frames(const struct fx_thread_slot *slot, struct fx_frame *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < FX_FRAMES; i++) {
		/* acquire: the rest of the frame stands. Pairs with fx_frame_push(). */
		uint64_t start = fx_load_acquire(&slot->frames[i].start);

		if (start == 0)
			break;
		ret[n].start = start;
		ret[n].id = fx_load_relaxed(&slot->frames[i].id);
		ret[n].sp = fx_load_relaxed(&slot->frames[i].sp);
		ret[n].key = fx_load_relaxed(&slot->frames[i].key);
		n++;
	}
	return n;
}

/* Copies what is kept of a slot's open calls. False: the block is full. */
static bool take_stash(struct fx_drain *d, uint32_t slot, uint32_t tid,
		       struct fx_drain_block *block)
{
	const struct fx_stash *stash =
	    (const struct fx_stash *)(d->buffer + d->stash_offset) + slot;
	uint64_t top = d->stash_offset ? fx_load_relaxed(&stash->top) : 0;
	void *to;

	if (top == 0 || top > FX_STASH_WORDS)
		return true;
	to = piece_begin(block, (struct fx_piece){
				    .kind = FX_PIECE_STASH,
				    .bytes = (uint32_t)(top * FXT_WORD_SIZE),
				    .index = slot,
				    .serial = tid,
				});
	if (to)
		memcpy(to, stash->words, top * FXT_WORD_SIZE);
	return to;
}

int fx_drain_frames(struct fx_drain *d, uint32_t *cursor, struct fx_drain_block *block)
{
	for (; *cursor < d->slots_used; ++*cursor) {
		const struct fx_thread_slot *slot = slot_at(d, *cursor);
		uint32_t tid = fx_load_acquire(&slot->tid);
		struct fx_frame frames[FX_FRAMES];
		uint32_t n;
		size_t used;
		void *to;

		if (tid == 0 || tid == TID_TAKEN)
			continue;
		n = read_frames(slot, frames);
		if (n == 0)
			continue;
		/* Both, or none: else they are taken again. */
		used = block->used;
		to = NULL;
		if (take_stash(d, *cursor, tid, block))
			to = piece_begin(block, (struct fx_piece){
						    .kind = FX_PIECE_FRAMES,
						    .bytes = (uint32_t)(n * sizeof(frames[0])),
						    .index = *cursor,
						    .serial = tid,
						    .holder = fx_load_relaxed(&slot->frames[0].key),
						});
		if (!to) {
			block->used = used;
			return 1;
		}
		memcpy(to, frames, n * sizeof(frames[0]));
	}
	return 0;
}
