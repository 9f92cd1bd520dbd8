/* SPDX-License-Identifier: MIT */
/*
 * Ends of arrows that programs draw stand in a slice of their thread: one that a viewer finds in none is an error to it, or
 * belongs to a slice that has ended. Whether one does is known late, as durations are recorded when they end:
 *
 *	flow at 5, in a begun slice	is written
 *	flow at 5			is held
 *	call from 3 to 9 of the thread	is written, then the flow
 *	the thread, or all, ends	an instant of the flow's name at 5 is written, then the flow
 *
 * There is room for so many; then the oldest of the thread has its instant, be it in a call or not.
 */
#ifndef FX_MANAGER_LOOSE_FLOWS_H
#define FX_MANAGER_LOOSE_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/loose.h"
#include "manager/archive/rewriting.h"

/* Flows that are held of a thread, and of a process, and words of them all. */
#define FX_LOOSE_THREAD 256u
#define FX_LOOSE_MAX	16384u
#define FX_LOOSE_WORDS	(UINT64_C(1) << 18)

/* A flow of a thread, as the archive has it; `header` is what the provider wrote. 1: it goes into the archive now, 0: it is
 * held, or was written here; or -errno. */
int fx_loose_take(struct fx_rewriting *w, uint64_t header);

/* A call has been written, or a thread is no more (s->loose_is_due): the flows in the call are written, and what is left of
 * such threads has its instants. The stream's part of the archive is selected. */
void fx_loose_settle(struct fx_stream *s);

/* --- For what holds flows in its own way ------------------------------------------------------ */

/* Whether a record of so many words more can be held. */
bool fx_loose_has_room(const struct fx_stream *s, const struct fx_loose *loose, int size);

/* Holds a copy of it; 0 or -ENOMEM. */
int fx_loose_hold(struct fx_stream *s, struct fx_loose *loose, uint64_t ns,
		  struct fx_held_record record);

/* Forgets one that is held; its place is the caller's to take away. */
void fx_loose_free(struct fx_stream *s, struct fx_loose_flow *flow);

/* Write it as it is, and behind an instant that it can stand in. */
void fx_loose_write(struct fx_stream *s, const struct fx_held_record *held);
void fx_loose_write_anchored(struct fx_stream *s, const struct fx_held_record *held);

#endif
