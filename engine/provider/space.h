/* SPDX-License-Identifier: MIT */
/*
 * Space for a thread that has none left: the next chunk, and in lossless mode the wait for it.
 *
 *	chunk.h   takes and gives back single chunks
 *	idle.h    takes the chunks of threads that do not write
 *	space.h   uses both, and waits for the manager
 *	record.h  asks here when a record does not fit the chunk
 */
#ifndef FX_ENGINE_SPACE_H
#define FX_ENGINE_SPACE_H

#include "engine/provider/engine.h"

/* Gives cursor `level` of `t`, which is marked as busy, a new chunk with room for `words`. 0, or -ENOSPC, and why. */
int fx_chunk_next(struct fx_thread *t, unsigned level, unsigned words, enum fx_loss *ret_why);

#endif
