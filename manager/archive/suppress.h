/* SPDX-License-Identifier: MIT */
/*
 * A provider's calls of functions, where such are looked for that drown the others (crowd.h).
 */
#ifndef FX_MANAGER_SUPPRESS_H
#define FX_MANAGER_SUPPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "manager/archive/stream.h"

/* A call of a function, by the reference to its name, that goes into the archive. */
void fx_suppress_note(struct fx_stream *s, struct fx_stream_thread *t, uint32_t ref, uint64_t start,
		      uint64_t end);

/* The record of one that does not, since the function is left out. */
void fx_suppress_count(struct fx_stream *s, uint32_t ref, const uint64_t *words, size_t size);

#endif
