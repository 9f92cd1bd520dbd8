/* SPDX-License-Identifier: MIT */
/*
 * The calls that were open when tracing stopped or a process ended, out of their frames. In the archive they go on until
 * then, with what they were called with, the threads that they wait for and what they were to execute.
 */
#ifndef FX_MANAGER_OPEN_CALLS_H
#define FX_MANAGER_OPEN_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/reader/drain.h"
#include "manager/archive/stream.h"

/* Whether the names of a thread's open calls, and of what they wait for, are known, as far as they will be. */
bool fx_open_calls_are_named(struct fx_stream *s, const struct fx_piece *piece,
			     const struct fx_frame *frames);

/* Writes the open calls of a thread. */
void fx_open_calls_write(struct fx_stream *s, const struct fx_piece *piece,
			 const struct fx_frame *frames, uint64_t end_ticks);

/* Takes note of the open calls of functions of a thread that goes on (scope.h). */
void fx_open_calls_look(struct fx_stream *s, const struct fx_piece *piece,
			const struct fx_frame *frames);

#endif
