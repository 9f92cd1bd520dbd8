/* SPDX-License-Identifier: MIT */
#include "format/outlet.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define OUTLET_BUFFER_SIZE ((size_t)64 << 10)

#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_MEMORY	 8

struct fx_outlet {
	fxt_write_function *write;
	void *opaque;
	int fd;
	bool own_fd;
	int error; /* the first */
	enum fxt_compression compression;
	z_stream zlib;
	ZSTD_CStream *zstd;
	size_t filled; /* plain bytes, or what a compressor made of them */
	uint8_t buffer[OUTLET_BUFFER_SIZE];
};

/* --- Output ------------------------------------------------------------------------------------ */

static ssize_t write_descriptor(void *opaque, const void *data, size_t size)
{
	const struct fx_outlet *outlet = opaque;
	ssize_t n;

	do {
		n = write(outlet->fd, data, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int outlet_put(struct fx_outlet *outlet, const uint8_t *data, size_t size)
{
	while (size > 0 && outlet->error == 0) {
		ssize_t n = outlet->write(outlet->opaque, data, size);

		if (n <= 0 || n > (ssize_t)size) {
			outlet->error = n < 0 ? (int)n : -EIO;
		} else {
			data += n;
			size -= (size_t)n;
		}
	}
	return outlet->error;
}

static int outlet_put_buffer(struct fx_outlet *outlet)
{
	size_t filled = outlet->filled;

	outlet->filled = 0;
	return outlet_put(outlet, outlet->buffer, filled);
}

/* --- Compressors: take all of @data, and put out what they must ---------------------------------- */

enum outlet_end { OUTLET_GOES_ON, OUTLET_FLUSH, OUTLET_END };

static void outlet_deflate(struct fx_outlet *outlet, const void *data, size_t size,
			   enum outlet_end end)
{
	static const int modes[] = {
	    [OUTLET_GOES_ON] = Z_NO_FLUSH, [OUTLET_FLUSH] = Z_SYNC_FLUSH, [OUTLET_END] = Z_FINISH};
	const uint8_t *next = data;
	bool again;

	do {
		size_t part = size < UINT32_MAX ? size : UINT32_MAX;
		int r;

		outlet->zlib.next_in = (Bytef *)(uintptr_t)next;
		outlet->zlib.avail_in = (uInt)part;
		outlet->zlib.next_out = outlet->buffer + outlet->filled;
		outlet->zlib.avail_out = (uInt)(OUTLET_BUFFER_SIZE - outlet->filled);
		r = deflate(&outlet->zlib, part == size ? modes[end] : Z_NO_FLUSH);
		next += part - outlet->zlib.avail_in;
		size -= part - outlet->zlib.avail_in;
		outlet->filled = OUTLET_BUFFER_SIZE - outlet->zlib.avail_out;
		if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
			outlet->error = -EIO;
		again = size > 0 || outlet->zlib.avail_out == 0;
		if (outlet->zlib.avail_out == 0)
			outlet_put_buffer(outlet);
	} while (again && outlet->error == 0);
}

static void outlet_compress_zstd(struct fx_outlet *outlet, const void *data, size_t size,
				 enum outlet_end end)
{
	static const ZSTD_EndDirective modes[] = {[OUTLET_GOES_ON] = ZSTD_e_continue,
						  [OUTLET_FLUSH] = ZSTD_e_flush,
						  [OUTLET_END] = ZSTD_e_end};
	ZSTD_inBuffer in = {.src = data, .size = size};
	bool again;

	do {
		ZSTD_outBuffer out = {
		    .dst = outlet->buffer, .size = OUTLET_BUFFER_SIZE, .pos = outlet->filled};
		size_t left = ZSTD_compressStream2(outlet->zstd, &out, &in, modes[end]);

		outlet->filled = out.pos;
		if (ZSTD_isError(left)) {
			outlet->error = -EIO;
			return;
		}
		again = in.pos < in.size || (end != OUTLET_GOES_ON && left > 0);
		if (outlet->filled == OUTLET_BUFFER_SIZE)
			outlet_put_buffer(outlet);
	} while (again && outlet->error == 0);
}

static void outlet_copy(struct fx_outlet *outlet, const uint8_t *data, size_t size)
{
	if (size > OUTLET_BUFFER_SIZE - outlet->filled)
		outlet_put_buffer(outlet);
	if (size > OUTLET_BUFFER_SIZE) {
		outlet_put(outlet, data, size);
		return;
	}
	memcpy(outlet->buffer + outlet->filled, data, size);
	outlet->filled += size;
}

static int outlet_take(struct fx_outlet *outlet, const void *data, size_t size, enum outlet_end end)
{
	if (outlet->error == 0 && outlet->compression == FXT_COMPRESSION_GZIP)
		outlet_deflate(outlet, data, size, end);
	else if (outlet->error == 0 && outlet->compression == FXT_COMPRESSION_ZSTD)
		outlet_compress_zstd(outlet, data, size, end);
	else if (outlet->error == 0 && size > 0)
		outlet_copy(outlet, data, size);
	if (end != OUTLET_GOES_ON)
		outlet_put_buffer(outlet);
	return outlet->error;
}

/* --- Interface --------------------------------------------------------------------------------- */

static int outlet_new(fxt_write_function *write, void *opaque, struct fx_outlet **ret)
{
	struct fx_outlet *outlet = calloc(1, sizeof(*outlet));

	if (!outlet)
		return -ENOMEM;
	outlet->write = write;
	outlet->opaque = opaque;
	outlet->fd = -1;
	*ret = outlet;
	return 0;
}

int fx_outlet_open_fd(int fd, bool own, struct fx_outlet **ret)
{
	int r;

	if (fd < 0)
		return -EBADF;
	r = outlet_new(write_descriptor, NULL, ret);
	if (r < 0)
		return r;
	(*ret)->opaque = *ret;
	(*ret)->fd = fd;
	(*ret)->own_fd = own;
	return 0;
}

int fx_outlet_open_function(fxt_write_function *write, void *opaque, struct fx_outlet **ret)
{
	return write ? outlet_new(write, opaque, ret) : -EINVAL;
}

static void outlet_end_compression(struct fx_outlet *outlet)
{
	if (outlet->compression == FXT_COMPRESSION_GZIP)
		deflateEnd(&outlet->zlib);
	ZSTD_freeCStream(outlet->zstd);
	outlet->zstd = NULL;
	outlet->compression = FXT_COMPRESSION_NONE;
}

static int outlet_begin_gzip(struct fx_outlet *outlet, int level)
{
	outlet->zlib = (z_stream){0};
	switch (deflateInit2(&outlet->zlib, level ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			     GZIP_WINDOW_BITS, GZIP_MEMORY, Z_DEFAULT_STRATEGY)) {
	case Z_OK:
		return 0;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EINVAL;
	}
}

static int outlet_begin_zstd(struct fx_outlet *outlet, int level)
{
	outlet->zstd = ZSTD_createCStream();
	if (!outlet->zstd)
		return -ENOMEM;
	if (level &&
	    ZSTD_isError(ZSTD_CCtx_setParameter(outlet->zstd, ZSTD_c_compressionLevel, level)))
		return -EINVAL;
	return 0;
}

int fx_outlet_compress(struct fx_outlet *outlet, enum fxt_compression compression, int level)
{
	int r = -EINVAL;

	outlet_end_compression(outlet);
	if (compression == FXT_COMPRESSION_NONE)
		r = 0;
	else if (compression == FXT_COMPRESSION_GZIP)
		r = outlet_begin_gzip(outlet, level);
	else if (compression == FXT_COMPRESSION_ZSTD)
		r = outlet_begin_zstd(outlet, level);
	if (r == 0)
		outlet->compression = compression;
	return r;
}

int fx_outlet_write(struct fx_outlet *outlet, const void *data, size_t size)
{
	return outlet_take(outlet, data, size, OUTLET_GOES_ON);
}

int fx_outlet_flush(struct fx_outlet *outlet)
{
	return outlet_take(outlet, "", 0, OUTLET_FLUSH);
}

int fx_outlet_close(struct fx_outlet *outlet)
{
	int error = outlet_take(outlet, "", 0, OUTLET_END);

	outlet_end_compression(outlet);
	if (outlet->own_fd && close(outlet->fd) < 0 && error == 0)
		error = -errno;
	free(outlet);
	return error;
}
