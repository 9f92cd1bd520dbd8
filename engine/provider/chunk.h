/* SPDX-License-Identifier: MIT */
/*
 * Chunks: how threads take rolling space from the buffer and give it back.
 *
 * A claim is one compare-and-exchange of rolling_state. A chunk may be claimed only if the manager
 * has saved all of what was in it (saved[i] == chunk_table[i]); one that a slow thread still holds
 * is skipped. The thread that finds a half used up, or enough of it while the other is saved, moves on
 * to the other, once per wrap, and tells the manager; if that half is not saved yet, records are lost
 * (or, lossless, the writer waits).
 */
#ifndef FX_ENGINE_CHUNK_H
#define FX_ENGINE_CHUNK_H

#include "engine/provider/engine.h"

/* Words of the Thread Record that each chunk begins with. */
#define FX_CHUNK_HEAD_WORDS 3u

/* Claims the next chunk that is free. 0 and its serial, FX_CHUNK_FRESH and its serial if nobody has ever used it, which so
 * is all zeroes; fails, without waiting, if there is none (space.h waits). */
#define FX_CHUNK_FRESH 1
int fx_chunk_claim(const struct fx_thread *t, uint64_t *ret_serial);

/* How many chunks the process has got so far. */
uint64_t fx_chunks_got(void);

/* Makes the chunk that was claimed by this serial the cursor's: zeroes, and its Thread Record with the bits `begins`.
 * One that is fresh has the zeroes. */
void fx_chunk_open(struct fx_thread *t, struct fx_cursor *c, uint64_t serial, bool fresh,
		   uint64_t begins);

/* Whether the serials of `wrap` are the last that there are: it is never left. */
bool fx_chunk_is_worn(uint32_t wrap);

/* Gives back the cursor's chunk, if it has one. */
void fx_chunk_release(const struct fx_thread *t, struct fx_cursor *c);

/* Whether cursor `c` of `t` has a chunk that is still its own. */
bool fx_chunk_is_held(const struct fx_thread *t, const struct fx_cursor *c);

/* Gives back the chunk of `c`, a copy of a cursor of `t`, unless its owner has done so. Any thread. */
void fx_chunk_give_back(const struct fx_thread *t, const struct fx_cursor *c);

/*
 * A new start of tracing: gives back every chunk that `t` holds, but not one in which a record is under
 * way; that one takes no further record.
 */
void fx_chunks_renew(struct fx_thread *t);

#endif
