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

#endif
