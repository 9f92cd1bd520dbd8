/* SPDX-License-Identifier: MIT */
/* What open calls were called with, as their provider has stashed it (struct fx_stash of engine/layout.h). */
#ifndef FX_MANAGER_STASHED_H
#define FX_MANAGER_STASHED_H

#include <stddef.h>
#include <stdint.h>

#include "manager/archive/stream.h"

/* Room for texts that have to be escaped. */
struct fx_stashed_room {
	size_t used;
	char text[4096];
};

/* Keeps what a piece says, for the frames that come next. */
void fx_stashed_keep(struct fx_stream *s, const uint64_t *words, size_t count);

/* Adds the arguments of frame `index' to its call's record; `room' is theirs until that is written. */
void fx_stashed_add(struct fx_stream *s, size_t index, const struct fx_frame *frame,
		    struct fx_stashed_room *room, struct fxt_record *record);

/* The frames are told. */
void fx_stashed_forget(struct fx_stream *s);

#endif
