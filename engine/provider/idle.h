/* SPDX-License-Identifier: MIT */
/*
 * Lossless mode with more threads than chunks: each sits on one that it may never fill, and a thread that waits
 * for space may be the one that they wait for. So a thread that waits takes the chunks of those that do not write,
 * as they are.
 *
 * Their hot half has no lock and no barrier for that; the kernel makes the barrier (membarrier), when
 * somebody waits.
 */
#ifndef FX_ENGINE_IDLE_H
#define FX_ENGINE_IDLE_H

#include "engine/provider/engine.h"

/*
 * Gives back, for their threads, the chunks that nobody is writing into; the manager has yet to save them.
 * `self` is the calling thread, which is in fx_chunk_next(). Async-signal-safe.
 */
fx_cold void fx_chunks_collect(const struct fx_thread *self);

#endif
