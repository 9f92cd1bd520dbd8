/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "convert/sink.h"

enum {
	BUFFER_SIZE = 1 << 20,
	PACKED_SIZE = 1 << 17,
	GZIP_LEVEL = 6,
	ZSTD_LEVEL = 3,
};

struct fx_sink {
	int fd;
	gzFile gzip;	 /* NULL: not with gzip */
	ZSTD_CCtx *zstd; /* NULL: not with zstd */
	int error;
	uint64_t flushed;
	size_t used;
	size_t size;
	unsigned char *buffer;
	unsigned char packed[PACKED_SIZE]; /* of zstd */
};

static bool open_gzip(struct fx_sink *sink)
{
	char mode[] = "wb0";

	mode[2] = '0' + GZIP_LEVEL;
	sink->gzip = gzdopen(sink->fd, mode);
	return sink->gzip != NULL;
}

static bool open_zstd(struct fx_sink *sink)
{
	sink->zstd = ZSTD_createCCtx();
	return sink->zstd &&
	       !ZSTD_isError(
		   ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(sink->zstd, ZSTD_c_checksumFlag, 1));
}

static bool open_packing(struct fx_sink *sink, enum fx_packing packing)
{
	switch (packing) {
	case FX_PACKING_GZIP:
		return open_gzip(sink);
	case FX_PACKING_ZSTD:
		return open_zstd(sink);
	default:
		return true;
	}
}

int fx_sink_open(int fd, enum fx_packing packing, struct fx_sink **ret)
{
	struct fx_sink *sink = calloc(1, sizeof(*sink));

	if (!sink) {
		close(fd);
		return -ENOMEM;
	}
	sink->fd = fd;
	sink->size = BUFFER_SIZE;
	sink->buffer = malloc(sink->size);
	if (!sink->buffer || !open_packing(sink, packing)) {
		close(fd);
		ZSTD_freeCCtx(sink->zstd);
		free(sink->buffer);
		free(sink);
		return -ENOMEM;
	}
	*ret = sink;
	return 0;
}

static int gzip_errno(gzFile gzip)
{
	int code;

	gzerror(gzip, &code);
	return code == Z_ERRNO && errno != 0 ? -errno : -EIO;
}

static int sink_write_all(int fd, const unsigned char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int sink_write_zstd(struct fx_sink *sink, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = {.src = sink->buffer, .size = sink->used};
	size_t left;
	int r;

	do {
		ZSTD_outBuffer out = {.dst = sink->packed, .size = sizeof(sink->packed)};

		left = ZSTD_compressStream2(sink->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			return -EIO;
		r = sink_write_all(sink->fd, sink->packed, out.pos);
	} while (r == 0 && (directive == ZSTD_e_end ? left > 0 : in.pos < in.size));
	return r;
}

static void flush_buffer(struct fx_sink *sink)
{
	if (sink->used > 0 && sink->error == 0) {
		if (sink->zstd)
			sink->error = sink_write_zstd(sink, ZSTD_e_continue);
		else if (!sink->gzip)
			sink->error = sink_write_all(sink->fd, sink->buffer, sink->used);
		else if (gzwrite(sink->gzip, sink->buffer, (unsigned)sink->used) == 0)
			sink->error = gzip_errno(sink->gzip);
	}
	sink->flushed += sink->used;
	sink->used = 0;
}

unsigned char *fx_sink_reserve(struct fx_sink *sink, size_t size)
{
	unsigned char *larger;

	if (size > sink->size - sink->used)
		flush_buffer(sink);
	if (size > sink->size) {
		larger = realloc(sink->buffer, size);
		if (!larger)
			return NULL;
		sink->buffer = larger;
		sink->size = size;
	}
	return sink->buffer + sink->used;
}

void fx_sink_commit(struct fx_sink *sink, size_t size)
{
	sink->used += size;
}

void fx_sink_write(struct fx_sink *sink, const void *data, size_t size)
{
	unsigned char *place = fx_sink_reserve(sink, size);

	if (!place) {
		if (sink->error == 0)
			sink->error = -ENOMEM;
		return;
	}
	memcpy(place, data, size);
	fx_sink_commit(sink, size);
}

int fx_sink_error(const struct fx_sink *sink)
{
	return sink ? sink->error : 0;
}

uint64_t fx_sink_size(const struct fx_sink *sink)
{
	return sink->flushed + sink->used;
}

int fx_sink_close(struct fx_sink *sink)
{
	int error;

	if (!sink)
		return 0;
	flush_buffer(sink);
	if (sink->zstd && sink->error == 0)
		sink->error = sink_write_zstd(sink, ZSTD_e_end);
	error = sink->error;
	if (!sink->gzip) {
		if (close(sink->fd) < 0 && error == 0)
			error = -errno;
	} else {
		int code;

		errno = 0;
		code = gzclose(sink->gzip);
		if (code != Z_OK && error == 0)
			error = code == Z_ERRNO && errno != 0 ? -errno : -EIO;
	}
	ZSTD_freeCCtx(sink->zstd);
	free(sink->buffer);
	free(sink);
	return error;
}
