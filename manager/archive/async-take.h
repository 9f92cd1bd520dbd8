/* SPDX-License-Identifier: MIT */
/*
 * Async events of a process: an end is written once its begin is, whichever threads they are of, so whichever of
 * their buffers comes first.
 *
 *	begin 7 "request"	is written, and remembered
 *	end   7 "request"	of a begin that is remembered: is written; otherwise it is held
 *	begin 8 "request"	and an end of it is held: both are written
 *	the process ends	what is held was never begun, and is left out
 *
 * Viewers take an id for the whole machine's; to the program it is the process's. So processes but the first that has
 * async events have theirs with the process's number in the upper bits.
 */
#ifndef FX_MANAGER_ASYNC_TAKE_H
#define FX_MANAGER_ASYNC_TAKE_H

#include <stdint.h>

#include "manager/archive/rewriting.h"

/* Begins that are remembered of a process; the ends of what is open beyond them are left out. */
#define FX_ASYNC_OPEN_MAX 65536u

/* Ends that are held of a process, and words of them all; the ones that come then are left out. */
#define FX_ASYNC_HELD_MAX   16384u
#define FX_ASYNC_HELD_WORDS (UINT64_C(1) << 18)

/* A record of an async event as the archive has it but for its id; `header` is what the provider wrote. 1: it goes into the
 * archive, 0: it is held or left out, -ENOMEM. */
int fx_async_take(struct fx_rewriting *w, uint64_t header);

/* Nothing more comes: what is held is counted as lost. */
void fx_async_end(struct fx_stream *s);

#endif
