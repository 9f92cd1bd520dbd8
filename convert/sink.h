/* SPDX-License-Identifier: MIT */
/*
 * Where a conversion is written: a buffer before a descriptor, packed or not. The first
 * error stays, later output is thrown away, and fx_sink_close() reports it.
 */
#ifndef FX_CONVERT_SINK_H
#define FX_CONVERT_SINK_H

#include <stddef.h>
#include <stdint.h>

struct fx_sink;

enum fx_packing { FX_PACKING_NONE, FX_PACKING_GZIP, FX_PACKING_ZSTD };

/* The descriptor is taken over, also on failure. Returns 0 or -errno. */
int fx_sink_open(int fd, enum fx_packing packing, struct fx_sink **ret);

void fx_sink_write(struct fx_sink *sink, const void *data, size_t size);

/* @size bytes to write to; fx_sink_commit() says how many of them count. */
unsigned char *fx_sink_reserve(struct fx_sink *sink, size_t size);
void fx_sink_commit(struct fx_sink *sink, size_t size);

/* The first error: 0 or -errno. NULL: 0. */
int fx_sink_error(const struct fx_sink *sink);

/* Bytes written so far, before compression. */
uint64_t fx_sink_size(const struct fx_sink *sink);

/* Writes what is left and closes the descriptor. Returns 0 or the first error. NULL: 0. */
int fx_sink_close(struct fx_sink *sink);

#endif
