/* SPDX-License-Identifier: MIT */
#include "manager/archive/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fxtrace/format.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/fault.h"
#include "lists/vector.h"
#include "manager/archive/compressor.h"
#include "manager/archive/destination.h"

/* Records are collected up to this many words before they are written, so that the same pages, and a part of the cache, are
 * filled again and again. The room for a large record behind them is not touched without one. */
#define DRAIN_WORDS  ((size_t)16 << 10)
#define BUFFER_WORDS (DRAIN_WORDS + (size_t)FX_OUTPUT_RECORD_MAX)

/* Uncompressed bytes of one compressed member, at most. */
#define MEMBER_BYTES (8u << 20)

/* What was given to the compressor may be in it alone for so long. */
#define HOLD_NS UINT64_C(250000000)

/* How long a full pipe is waited for before somebody looks whether there is a hurry. */
#define LOOK_PERIOD_MS 100

/* What the system takes from us, and whether it may keep us waiting. */
enum kind {
	KIND_OTHER,
	KIND_PIPE,
	KIND_SOCKET,
};

struct fx_output {
	int fd;
	struct fx_destination destination; /* zero: the descriptor was passed */
	bool begun;
	bool kept;    /* it is whole */
	bool can_cut; /* a regular file */
	enum kind kind;
	uint64_t patience;		  /* ns; set by other threads */
	struct fx_compressor *compressor; /* NULL: the archive is plain */
	FX_VECTOR(uint8_t) packed;	  /* by it, of the member that is begun */
	int error;			  /* the first one, negative */
	uint64_t bytes;			  /* committed */
	uint64_t size;	/* in the file, whole records or members and what follows them */
	uint64_t whole; /* in the file, whole records or members */
	uint64_t member_bytes;
	uint64_t held_since; /* CLOCK_MONOTONIC ns: the compressor has data from then; 0 none */
	size_t used;	     /* words in `buffer` */
	bool holds;	     /* in memory alone */
	size_t room;	     /* words of the buffer */
	uint64_t *buffer;
};

static void output_free(struct fx_output *out)
{
	fx_compressor_free(out->compressor);
	fx_vector_free(&out->packed);
	free(out->buffer);
	fx_destination_destroy(&out->destination);
	free(out);
}

/* What the open descriptor is. */
static int output_look(struct fx_output *out)
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

static int buffers_make(const char *path, struct fx_output **ret)
{
	enum fx_compression format = fx_compression_of(path);
	struct fx_output *out;
	int r = -ENOMEM;

	if (format == FX_COMPRESSION_UNKNOWN)
		return -EINVAL;
	out = calloc(1, sizeof(*out));
	if (!out)
		return r;
	out->fd = -1;
	out->room = BUFFER_WORDS;
	out->buffer = malloc(BUFFER_WORDS * sizeof(*out->buffer));
	if (out->buffer)
		r = fx_compressor_make(format, &out->compressor);
	if (r < 0) {
		output_free(out);
		return r;
	}
	*ret = out;
	return 0;
}

static int output_open(const char *path, bool whole, struct fx_output **ret)
{
	struct fx_output *out;
	int r = buffers_make(path, &out);

	if (r < 0)
		return r;
	r = (whole ? fx_destination_open_whole : fx_destination_open)(path, false,
								      &out->destination);
	if (r < 0) {
		output_free(out);
		return r;
	}
	out->fd = out->destination.fd;
	r = output_look(out);
	if (r < 0) {
		if (out->destination.made)
			fx_destination_remove(&out->destination);
		close(out->fd);
		output_free(out);
		return r;
	}
	if (out->destination.standard)
		out->can_cut = false;
	*ret = out;
	return 0;
}

int fx_output_open(const char *path, struct fx_output **ret)
{
	return output_open(path, false, ret);
}

int fx_output_open_whole(const char *path, struct fx_output **ret)
{
	return output_open(path, true, ret);
}

int fx_output_adopt(int fd, const char *path, struct fx_output **ret)
{
	struct fx_output *out;
	int r = isatty(fd) ? -ENOTTY : buffers_make(path, &out);

	if (r < 0)
		return r;
	out->fd = fd;
	r = output_look(out);
	if (r < 0) {
		output_free(out);
		return r;
	}
	*ret = out;
	return 0;
}

int fx_output_begin(struct fx_output *out)
{
	if (out->destination.path)
		fx_destination_begin(&out->destination);
	if (out->can_cut && ftruncate(out->fd, 0) < 0) {
		out->error = -errno; /* which fx_output_close() tells, too */
		return out->error;
	}
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
	if (!out->compressor)
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

/* As write(), but a reader that does not read is waited for as long as there is time. The descriptor's flags are
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

/* Members end where records do. One that is begun would be cut for whoever reads the file once we are killed, so it is kept here
 * until it is whole; it was in memory, in front of the compressor, for most of that time anyway (HOLD_NS). */
static bool packed_keep(void *to, const void *data, size_t size)
{
	struct fx_output *out = to;

	if (fx_vector_reserve(&out->packed, size) < 0) {
		output_fail(out, -ENOMEM);
		return false;
	}
	if (size)
		memcpy(out->packed.items + out->packed.count, data, size);
	out->packed.count += size;
	return true;
}

static void member_write(struct fx_output *out, const void *data, size_t size,
			 enum fx_ending ending)
{
	int r = fx_compressor_put(out->compressor, data, size, ending, packed_keep, out);

	if (r < 0)
		output_fail(out, r);
	out->member_bytes += size;
	if (ending == FX_END_NONE) {
		if (!out->held_since)
			out->held_since = fx_monotonic_ns();
		return;
	}
	out->held_since = 0;
	write_bytes(out, out->packed.items, out->packed.count);
	out->packed.count = 0;
	if (!out->error) {
		out->member_bytes = 0;
		out->whole = out->size;
	}
}

static enum fx_ending ending_for(const struct fx_output *out, size_t size)
{
	if (out->member_bytes + size >= MEMBER_BYTES)
		return FX_END_MEMBER;
	return fx_output_rest(out) ? FX_END_NONE : FX_END_MEMBER;
}

/* Empties the buffer into the file. */
static void buffer_drain(struct fx_output *out)
{
	size_t size = out->used * sizeof(*out->buffer);

	out->used = 0;
	if (out->error || size == 0)
		return;
	if (out->compressor) {
		member_write(out, out->buffer, size, ending_for(out, size));
		return;
	}
	write_bytes(out, out->buffer, size);
	if (!out->error)
		out->whole = out->size;
}

/* --- What is held in memory ------------------------------------------------------------------- */

int fx_output_hold(struct fx_output **ret)
{
	int r = buffers_make("-", ret);

	if (r == 0)
		(*ret)->holds = true;
	return r;
}

/* Beyond what is asked for there is always room for one record more, which goes nowhere once there is no memory. */
static void held_grow(struct fx_output *out)
{
	size_t room = 2 * out->room;
	uint64_t *buffer = out->error ? NULL : realloc(out->buffer, room * sizeof(*buffer));

	if (!buffer) {
		out->error = -ENOMEM;
		return;
	}
	out->buffer = buffer;
	out->room = room;
}

uint64_t *fx_output_held(struct fx_output *out, size_t *ret_words)
{
	*ret_words = out->used;
	return out->buffer;
}

void fx_output_let_go(struct fx_output *out, size_t words)
{
	out->used -= words;
	memmove(out->buffer, out->buffer + words, out->used * sizeof(*out->buffer));
}

/* --- Records ---------------------------------------------------------------------------------- */

uint64_t *fx_output_reserve(struct fx_output *out, size_t words)
{
	if (fx_unlikely(out->holds)) {
		if (out->room - out->used < words + FX_OUTPUT_RECORD_MAX)
			held_grow(out);
	} else if (fx_unlikely(out->used + words > DRAIN_WORDS)) {
		buffer_drain(out);
	}
	return out->buffer + out->used;
}

void fx_output_commit(struct fx_output *out, size_t words)
{
	if (fx_unlikely(out->holds && out->error))
		return;
	out->used += words;
	out->bytes += words * sizeof(*out->buffer);
}

uint64_t fx_output_rest(const struct fx_output *out)
{
	uint64_t now;

	if (!out->held_since || out->error)
		return UINT64_MAX;
	now = fx_monotonic_ns();
	return now - out->held_since < HOLD_NS ? out->held_since + HOLD_NS - now : 0;
}

int fx_output_flush(struct fx_output *out)
{
	buffer_drain(out);
	if (fx_output_rest(out) == 0)
		member_write(out, NULL, 0, FX_END_MEMBER);
	return out->error;
}

int fx_output_complete(struct fx_output *out)
{
	buffer_drain(out);
	if (out->member_bytes && !out->error)
		member_write(out, NULL, 0, FX_END_MEMBER);
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

void fx_output_keep(struct fx_output *out)
{
	out->kept = true;
}

int fx_output_close(struct fx_output *out, uint64_t *ret_size)
{
	int error;

	if (out->holds) {
		error = out->error;
		output_free(out);
		return error;
	}
	buffer_drain(out);
	if (out->member_bytes && !out->error)
		member_write(out, NULL, 0, FX_END_MEMBER);
	if (out->destination.made && !out->begun)
		fx_destination_remove(&out->destination);
	if (out->kept && !out->error)
		out->error = fx_destination_keep(&out->destination);
	if (close(out->fd) < 0 && !out->error)
		out->error = -errno;
	error = out->error;
	if (ret_size)
		*ret_size = out->size;
	output_free(out);
	return error;
}
