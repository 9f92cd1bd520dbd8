/* SPDX-License-Identifier: MIT */
/*
 * Records of any size. What fits a chunk is written there as it is; what is larger goes into the buffer
 * in fragments, one or more chunks long, each a record of its own. The manager puts them together when the
 * last is there, so that an archive has the whole record or nothing of it.
 *
 * Fragments may lie in different chunks, and a chunk's own strings mean nothing in the next: a record that
 * may be written in fragments refers to strings by indices of the whole process, or has them inline.
 *
 * For what brings a payload: a program's own blobs and logs. What libfxtrace.so writes by itself is bounded, and fits.
 */
#ifndef FX_ENGINE_FRAGMENTS_H
#define FX_ENGINE_FRAGMENTS_H

#include <stddef.h>

#include "engine/provider/engine.h"

/*
 * Writes a record. `head` is the record up to its payload, its first word a header without size;
 * `payload` is `size` bytes that follow, padded with zeros to a word. Large records (type 15) may have
 * FX_LARGEST_RECORD bytes in all, others as many as their size field can say.
 *
 * 0; -E2BIG: too large; -ENOSPC: no room. A record that is not written is lost as a whole, and counted.
 */
int fx_record_write(struct fx_thread *t, const uint64_t *head, unsigned head_words,
		    const void *payload, size_t size);

#endif
