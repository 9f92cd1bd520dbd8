/* SPDX-License-Identifier: MIT */
/*
 * Chunks: how threads take rolling space from the buffer and give it back.
 *
 * A claim is one compare-and-exchange of rolling_state. A chunk may be claimed only if the manager
 * has saved all of what was in it (saved[i] == chunk_table[i]); one that a slow thread still holds
 * is skipped. The thread that finds a half used up moves on to the other, once per wrap, and tells
 * the manager; if that half is not saved yet, records are lost (or, lossless, the writer waits).
 */
#ifndef FX_ENGINE_CHUNK_H
#define FX_ENGINE_CHUNK_H

#include "engine/engine.h"

/* Gives cursor `level` of `t`, which is marked as busy, a new chunk with room for `words`. 0, or -ENOSPC. */
int fx_chunk_next(struct fx_thread *t, unsigned level, unsigned words);

/* Whether cursor `c` of `t` has a chunk that is still its own. */
bool fx_chunk_is_held(const struct fx_thread *t, const struct fx_cursor *c);

/* Gives back the chunk of `c`, a copy of a cursor of `t`, unless its owner has done so. Any thread. */
void fx_chunk_give_back(const struct fx_thread *t, const struct fx_cursor *c);

/* Gives back every chunk that `t` holds. */
void fx_chunks_release(struct fx_thread *t);

/*
 * A new start of tracing: gives back every chunk that `t` holds, but not one in which a record is under
 * way; that one takes no further record.
 */
void fx_chunks_renew(struct fx_thread *t);

/* Frees what threads held that ended without a word (no pthread_exit seen). Returns how many. */
unsigned fx_threads_reclaim(void);

/* The first thread with a slot from index *i on; *i is the index behind it. NULL: there are no more. */
struct fx_thread *fx_thread_after(uint32_t *i);

#endif
