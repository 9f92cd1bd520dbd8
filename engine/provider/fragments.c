/* SPDX-License-Identifier: MIT */
#include "engine/provider/fragments.h"

#include <errno.h>
#include <string.h>

#include <fxtrace/format.h>

#include "engine/provider/record.h"

/* The rest of a chunk is worth a fragment if it has so many words. */
#define LEAST_WORDS 64u

/* A record that stands in two places. */
struct source {
	const uint64_t *head;
	const uint8_t *payload;
	size_t size; /* bytes of payload */
	uint32_t head_words;
	uint32_t words; /* in all */
};

/* Copies words [from, from + count) to zeroed memory. */
static void copy_words(uint64_t *to, const struct source *s, uint32_t from, uint32_t count)
{
	size_t at, bytes;

	for (; count && from < s->head_words; from++, count--)
		*to++ = s->head[from];
	if (!count)
		return;
	at = (size_t)(from - s->head_words) * FXT_WORD_SIZE;
	bytes = (size_t)count * FXT_WORD_SIZE;
	memcpy(to, s->payload + at, bytes < s->size - at ? bytes : s->size - at);
}

/* Words of a record that fit a chunk, behind its Thread Record. */
static uint32_t chunk_room(void)
{
	return fx_engine.layout.chunk_size / FXT_WORD_SIZE - 3;
}

static bool is_large(uint64_t header)
{
	return FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE;
}

static uint64_t sized_header(const struct source *s)
{
	return s->head[0] | (is_large(s->head[0]) ? FXT_PUT(LARGE_SIZE, s->words)
						  : FXT_PUT(RECORD_SIZE, s->words));
}

static int write_whole(struct fx_thread *t, const struct source *s)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, s->words, &r);

	if (!p)
		return -ENOSPC;
	copy_words(p + 1, s, 1, s->words - 1);
	fx_record_commit(t, p, sized_header(s), &r);
	return 0;
}

/* Words of the next fragment: what is left of the chunk in use, or a chunk. */
static uint32_t fragment_words(const struct fx_thread *t, uint32_t left)
{
	const struct fx_cursor *c = &t->cursor[0];
	const uint64_t *end = fx_load_relaxed(&c->end); /* once: see idle.h */
	uint32_t room = chunk_room();

	if (!t->busy[0] && end && end - c->pos >= LEAST_WORDS)
		room = (uint32_t)(end - c->pos);
	return left + FX_FRAGMENT_HEAD < room ? left : room - FX_FRAGMENT_HEAD;
}

static int write_parts(struct fx_thread *t, const struct source *s)
{
	/* Atomic: a handler that interrupts this must get another. */
	uint64_t id = fx_add_relaxed(&t->fragmented, 1) + 1;
	struct fx_reservation r;
	uint32_t count;

	for (uint32_t at = 0; at < s->words; at += count) {
		uint64_t *p;

		count = fragment_words(t, s->words - at);
		p = fx_record_reserve(t, FX_FRAGMENT_HEAD + count, &r);
		if (!p)
			return -ENOSPC;
		p[1] = (uint32_t)id | (uint64_t)s->words << 32;
		p[2] = at;
		copy_words(p + FX_FRAGMENT_HEAD, s, at, count);
		if (at == 0)
			p[FX_FRAGMENT_HEAD] = sized_header(s);
		fx_record_commit(t, p, FX_FRAGMENT_HEADER(FX_FRAGMENT_HEAD + count), &r);
	}
	return 0;
}

/* Whether a record has room at all. In streaming mode space may be freed while it is being written. */
static bool parts_has_room(uint32_t words)
{
	const struct fx_layout *l = &fx_engine.layout;
	uint64_t chunks = (uint64_t)l->halves * l->chunks_per_half;

	return fx_engine.page->buffering_mode == FX_MODE_STREAMING ||
	       words <= chunks * (chunk_room() - FX_FRAGMENT_HEAD);
}

int fx_record_write(struct fx_thread *t, const uint64_t *head, unsigned head_words,
		    const void *payload, size_t size)
{
	uint32_t most =
	    is_large(head[0]) ? FX_LARGEST_RECORD / FXT_WORD_SIZE : FXT_MAX_RECORD_WORDS;
	struct source s = {
	    .head = head, .head_words = head_words, .payload = payload, .size = size};

	if (size > FX_LARGEST_RECORD || head_words + FX_ALIGN_UP(size, 8u) / 8 > most) {
		fx_record_drop(t, FX_LOSS_LARGE);
		return -E2BIG;
	}
	s.words = head_words + (uint32_t)(FX_ALIGN_UP(size, 8u) / 8);
	if (s.words <= chunk_room())
		return write_whole(t, &s);
	/* Not begun if it cannot be finished. */
	if (!parts_has_room(s.words)) {
		fx_record_drop(t, FX_LOSS_LARGE);
		return -ENOSPC;
	}
	return write_parts(t, &s);
}
