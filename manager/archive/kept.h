/* SPDX-License-Identifier: MIT */
/*
 * What a circular buffer has kept: since when all is there, and what lies before the time that --last asks for.
 *
 * Chunks are taken anew in the order in which they were claimed, but for those that are held: so what is left of a thread
 * is its end, whole from the first event on. A buffer's history is as long as that of the thread of which the least is
 * left: one that has slept since the start still has its first chunk, while the others' are long gone.
 *
 * Left out is what had ended before: complete calls, instants, counters, messages, and arrows that began before,
 * with both their ends. What is begun and ended by records of its own stays, for its end is not known at its begin.
 */
#ifndef FX_MANAGER_KEPT_H
#define FX_MANAGER_KEPT_H

#include "manager/archive/rewriting.h"

/* Before a piece that was copied at `ticks`. */
void fx_kept_begin(struct fx_stream *s, uint64_t ticks);

/* A chunk of `count` words has been taken, in one piece. */
void fx_kept_note(struct fx_stream *s, struct fx_stream_chunk *c, const uint64_t *words,
		  size_t count);

/* Whether an event or a message of w->words is left out. */
bool fx_kept_leaves_out(struct fx_rewriting *w);

/* Since when all is there, in ns, of a buffer that was overwritten. */
uint64_t fx_kept_since(const struct fx_stream *s);

#endif
