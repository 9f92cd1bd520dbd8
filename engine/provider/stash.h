/* SPDX-License-Identifier: MIT */
/*
 * What open calls were called with, until they end: in shared memory, so that the manager has it too of those that never do. An
 * entry is of a frame, and found by it; whatever else takes frames off leaves entries behind, which the next one drops.
 */
#ifndef FX_ENGINE_STASH_H
#define FX_ENGINE_STASH_H

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

/* Arguments as they stand in a record. */
struct fx_argument_words {
	const uint64_t *words;
	unsigned size;	/* words */
	unsigned count; /* arguments */
};

/* What the open call was called with; no words: nothing is known of it. */
struct fx_argument_words fx_stash_find(struct fx_thread *t, struct fx_open o);

/* A thread begins with nothing. */
void fx_stash_reset(struct fx_thread *t);

/* --- The same, of few words, each frame in a place of its own ------------------------------------------------------------------ */

/*
 * A place is its frame's alone from when that has been taken, so handlers that come in between leave it as it is. `start' says what
 * call it is of; until the third step that is one that is over, for no two begin at the same time:
 *
 *	step				for a reader, and for whoever closes the call
 *	1 the frame is taken		nothing is known of the call
 *	2 header and arguments		the same
 *	3 the frame's start		they are there, and stay until the frame is taken anew
 */
fx_hot struct fx_stash_place *fx_stash_place(const struct fx_thread *t, const struct fx_frame *f)
{
	return (struct fx_stash_place *)(uintptr_t)(t->places + sizeof(struct fx_stash_place) /
								    sizeof(struct fx_frame) *
								    (uint64_t)(uintptr_t)f);
}

/* So many words of arguments stand in a place. */
fx_hot unsigned fx_stash_place_words(uint64_t header)
{
	return (unsigned)(header >> 4 & 0xfff) - 3;
}

fx_hot unsigned fx_stash_place_count(uint64_t header)
{
	return (unsigned)(header >> 20 & 0xf);
}

/* What the open call was called with, if that stands in its frame's place. */
fx_hot struct fx_argument_words fx_stash_placed(const struct fx_thread *t, struct fx_open o)
{
	const struct fx_stash_place *p = fx_stash_place(t, o.frame);
	unsigned words;

	if (!t->places || fx_load_relaxed(&p->start) != o.start)
		return (struct fx_argument_words){0};
	words = fx_stash_place_words(p->header);
	if (fx_unlikely(words > FX_STASH_PLACE_WORDS))
		return (struct fx_argument_words){0};
	return (struct fx_argument_words){p->args, words, fx_stash_place_count(p->header)};
}

#endif
