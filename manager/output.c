/* SPDX-License-Identifier: MIT */
#include "manager/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/fault.h"

/* Records are collected up to this many words before they are written. */
#define BUFFER_WORDS (2 * (size_t)FX_OUTPUT_RECORD_MAX)

/* Uncompressed bytes of one compressed member. */
#define MEMBER_BYTES (8u << 20)

#define COMPRESSED_SIZE (256u << 10)
#define GZIP_LEVEL	3
#define ZSTD_LEVEL	3

/* How long a full pipe is waited for before somebody looks whether there is a hurry. */
#define LOOK_PERIOD_MS 100

/* What the system takes from us, and whether it may keep us waiting. */
enum kind {
	KIND_OTHER,
	KIND_PIPE,
	KIND_SOCKET,
};

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
	enum kind kind;
	uint64_t patience; /* ns; set by other threads */
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

/* What the open descriptor is. */
static int look(struct fx_output *out)
{
	struct stat st;

	if (fstat(out->fd, &st) < 0)
		return -errno;
	out->can_cut = S_ISREG(st.st_mode);
	if (S_ISFIFO(st.st_mode))
		out->kind = KIND_PIPE;
	if (S_ISSOCK(st.st_mode))
		out->kind = KIND_SOCKET;
	return 0;
}

/* Opens the file as it is, makes it if need be. */
static int file_open(struct fx_output *out, const char *path)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;

	out->path = strdup(path);
	if (!out->path)
		return -ENOMEM;
	out->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
	out->made = out->fd >= 0;
	if (out->fd < 0 && errno == EEXIST)
		out->fd = open(path, flags);
	return out->fd < 0 ? -errno : look(out);
}

static int destination_open(struct fx_output *out, const char *path)
{
	int r;

	if (strcmp(path, "-") != 0)
		return file_open(out, path);
	/* A descriptor of our own: the program's standard output stays the program's. */
	out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	r = out->fd < 0 ? -errno : look(out);
	out->can_cut = false; /* others may have written before us */
	return r;
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
	int r = buffers_make(path, &out);

	if (r < 0)
		return r;
	out->fd = fd;
	r = look(out);
	if (r < 0) {
		output_free(out);
		return r;
	}
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

/* Waits until there is room. 0, or -ETIMEDOUT: nobody takes anything, and there is a hurry. */
static int wait_for_reader(struct fx_output *out)
{
	struct pollfd p = {.fd = out->fd, .events = POLLOUT};
	uint64_t since = fx_monotonic_ns(), hurried = 0;

	while (poll(&p, 1, LOOK_PERIOD_MS) <= 0) {
		/* Pairs with fx_output_set_patience(); nothing else depends on it. */
		uint64_t patience = fx_load_relaxed(&out->patience), now = fx_monotonic_ns();

		if (patience && !hurried)
			hurried = now > since ? now : since;
		if (!patience)
			hurried = 0;
		if (hurried && now - hurried >= patience)
			return -ETIMEDOUT;
	}
	return 0;
}

/* As write(), but whoever does not read is waited for as long as there is time. The descriptor's flags are
 * shared with others, so it stays as it is: what is at most PIPE_BUF finds room in a pipe that has any. */
static ssize_t write_some(struct fx_output *out, const void *data, size_t size)
{
	int r;

	if (out->kind == KIND_OTHER)
		return write(out->fd, data, size);
	r = wait_for_reader(out);
	if (r < 0) {
		errno = -r;
		return -1;
	}
	if (out->kind == KIND_PIPE)
		return write(out->fd, data, size < PIPE_BUF ? size : PIPE_BUF);
	return send(out->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void write_bytes(struct fx_output *out, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size && !out->error) {
		size_t part = FX_FAULT_IS_SET(archive_half) ? size / 2 + 1 : size;
		int fault = FX_FAULT(archive_write);
		ssize_t n = fault ? fault : write_some(out, at, part);

		if (fault)
			errno = -fault;
		if (n < 0 && (errno == EINTR || (errno == EAGAIN && out->kind != KIND_OTHER)))
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

void fx_output_set_patience(struct fx_output *out, uint64_t patience_ns)
{
	fx_store_relaxed(&out->patience, patience_ns); /* pairs with wait_for_reader() */
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
