/* SPDX-License-Identifier: MIT */
#include "manager/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fxtrace/format.h>

#include "base/compiler.h"
#include "base/fault.h"

/* Records are collected up to this many words before they are written. */
#define BUFFER_WORDS (2 * (size_t)FX_OUTPUT_RECORD_MAX)

/* Uncompressed bytes of one compressed member. */
#define MEMBER_BYTES (8u << 20)

#define COMPRESSED_SIZE (256u << 10)
#define GZIP_LEVEL	3
#define ZSTD_LEVEL	3

enum format {
	FORMAT_PLAIN,
	FORMAT_GZIP,
	FORMAT_ZSTD,
};

struct fx_output {
	int fd;
	char *path; /* NULL for standard output */
	bool made;  /* the file did not exist before */
	bool begun;
	bool can_cut; /* a regular file */
	enum format format;
	int error;	/* the first one, negative */
	uint64_t bytes; /* committed */
	uint64_t size;	/* in the file, whole records or members and what follows them */
	uint64_t whole; /* in the file, whole records or members */
	uint64_t member_bytes;
	size_t used; /* words in `buffer` */
	uint64_t *buffer;
	uint8_t *compressed;
	z_stream gzip;
	ZSTD_CCtx *zstd;
};

static bool has_suffix(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n >= m && strcmp(text + n - m, suffix) == 0;
}

static enum format format_of(const char *path)
{
	if (has_suffix(path, ".gz"))
		return FORMAT_GZIP;
	if (has_suffix(path, ".zst"))
		return FORMAT_ZSTD;
	return FORMAT_PLAIN;
}

static int compressor_open(struct fx_output *out)
{
	if (out->format == FORMAT_PLAIN)
		return 0;
	out->compressed = malloc(COMPRESSED_SIZE);
	if (!out->compressed)
		return -ENOMEM;
	if (out->format == FORMAT_ZSTD) {
		out->zstd = ZSTD_createCCtx();
		if (!out->zstd)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_checksumFlag, 1);
		return 0;
	}
	/* 15 bits of window, 16: with a gzip header */
	if (deflateInit2(&out->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	return 0;
}

static void output_free(struct fx_output *out)
{
	if (out->format == FORMAT_GZIP && out->compressed)
		deflateEnd(&out->gzip);
	ZSTD_freeCCtx(out->zstd);
	free(out->compressed);
	free(out->buffer);
	free(out->path);
	free(out);
}

/* Opens the file as it is, makes it if need be. */
static int file_open(struct fx_output *out, const char *path)
{
	struct stat st;
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;

	out->path = strdup(path);
	if (!out->path)
		return -ENOMEM;
	out->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
	out->made = out->fd >= 0;
	if (out->fd < 0 && errno == EEXIST)
		out->fd = open(path, flags);
	if (out->fd < 0)
		return -errno;
	if (fstat(out->fd, &st) < 0)
		return -errno;
	out->can_cut = S_ISREG(st.st_mode);
	return 0;
}

static int destination_open(struct fx_output *out, const char *path)
{
	if (strcmp(path, "-") != 0)
		return file_open(out, path);
	/* A descriptor of our own: the program's standard output stays the program's. */
	out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return out->fd < 0 ? -errno : 0;
}

static int buffers_make(const char *path, struct fx_output **ret)
{
	struct fx_output *out = calloc(1, sizeof(*out));
	int r = -ENOMEM;

	if (!out)
		return r;
	out->fd = -1;
	out->format = format_of(path);
	out->buffer = malloc(BUFFER_WORDS * sizeof(*out->buffer));
	if (out->buffer)
		r = compressor_open(out);
	if (r < 0) {
		output_free(out);
		return r;
	}
	*ret = out;
	return 0;
}

int fx_output_open(const char *path, struct fx_output **ret)
{
	struct fx_output *out;
	int r = buffers_make(path, &out);

	if (r < 0)
		return r;
	r = destination_open(out, path);
	if (r < 0) {
		if (out->made)
			unlink(out->path);
		if (out->fd >= 0)
			close(out->fd);
		output_free(out);
		return r;
	}
	*ret = out;
	return 0;
}

int fx_output_adopt(int fd, const char *path, struct fx_output **ret)
{
	struct fx_output *out;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = buffers_make(path, &out);
	if (r < 0)
		return r;
	out->fd = fd;
	out->can_cut = S_ISREG(st.st_mode);
	*ret = out;
	return 0;
}

int fx_output_begin(struct fx_output *out)
{
	if (out->can_cut && ftruncate(out->fd, 0) < 0)
		return -errno;
	out->begun = true;
	return 0;
}

/* Bytes of whole records among the first `size` bytes of the buffer. */
static uint64_t whole_records(const struct fx_output *out, uint64_t size)
{
	uint64_t words = size / FXT_WORD_SIZE, at = 0;

	while (at < words) {
		uint64_t header = out->buffer[at];
		uint64_t next = FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE
				    ? FXT_GET(header, LARGE_SIZE)
				    : FXT_GET(header, RECORD_SIZE);

		if (next == 0 || next > words - at)
			break;
		at += next;
	}
	return at * FXT_WORD_SIZE;
}

/* Remembers the first error, and takes back what is not whole. */
static void output_fail(struct fx_output *out, int error)
{
	if (out->error)
		return;
	out->error = error;
	if (out->format == FORMAT_PLAIN)
		out->whole += whole_records(out, out->size - out->whole);
	/* If even this fails, readers still take every record up to the broken one. */
	if (out->can_cut && ftruncate(out->fd, (off_t)out->whole) == 0)
		out->size = out->whole;
}

static void write_bytes(struct fx_output *out, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size && !out->error) {
		size_t part = FX_FAULT_IS_SET(archive_half) ? size / 2 + 1 : size;
		int fault = FX_FAULT(archive_write);
		ssize_t n = fault ? fault : write(out->fd, at, part);

		if (fault)
			errno = -fault;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			output_fail(out, n < 0 ? -errno : -EIO);
			return;
		}
		FX_FAULT(archive_half);
		at += n;
		size -= (size_t)n;
		out->size += (uint64_t)n;
	}
}

static void gzip_write(struct fx_output *out, const void *data, size_t size, bool end)
{
	int r;

	out->gzip.next_in = (Bytef *)data;
	out->gzip.avail_in = (uInt)size;
	do {
		out->gzip.next_out = out->compressed;
		out->gzip.avail_out = COMPRESSED_SIZE;
		r = deflate(&out->gzip, end ? Z_FINISH : Z_NO_FLUSH);
		write_bytes(out, out->compressed, COMPRESSED_SIZE - out->gzip.avail_out);
	} while (!out->error && (end ? r == Z_OK : out->gzip.avail_in > 0));
	if (end)
		deflateReset(&out->gzip);
}

static void zstd_write(struct fx_output *out, const void *data, size_t size, bool end)
{
	ZSTD_inBuffer in = {.src = data, .size = size};
	size_t left;

	do {
		ZSTD_outBuffer to = {.dst = out->compressed, .size = COMPRESSED_SIZE};

		left =
		    ZSTD_compressStream2(out->zstd, &to, &in, end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			output_fail(out, -EIO);
			return;
		}
		write_bytes(out, out->compressed, to.pos);
	} while (!out->error && (end ? left > 0 : in.pos < in.size));
}

static void member_write(struct fx_output *out, const void *data, size_t size, bool end)
{
	if (out->format == FORMAT_GZIP)
		gzip_write(out, data, size, end);
	else
		zstd_write(out, data, size, end);
	out->member_bytes += size;
	if (end && !out->error) {
		out->member_bytes = 0;
		out->whole = out->size;
	}
}

/* Empties the buffer into the file. */
static void buffer_drain(struct fx_output *out)
{
	size_t size = out->used * sizeof(*out->buffer);

	out->used = 0;
	if (out->error || size == 0)
		return;
	if (out->format != FORMAT_PLAIN) {
		member_write(out, out->buffer, size, out->member_bytes + size >= MEMBER_BYTES);
		return;
	}
	write_bytes(out, out->buffer, size);
	if (!out->error)
		out->whole = out->size;
}

uint64_t *fx_output_reserve(struct fx_output *out, size_t words)
{
	if (fx_unlikely(BUFFER_WORDS - out->used < words))
		buffer_drain(out);
	return out->buffer + out->used;
}

void fx_output_commit(struct fx_output *out, size_t words)
{
	out->used += words;
	out->bytes += words * sizeof(*out->buffer);
}

int fx_output_flush(struct fx_output *out)
{
	buffer_drain(out);
	return out->error;
}

int fx_output_complete(struct fx_output *out)
{
	buffer_drain(out);
	if (out->member_bytes && !out->error)
		member_write(out, NULL, 0, true);
	return out->error;
}

int fx_output_error(const struct fx_output *out)
{
	return out->error;
}

uint64_t fx_output_bytes(const struct fx_output *out)
{
	return out->bytes;
}

int fx_output_close(struct fx_output *out, uint64_t *ret_size)
{
	int error;

	buffer_drain(out);
	if (out->member_bytes && !out->error)
		member_write(out, NULL, 0, true);
	if (close(out->fd) < 0 && !out->error)
		out->error = -errno;
	if (out->made && !out->begun)
		unlink(out->path);
	error = out->error;
	if (ret_size)
		*ret_size = out->size;
	output_free(out);
	return error;
}
