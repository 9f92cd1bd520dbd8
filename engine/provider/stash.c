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

uint64_t *fx_stash_open(struct fx_thread *t, const struct fx_frame *f)
{
	struct fx_stash *s = stash_of(t);
	uint16_t frame = fx_stash_frame(t, f);
	struct fx_stash_entry *e;
	uint32_t before, at = 1;

	if (!s)
		return NULL;
	before = fx_stash_below(s, t->stashed, frame);
	if (before)
		at = before + FX_STASH_HEAD + fx_stash_at(s, before)->words;
	if (at - 1 + FX_STASH_HEAD + FX_STASH_ARGS > FX_STASH_WORDS)
		return NULL;
	e = fx_stash_at(s, at);
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
	e = fx_stash_at(s, t->stashed);
	e->words = (uint16_t)words;
	e->count = (uint16_t)count;
	fx_store_relaxed(&s->top, t->stashed - 1 + FX_STASH_HEAD + words);
}

void fx_stash_begin(struct fx_thread *t, const struct fx_frame *f, uint64_t start)
{
	struct fx_stash *s = stash_of(t);

	if (s && t->stashed && fx_stash_at(s, t->stashed)->frame == fx_stash_frame(t, f))
		fx_store_release(&fx_stash_at(s, t->stashed)->start,
				 start); /* pairs with reader/slots.c */
}

struct fx_argument_words fx_stash_find(struct fx_thread *t, struct fx_open o)
{
	struct fx_stash *s = o.frame ? stash_of(t) : NULL;
	struct fx_argument_words found;
	struct fx_stash_entry *e;
	uint16_t frame;
	uint32_t at;

	if (!s)
		return (struct fx_argument_words){0};
	found = fx_stash_placed(t, o);
	frame = fx_stash_frame(t, o.frame);
	at = found.size ? 0 : fx_stash_below(s, t->stashed, (uint16_t)(frame + 1));
	if (!at)
		return found;
	e = fx_stash_at(s, at);
	if (e->frame != frame || fx_load_relaxed(&e->start) != o.start || e->words > FX_STASH_ARGS)
		return found;
	return (struct fx_argument_words){e->args, e->words, e->count};
}

void fx_stash_reset(struct fx_thread *t)
{
	struct fx_stash *s = stash_of(t);

	t->stash = s;
	t->places = s ? (uint64_t)(uintptr_t)s->places -
			    (uint64_t)(uintptr_t)t->slot->frames *
				(sizeof s->places[0] / sizeof t->slot->frames[0])
		      : 0;
	if (s && t->stashed)
		fx_store_relaxed(&s->top, 0);
	t->stashed = 0;
}
