/* SPDX-License-Identifier: MIT */
#include "engine/provider/stash.h"

static struct fx_stash *stash_of(const struct fx_thread *t)
{
	uint64_t offset = fx_engine.page->stash_offset;
	uint64_t slot = (uint64_t)(t - fx_engine.wiped->threads);

	/* A handler that forked meanwhile has left us in a child. */
	if (!offset || t->header != fx_engine.header)
		return NULL;
	return (struct fx_stash *)((char *)fx_engine.header + offset) + slot;
}

/* `at': where it begins, and one more. */
static struct fx_stash_entry *stash_entry(struct fx_stash *s, uint32_t at)
{
	return (struct fx_stash_entry *)&s->words[at - 1];
}

static uint16_t frame_index(const struct fx_thread *t, const struct fx_frame *f)
{
	return (uint16_t)(f - t->slot->frames);
}

/* The newest entry that is below a frame. */
static uint32_t stash_below(struct fx_stash *s, uint32_t at, uint16_t frame)
{
	while (at && stash_entry(s, at)->frame >= frame)
		at = stash_entry(s, at)->before;
	return at;
}

uint64_t *fx_stash_open(struct fx_thread *t, const struct fx_frame *f)
{
	struct fx_stash *s = stash_of(t);
	uint16_t frame = frame_index(t, f);
	struct fx_stash_entry *e;
	uint32_t before, at = 1;

	if (!s)
		return NULL;
	before = stash_below(s, t->stashed, frame);
	if (before)
		at = before + FX_STASH_HEAD + stash_entry(s, before)->words;
	if (at - 1 + FX_STASH_HEAD + FX_STASH_ARGS > FX_STASH_WORDS)
		return NULL;
	e = stash_entry(s, at);
	fx_store_relaxed(&e->start, 0);
	e->frame = frame;
	e->words = FX_STASH_ARGS;
	e->count = 0;
	e->before = (uint16_t)before;
	fx_barrier();
	t->stashed = at; /* from here on handlers go above it */
	fx_barrier();
	/* One that came before it has used the same place, and may have left another entry there. */
	e->frame = frame;
	e->words = FX_STASH_ARGS;
	e->count = 0;
	e->before = (uint16_t)before;
	fx_store_relaxed(&e->start, 0);
	return e->args;
}

void fx_stash_close(struct fx_thread *t, unsigned words, unsigned count)
{
	struct fx_stash *s = stash_of(t);
	struct fx_stash_entry *e;

	if (!s)
		return;
	e = stash_entry(s, t->stashed);
	e->words = (uint16_t)words;
	e->count = (uint16_t)count;
	fx_store_relaxed(&s->top, t->stashed - 1 + FX_STASH_HEAD + words);
}

void fx_stash_begin(struct fx_thread *t, const struct fx_frame *f, uint64_t start)
{
	struct fx_stash *s = stash_of(t);

	if (s && t->stashed && stash_entry(s, t->stashed)->frame == frame_index(t, f))
		fx_store_release(&stash_entry(s, t->stashed)->start,
				 start); /* pairs with reader/slots.c */
}

const struct fx_stash_entry *fx_stash_find(struct fx_thread *t, struct fx_open o)
{
	struct fx_stash *s = t->stashed && o.frame ? stash_of(t) : NULL;
	struct fx_stash_entry *e;
	uint16_t frame;
	uint32_t at;

	if (!s)
		return NULL;
	frame = frame_index(t, o.frame);
	at = stash_below(s, t->stashed, (uint16_t)(frame + 1));
	if (!at)
		return NULL;
	e = stash_entry(s, at);
	return e->frame == frame && fx_load_relaxed(&e->start) == o.start ? e : NULL;
}

void fx_stash_reset(struct fx_thread *t)
{
	struct fx_stash *s = t->stashed ? stash_of(t) : NULL;

	t->stashed = 0;
	if (s)
		fx_store_relaxed(&s->top, 0);
}
