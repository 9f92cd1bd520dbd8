/* SPDX-License-Identifier: MIT */
/*
 * Rows of records, as chunks and the durable area hold them. Complete events without arguments, which most records are,
 * are rewritten on their way into the output; the rest in a scratch copy, so that strings they need can be written
 * first.
 */
#ifndef FX_MANAGER_ROWS_H
#define FX_MANAGER_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "manager/archive/stream.h"

/* How many words have been taken, those that were done before among them; fewer than there are: a name is being read. */
size_t fx_rows_chunk(struct fx_stream *s, const struct fx_piece *piece, const uint64_t *words,
		     size_t done);
size_t fx_rows_durable(struct fx_stream *s, const uint64_t *words, size_t count);

#endif
