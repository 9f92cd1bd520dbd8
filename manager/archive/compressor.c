/* SPDX-License-Identifier: MIT */
#include "manager/archive/compressor.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define COMPRESSED_SIZE (256u << 10)
#define GZIP_LEVEL	3
#define ZSTD_LEVEL	3

/* A reader has to have so much memory, and one of a thousand archives (merge) a thousand times that: 256 KiB. */
#define ZSTD_WINDOW_LOG 18

/* Threads that compress; so many processors are left to the program and to the manager's own threads. */
#define ZSTD_WORKERS_MAX 3
#define PROCESSORS_LEFT	 1

/* Bytes that one of them compresses at a time: zstd hands out no less than 512 KiB. */
#define ZSTD_JOB_BYTES (1 << 20)

struct fx_compressor {
	enum fx_compression format;
	bool begun;
	z_stream gzip;
	ZSTD_CCtx *zstd;
	uint8_t compressed[COMPRESSED_SIZE];
};

/* How many threads may compress beside the one that calls: 0 on a single processor. */
static int zstd_workers(void)
{
	cpu_set_t set;
	int workers;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 0;
	workers = CPU_COUNT(&set) - PROCESSORS_LEFT;
	return workers < ZSTD_WORKERS_MAX ? workers : ZSTD_WORKERS_MAX;
}

static int zstd_make(struct fx_compressor *c)
{
	c->zstd = ZSTD_createCCtx();
	if (!c->zstd)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG);
	/* A library that was built without threads refuses, and compresses as it is called. */
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_nbWorkers, zstd_workers());
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_jobSize, ZSTD_JOB_BYTES);
	return 0;
}

int fx_compressor_make(enum fx_compression format, struct fx_compressor **ret)
{
	struct fx_compressor *c;
	int r;

	*ret = NULL;
	if (format == FX_COMPRESSION_NONE)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->format = format;
	if (format == FX_COMPRESSION_ZSTD)
		r = zstd_make(c);
	else /* 15 bits of window, 16: with a gzip header */
		r = deflateInit2(&c->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
				 Z_DEFAULT_STRATEGY) == Z_OK
			? 0
			: -ENOMEM;
	if (r < 0) {
		free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static int gzip_put(struct fx_compressor *c, const void *data, size_t size, enum fx_ending ending,
		    fx_compressor_write *write, void *to)
{
	static const int flush[] = {Z_NO_FLUSH, Z_FINISH};
	bool more;
	int r;

	c->gzip.next_in = (Bytef *)data;
	c->gzip.avail_in = (uInt)size;
	do {
		c->gzip.next_out = c->compressed;
		c->gzip.avail_out = COMPRESSED_SIZE;
		r = deflate(&c->gzip, flush[ending]);
		more = ending == FX_END_MEMBER ? r == Z_OK : c->gzip.avail_out == 0;
	} while (write(to, c->compressed, COMPRESSED_SIZE - c->gzip.avail_out) && more);
	if (ending == FX_END_MEMBER)
		deflateReset(&c->gzip);
	return 0;
}

/* The threads are made with the first data; where none can be had, it goes without. As ZSTD_compressStream2(). */
static size_t zstd_step(struct fx_compressor *c, ZSTD_outBuffer *ready, ZSTD_inBuffer *in,
			ZSTD_EndDirective directive)
{
	size_t left = ZSTD_compressStream2(c->zstd, ready, in, directive);

	if (ZSTD_isError(left) && !c->begun) {
		ZSTD_CCtx_reset(c->zstd, ZSTD_reset_session_only);
		ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_nbWorkers, 0);
		in->pos = 0;
		left = ZSTD_compressStream2(c->zstd, ready, in, directive);
	}
	c->begun = true;
	return left;
}

static int zstd_put(struct fx_compressor *c, const void *data, size_t size, enum fx_ending ending,
		    fx_compressor_write *write, void *to)
{
	static const ZSTD_EndDirective directive[] = {ZSTD_e_continue, ZSTD_e_end};
	ZSTD_inBuffer in = {.src = data, .size = size};
	ZSTD_outBuffer ready;
	size_t left;

	do {
		ready = (ZSTD_outBuffer){.dst = c->compressed, .size = COMPRESSED_SIZE};
		left = zstd_step(c, &ready, &in, directive[ending]);
		if (ZSTD_isError(left))
			return -EIO;
	} while (write(to, c->compressed, ready.pos) &&
		 (ending != FX_END_NONE ? left > 0 : in.pos < in.size));
	return 0;
}

int fx_compressor_put(struct fx_compressor *c, const void *data, size_t size, enum fx_ending ending,
		      fx_compressor_write *write, void *to)
{
	if (c->format == FX_COMPRESSION_GZIP)
		return gzip_put(c, data, size, ending, write, to);
	return zstd_put(c, data, size, ending, write, to);
}

void fx_compressor_free(struct fx_compressor *c)
{
	if (!c)
		return;
	if (c->format == FX_COMPRESSION_GZIP)
		deflateEnd(&c->gzip);
	ZSTD_freeCCtx(c->zstd);
	free(c);
}
