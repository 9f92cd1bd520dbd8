/* SPDX-License-Identifier: MIT */
/*
 * Compression of an archive: a row of members that can be read each by itself, zstd's frames or gzip's.
 *
 * Where there is more than one processor, zstd compresses on threads of its own while the caller makes the next records;
 * what it has done is written by the caller, at its next call.
 */
#ifndef FX_MANAGER_COMPRESSOR_H
#define FX_MANAGER_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>

#include "manager/archive/destination.h"

struct fx_compressor;

/* What is asked of a compressor with some data. */
enum fx_ending {
	FX_END_NONE,   /* it may keep them */
	FX_END_MEMBER, /* with what it has kept, they are a member */
};

/* Takes compressed bytes; false: it is of no use to go on. */
typedef bool fx_compressor_write(void *to, const void *data, size_t size);

/* Without compression *ret is NULL. 0 or -ENOMEM. */
int fx_compressor_make(enum fx_compression format, struct fx_compressor **ret);

/* Compresses `size` bytes, which are the caller's again afterwards, and has `write` take what is ready. 0, or -EIO if the
 * compressor fails. */
int fx_compressor_put(struct fx_compressor *compressor, const void *data, size_t size,
		      enum fx_ending ending, fx_compressor_write *write, void *to);

/* Forgets what has not been written. */
void fx_compressor_free(struct fx_compressor *compressor);

#endif
