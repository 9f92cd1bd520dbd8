/* SPDX-License-Identifier: MIT */
/*
 * What open calls were called with, until they end: in shared memory, so that the manager has it too of those that never do. An
 * entry is of a frame, and found by it; whatever else takes frames off leaves entries behind, which the next one drops.
 */
#ifndef FX_ENGINE_STASH_H
#define FX_ENGINE_STASH_H

#include <string.h>

#include "engine/provider/engine.h"
#include "engine/provider/frame.h"

/* Arguments of one call, in words; of its result. */
#define FX_STASH_ARGS	90u
#define FX_STASH_RESULT 20u

/* An entry; `at': where it begins, and one more. */
fx_hot struct fx_stash_entry *fx_stash_at(struct fx_stash *s, uint32_t at)
{
	return (struct fx_stash_entry *)&s->words[at - 1];
}

fx_hot uint16_t fx_stash_frame(const struct fx_thread *t, const struct fx_frame *f)
{
	return (uint16_t)(f - t->slot->frames);
}

/* The newest entry that is below a frame. */
fx_hot uint32_t fx_stash_below(struct fx_stash *s, uint32_t at, uint16_t frame)
{
	while (at && fx_stash_at(s, at)->frame >= frame)
		at = fx_stash_at(s, at)->before;
	return at;
}

/*
 * Room for the arguments of an open call that has not begun yet: FX_STASH_ARGS words. NULL: there is none. Handlers that come
 * in between use what is above.
 */
uint64_t *fx_stash_open(struct fx_thread *t, const struct fx_frame *f);

/* So many of them were written. */
void fx_stash_close(struct fx_thread *t, unsigned words, unsigned count);

/* The call has begun at `start'. */
void fx_stash_begin(struct fx_thread *t, const struct fx_frame *f, uint64_t start);

/* What the open call was called with; NULL: nothing is known of it. */
const struct fx_stash_entry *fx_stash_find(struct fx_thread *t, struct fx_open o);

/* A thread begins with nothing. */
void fx_stash_reset(struct fx_thread *t);

/* --- The same, for few words that are known before, where it is easy --------------------------------------------------------- */

/* All of an entry but its arguments: its two words, without a start. The steps are those of fx_stash_open(). */
fx_hot void fx_stash_write_head(struct fx_stash_entry *e, uint64_t head)
{
	fx_store_relaxed(&e->start, 0);
	memcpy((char *)e + sizeof e->start, &head, sizeof head);
	fx_barrier();
}

/* What a call was called with that has not begun. NULL: there is no room. */
fx_hot struct fx_stash_entry *fx_stash_put(struct fx_thread *t, const struct fx_frame *f,
					   const uint64_t *args, unsigned words, unsigned count)
{
	struct fx_stash *s = t->stash;
	uint16_t frame = fx_stash_frame(t, f);
	struct fx_stash_entry *e;
	uint32_t before, at = 1;
	uint64_t head;

	if (fx_unlikely(!s))
		return NULL;
	before = fx_stash_below(s, t->stashed, frame);
	if (before)
		at = before + FX_STASH_HEAD + fx_stash_at(s, before)->words;
	if (fx_unlikely(at - 1 + FX_STASH_HEAD + FX_STASH_ARGS > FX_STASH_WORDS))
		return NULL;
	head = frame | (uint64_t)words << 16 | (uint64_t)count << 32 | (uint64_t)before << 48;
	e = fx_stash_at(s, at);
	fx_stash_write_head(e, head);
	t->stashed = at; /* from here on handlers go above it */
	fx_barrier();
	fx_stash_write_head(e, head);
	for (unsigned i = 0; i < words; i++)
		fx_store_relaxed(&e->args[i], args[i]);
	fx_store_relaxed(&s->top, at - 1 + FX_STASH_HEAD + words);
	return e;
}

/* What the newest call was called with, that began at `start'; NULL: nothing is known of it. False: it takes a search. */
fx_hot bool fx_stash_find_newest(const struct fx_thread *t, struct fx_open o,
				 struct fx_stash_entry **ret)
{
	struct fx_stash_entry *e =
	    t->stashed && t->stash ? fx_stash_at(t->stash, t->stashed) : NULL;
	uint16_t frame = fx_stash_frame(t, o.frame);

	*ret = NULL;
	if (!e || e->frame < frame)
		return true;
	if (fx_unlikely(e->frame != frame || fx_load_relaxed(&e->start) != o.start ||
			e->words > FX_STASH_ARGS))
		return false;
	*ret = e;
	return true;
}

#endif
