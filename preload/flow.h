/* SPDX-License-Identifier: MIT */
/*
 * Flows: arrows of the viewer from what caused something to what it caused.
 *
 * A flow binds to the slice or instant that stands before it at the same time. So each flow record is
 * written together with its anchor, in one piece: both are in the trace, or neither, and an id goes to
 * the other side only when its beginning is in the trace.
 */
#ifndef FX_PRELOAD_FLOW_H
#define FX_PRELOAD_FLOW_H

#include "engine/engine.h"

/* Writes an instant of this category and name (builtin strings) with the beginning of a new flow.
 * Returns the flow's id, 0 if it could not be written. */
uint64_t fx_flow_out(struct fx_thread *t, unsigned category, unsigned name);

/* Writes an instant with the end of flow `id`; without, if that is 0. */
void fx_flow_in(struct fx_thread *t, unsigned category, unsigned name, uint64_t id);

/*
 * Announces a release: a short slice of this name with argument `arg` = address, in which `count`
 * flows (at most FX_RELEASE_MAX) begin, kept for those who wait for `address`. Called just before
 * the release itself, so that the waiter finds the flow.
 */
#define FX_RELEASE_MAX 4
fx_cold void fx_flow_release(struct fx_thread *t, unsigned name, unsigned arg, const void *address,
			     unsigned count);

#endif
