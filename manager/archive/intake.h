/* SPDX-License-Identifier: MIT */
/* Where the pieces of a provider's buffer come into the archive (stream.h). */
#ifndef FX_MANAGER_INTAKE_H
#define FX_MANAGER_INTAKE_H

#include "manager/archive/stream.h"

/*
 * Takes one piece, whose first `done` bytes were taken before; `data` is aligned to 8 bytes. `end_ticks` is for open calls.
 * Returns how many bytes have been taken. If they are fewer than the piece has, a name is being read: the rest is to be
 * offered when fx_stream_is_ready().
 */
size_t fx_intake_piece(struct fx_stream *s, const struct fx_piece *piece, const void *data,
		       size_t done, uint64_t end_ticks);

/* The same of open calls that were looked at while the provider went on (scope.h); and then, that this was all of them, and
 * when it was. */
size_t fx_intake_look(struct fx_stream *s, const struct fx_piece *piece, const void *data);
void fx_intake_looked(struct fx_stream *s, uint64_t ticks);

/* What is to be said last. Then only the counts are of use. */
void fx_intake_finish(struct fx_stream *s, const struct fx_stream_end *end);

#endif
