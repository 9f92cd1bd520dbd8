/* SPDX-License-Identifier: MIT */
/*
 * Two stages: a source that yields the bytes of a file, of memory or of a function, and a decoder on
 * top that turns them into plain ones. The decoder is chosen at the first read.
 */
#include "format/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define SOURCE_BUFFER_SIZE ((size_t)128 << 10)
#define DETECT_SIZE	   4

/* zlib reads a gzip header (and no other) at this window size. */
#define GZIP_WINDOW_BITS (15 + 16)

struct fx_input {
	/* Source */
	fxt_read_function *read; /* NULL: memory */
	void *opaque;
	int fd; /* -1: none */
	bool own_fd;
	bool growing;
	bool source_ended;
	uint64_t total;
	uint64_t done;
	uint8_t *buffer; /* not of memory */
	const uint8_t *next;
	size_t left; /* bytes at @next not taken yet */

	/* Decoder; NULL before the first read */
	ssize_t (*decode)(struct fx_input *input, uint8_t *out, size_t size);
	bool in_member; /* inside a gzip member or zstd frame */
	int error;	/* a decoder that failed is not called again */
	bool zlib_ready;
	z_stream zlib;
	ZSTD_DStream *zstd;
};

/* --- Source ---------------------------------------------------------------------------------- */

/* A descriptor's read function: read(2) past interruptions. */
static ssize_t read_descriptor(void *opaque, void *buffer, size_t size)
{
	const struct fx_input *in = opaque;
	ssize_t n;

	do {
		n = read(in->fd, buffer, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Bytes read; 0 at the end; -EAGAIN: none yet; or another error. */
static ssize_t source_read(struct fx_input *in, void *buffer, size_t size)
{
	ssize_t n;

	if (!in->read || in->source_ended)
		return 0;
	n = in->read(in->opaque, buffer, size);
	if (n > (ssize_t)size)
		return -EIO;
	if (n == 0 && in->growing)
		return -EAGAIN;
	if (n == 0)
		in->source_ended = true;
	if (n > 0)
		in->done += (uint64_t)n;
	return n;
}

/* Makes at least @want bytes available if the source has them. Returns 0 or -errno. */
static int source_fill(struct fx_input *in, size_t want)
{
	if (!in->read || in->left >= want)
		return 0;
	if (in->left)
		memmove(in->buffer, in->next, in->left);
	in->next = in->buffer;
	while (in->left < want && !in->source_ended) {
		ssize_t n = source_read(in, in->buffer + in->left, SOURCE_BUFFER_SIZE - in->left);

		if (n < 0)
			return (int)n;
		in->left += (size_t)n;
	}
	return 0;
}

static void source_take(struct fx_input *in, size_t n)
{
	in->next += n;
	in->left -= n;
	if (!in->read)
		in->done += n;
}

/* --- Decoders: bytes written to @out, 0 at the end, or a negative error ---------------------- */

static ssize_t decode_plain(struct fx_input *in, uint8_t *out, size_t size)
{
	size_t n = in->left < size ? in->left : size;

	if (n == 0)
		return source_read(in, out, size);
	memcpy(out, in->next, n);
	source_take(in, n);
	return (ssize_t)n;
}

/* One step of a decoder: *@ret bytes written. Returns 1: go on; 0: the end; or an error. */
static int step_gzip(struct fx_input *in, uint8_t *out, size_t size, size_t *ret)
{
	size_t before;
	int r = source_fill(in, 1);

	if (r < 0)
		return r;
	if (in->left == 0)
		return in->in_member ? -EPIPE : 0;
	if (!in->in_member) {
		if (inflateReset(&in->zlib) != Z_OK)
			return -EBADMSG;
		in->in_member = true;
	}
	before = in->left < UINT32_MAX ? in->left : UINT32_MAX;
	size = size < UINT32_MAX ? size : UINT32_MAX;
	in->zlib.next_in = (Bytef *)(uintptr_t)in->next;
	in->zlib.avail_in = (uInt)before;
	in->zlib.next_out = out;
	in->zlib.avail_out = (uInt)size;
	r = inflate(&in->zlib, Z_NO_FLUSH);
	source_take(in, before - in->zlib.avail_in);
	*ret = size - in->zlib.avail_out;
	if (r == Z_STREAM_END)
		in->in_member = false;
	else if (r == Z_MEM_ERROR)
		return -ENOMEM;
	else if (r != Z_OK && r != Z_BUF_ERROR && *ret == 0)
		return -EBADMSG;
	return 1;
}

static int step_zstd(struct fx_input *in, uint8_t *out, size_t size, size_t *ret)
{
	ZSTD_outBuffer output = {.dst = out, .size = size};
	ZSTD_inBuffer input;
	size_t hint;
	int r;

	/* What was taken in may not have come out yet. */
	r = in->left == 0 ? source_fill(in, 1) : 0;
	if (r < 0 && (r != -EAGAIN || !in->in_member))
		return r;
	input = (ZSTD_inBuffer){.src = in->next, .size = in->left};
	if (in->left == 0 && !in->in_member)
		return 0;
	hint = ZSTD_decompressStream(in->zstd, &output, &input);
	source_take(in, input.pos);
	*ret = output.pos;
	if (ZSTD_isError(hint))
		return -EBADMSG;
	in->in_member = hint != 0;
	if (output.pos > 0 || input.pos > 0 || !in->in_member)
		return 1;
	return r < 0 ? r : in->left == 0 ? -EPIPE : 1;
}

typedef int input_step(struct fx_input *in, uint8_t *out, size_t size, size_t *ret);

/* Steps until there is something. */
static ssize_t decode_steps(struct fx_input *in, uint8_t *out, size_t size, input_step *step)
{
	for (;;) {
		size_t n = 0;
		int r = step(in, out, size, &n);

		if (n > 0) {
			if (r < 0 && r != -EAGAIN)
				in->error = r;
			return (ssize_t)n;
		}
		if (r <= 0)
			return r;
	}
}

static ssize_t decode_gzip(struct fx_input *in, uint8_t *out, size_t size)
{
	return decode_steps(in, out, size, step_gzip);
}

static ssize_t decode_zstd(struct fx_input *in, uint8_t *out, size_t size)
{
	return decode_steps(in, out, size, step_zstd);
}

static int choose_decoder(struct fx_input *in)
{
	static const uint8_t gzip[] = {0x1f, 0x8b};
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	int r = source_fill(in, DETECT_SIZE);

	if (r < 0)
		return r;
	if (in->left >= sizeof(gzip) && memcmp(in->next, gzip, sizeof(gzip)) == 0) {
		if (inflateInit2(&in->zlib, GZIP_WINDOW_BITS) != Z_OK)
			return -ENOMEM;
		in->zlib_ready = true;
		in->decode = decode_gzip;
	} else if (in->left >= sizeof(zstd) && memcmp(in->next, zstd, sizeof(zstd)) == 0) {
		in->zstd = ZSTD_createDStream();
		if (!in->zstd)
			return -ENOMEM;
		in->decode = decode_zstd;
	} else {
		in->decode = decode_plain;
	}
	return 0;
}

/* --- Interface ------------------------------------------------------------------------------- */

ssize_t fx_input_read(struct fx_input *in, void *buffer, size_t size)
{
	uint8_t *out = buffer;
	size_t n = 0;

	if (!in->decode) {
		int r = choose_decoder(in);

		if (r < 0)
			return r;
	}
	while (n < size) {
		ssize_t r = in->error ? in->error : in->decode(in, out + n, size - n);

		if (r == -EAGAIN)
			return n > 0 ? (ssize_t)n : r;
		if (r < 0) {
			in->error = (int)r;
			return n > 0 ? (ssize_t)n : r;
		}
		if (r == 0)
			break;
		n += (size_t)r;
		/* What a pipe has not got yet may come late: it is not waited for. */
		if (in->read && in->total == 0)
			break;
	}
	return (ssize_t)n;
}

static int input_new(fxt_read_function *read, void *opaque, struct fx_input **ret)
{
	struct fx_input *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	in->read = read;
	in->opaque = opaque;
	in->fd = -1;
	if (read) {
		in->buffer = malloc(SOURCE_BUFFER_SIZE);
		if (!in->buffer) {
			free(in);
			return -ENOMEM;
		}
		in->next = in->buffer;
	}
	*ret = in;
	return 0;
}

int fx_input_open_fd(int fd, int own, struct fx_input **ret)
{
	struct stat st;
	int r;

	if (fd < 0)
		return -EBADF;
	r = input_new(read_descriptor, NULL, ret);
	if (r < 0)
		return r;
	(*ret)->opaque = *ret;
	(*ret)->fd = fd;
	(*ret)->own_fd = own;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		(*ret)->total = (uint64_t)st.st_size;
	return 0;
}

int fx_input_open_memory(const void *data, size_t size, struct fx_input **ret)
{
	int r = input_new(NULL, NULL, ret);

	if (r < 0)
		return r;
	(*ret)->next = data;
	(*ret)->left = size;
	(*ret)->total = size;
	return 0;
}

int fx_input_open_function(fxt_read_function *read, void *opaque, struct fx_input **ret)
{
	return read ? input_new(read, opaque, ret) : -EINVAL;
}

void fx_input_set_growing(struct fx_input *in, bool growing)
{
	in->growing = growing;
}

void fx_input_close(struct fx_input *in)
{
	if (!in)
		return;
	if (in->zlib_ready)
		inflateEnd(&in->zlib);
	ZSTD_freeDStream(in->zstd);
	if (in->own_fd)
		close(in->fd);
	free(in->buffer);
	free(in);
}

void fx_input_progress(const struct fx_input *in, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = in->done;
	*ret_total = in->total;
}
