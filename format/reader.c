/* SPDX-License-Identifier: MIT */
/*
 * The reader: bytes from an input into a buffer of words, records out of it by the decoder. What
 * they refer to, resolve.c finds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fxtrace/reader.h>

#include "format/reader-state.h"
#include "format/rows.h"

#define BUFFER_WORDS ((size_t)1 << 15)

/* A small archive in memory gets a small one, which grows if it is not enough. */
#define BUFFER_WORDS_MIN ((size_t)1 << 10)
/* The largest record held in memory, in words; a larger one is reported and passed over. */
#define RECORD_WORDS_LIMIT ((size_t)1 << 23)

#define MEMORY_LIMIT ((uint64_t)4 << 30)

/* --- Opening and closing --------------------------------------------------------------------- */

static int reader_new(struct fx_input *input, size_t words, struct fxt_reader **ret)
{
	struct fxt_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		goto no_memory;
	reader->buffer = malloc(words * FXT_WORD_SIZE);
	if (!reader->buffer)
		goto no_memory;
	reader->capacity = words;
	reader->input = input;
	fx_provider_init(&reader->nobody, 0);
	fx_provider_init(&reader->stranger, 0);
	reader->current = &reader->nobody;
	reader->memory_limit = MEMORY_LIMIT;
	*ret = reader;
	return 0;
no_memory:
	free(reader);
	fx_input_close(input);
	return -ENOMEM;
}

static int open_fd(int fd, bool own, struct fxt_reader **ret)
{
	struct fx_input *input;
	int r = fx_input_open_fd(fd, own, &input);

	if (r < 0) {
		if (own)
			close(fd);
		return r;
	}
	return reader_new(input, BUFFER_WORDS, ret);
}

int fxt_reader_open_path(const char *path, struct fxt_reader **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return open_fd(fd, true, ret);
}

int fxt_reader_open_fd(int fd, struct fxt_reader **ret)
{
	return open_fd(fd, false, ret);
}

int fxt_reader_open_memory(const void *data, size_t size, struct fxt_reader **ret)
{
	struct fx_input *input;
	size_t words = size / FXT_WORD_SIZE + 1;
	int r = fx_input_open_memory(data, size, &input);

	if (r < 0)
		return r;
	if (words < BUFFER_WORDS_MIN)
		words = BUFFER_WORDS_MIN;
	return reader_new(input, words < BUFFER_WORDS ? words : BUFFER_WORDS, ret);
}

int fxt_reader_open_function(fxt_read_function *read, void *opaque, struct fxt_reader **ret)
{
	struct fx_input *input;
	int r = fx_input_open_function(read, opaque, &input);

	return r < 0 ? r : reader_new(input, BUFFER_WORDS, ret);
}

void fxt_reader_close(struct fxt_reader *reader)
{
	struct provider *p, *next;

	if (!reader)
		return;
	HASH_ITER (hh, reader->providers, p, next) {
		HASH_DEL(reader->providers, p);
		fx_tables_clear(&p->tables);
		free(p);
	}
	fx_tables_clear(&reader->nobody.tables);
	fx_tables_clear(&reader->stranger.tables);
	fx_context_clear(&reader->context);
	fx_rows_free(reader->rows);
	fx_input_close(reader->input);
	free(reader->buffer);
	free(reader);
}

void fxt_reader_set_fault_handler(struct fxt_reader *reader, fxt_fault_handler *handler,
				  void *opaque)
{
	reader->handler = handler;
	reader->opaque = opaque;
}

void fxt_reader_set_bare(struct fxt_reader *reader, bool bare)
{
	reader->bare = bare;
}

void fxt_reader_set_growing(struct fxt_reader *reader, bool growing)
{
	fx_input_set_growing(reader->input, growing);
}

void fxt_reader_set_memory_limit(struct fxt_reader *reader, uint64_t bytes)
{
	reader->memory_limit = bytes;
}

uint64_t fxt_reader_fault_count(const struct fxt_reader *reader)
{
	return reader->fault_count;
}

void fxt_reader_progress(const struct fxt_reader *reader, uint64_t *ret_done, uint64_t *ret_total)
{
	fx_input_progress(reader->input, ret_done, ret_total);
}

/* --- Faults ---------------------------------------------------------------------------------- */

void fx_reader_report_at(struct fxt_reader *reader, enum fxt_fault_kind kind, uint64_t offset,
			 uint64_t word, uint64_t value)
{
	struct fxt_fault fault = {.kind = kind, .offset = offset, .word = word, .value = value};

	reader->fault_count++;
	if (reader->handler)
		reader->handler(reader->opaque, &fault);
}

void fx_reader_report(struct fxt_reader *reader, enum fxt_fault_kind kind, uint64_t word,
		      uint64_t value)
{
	fx_reader_report_at(reader, kind, reader->offset, word, value);
}

/* --- The buffer ------------------------------------------------------------------------------ */

static size_t words_available(const struct fxt_reader *reader)
{
	return reader->filled / FXT_WORD_SIZE - reader->begin;
}

static void buffer_compact(struct fxt_reader *reader)
{
	size_t taken = reader->begin * FXT_WORD_SIZE;

	memmove(reader->buffer, (uint8_t *)reader->buffer + taken, reader->filled - taken);
	reader->filled -= taken;
	reader->begin = 0;
}

static int buffer_grow(struct fxt_reader *reader)
{
	uint64_t *buffer = realloc(reader->buffer, 2 * reader->capacity * FXT_WORD_SIZE);

	if (!buffer)
		return -ENOMEM;
	reader->buffer = buffer;
	reader->capacity *= 2;
	return 0;
}

/* Fills the rest of the buffer from the input. Notes how the input ended. */
static int buffer_fill(struct fxt_reader *reader)
{
	size_t room = reader->capacity * FXT_WORD_SIZE - reader->filled;
	ssize_t n = fx_input_read(reader->input, (uint8_t *)reader->buffer + reader->filled, room);

	if (n == -EPIPE || n == -EBADMSG) {
		reader->input_error = (int)n;
		n = 0;
	}
	if (n < 0)
		return (int)n;
	reader->filled += (size_t)n;
	if (n == 0)
		reader->input_ended = true;
	return 0;
}

/* Makes @words available if the input has them; the buffer grows only as data arrive. */
static int buffer_want(struct fxt_reader *reader, size_t words)
{
	while (words_available(reader) < words && !reader->input_ended) {
		int r = 0;

		buffer_compact(reader);
		if (reader->filled / FXT_WORD_SIZE == reader->capacity)
			r = buffer_grow(reader);
		if (r == 0)
			r = buffer_fill(reader);
		if (r < 0)
			return r;
	}
	return 0;
}

static void buffer_take(struct fxt_reader *reader, size_t words)
{
	reader->begin += words;
	reader->offset += words * FXT_WORD_SIZE;
}

/* Passes over the words that are to be skipped, without holding them all. Returns 1, 0 at the input's end, -errno. */
static int buffer_skip(struct fxt_reader *reader)
{
	while (reader->skip_left > 0) {
		size_t n = words_available(reader);
		int r;

		if (n == 0) {
			r = buffer_want(reader, 1);
			if (r < 0)
				return r;
			n = words_available(reader);
			if (n == 0)
				return 0;
		}
		if (n > reader->skip_left)
			n = (size_t)reader->skip_left;
		buffer_take(reader, n);
		reader->skip_left -= n;
	}
	return 1;
}

/* --- Reading --------------------------------------------------------------------------------- */

static uint64_t bytes_left(const struct fxt_reader *reader)
{
	return reader->filled - reader->begin * FXT_WORD_SIZE;
}

/* The record at @offset ends too early: its first @present bytes are all there is. */
static void report_truncated(struct fxt_reader *reader, uint64_t offset, uint64_t present)
{
	enum fxt_fault_kind kind =
	    reader->input_error == -EBADMSG ? FXT_FAULT_CORRUPT_COMPRESSION : FXT_FAULT_TRUNCATED;

	fx_reader_report_at(reader, kind, offset, present / FXT_WORD_SIZE, present);
}

/* The input's end: clean, or in the middle of a record. */
static int reader_finish(struct fxt_reader *reader)
{
	reader->finished = true;
	if (bytes_left(reader) > 0 || reader->input_error)
		report_truncated(reader, reader->offset, bytes_left(reader));
	return 0;
}

/*
 * Looks at the first word. Returns 0 or -errno; if compressed data end or are corrupt before it,
 * that is what is reported.
 */
static int check_start(struct fxt_reader *reader)
{
	uint64_t word;
	int r;

	if (reader->started || reader->bare)
		return 0;
	r = buffer_want(reader, 1);
	if (r < 0)
		return r;
	reader->started = true;
	if (words_available(reader) == 0 && reader->input_error)
		return reader_finish(reader);
	word = words_available(reader) > 0 ? reader->buffer[0] : 0;
	if (word == FXT_MAGIC_RECORD)
		return 0;
	if (word == __builtin_bswap64(FXT_MAGIC_RECORD))
		fx_reader_report(reader, FXT_FAULT_BYTE_ORDER, 0, 0);
	else
		fx_reader_report(reader, FXT_FAULT_NO_MAGIC, 0, 0);
	reader->finished = true;
	return -EBADMSG;
}

/* Passes over a record too large to hold, if the input has all of it. Returns 0 or -errno. */
static int skip_record(struct fxt_reader *reader)
{
	uint64_t start = reader->skip_start;
	int r = buffer_skip(reader);

	if (r < 0)
		return r;
	if (r > 0) {
		fx_reader_report_at(reader, FXT_FAULT_RECORD_TOO_LARGE, start, 0,
				    reader->skip_size);
	} else {
		report_truncated(reader, start, reader->offset - start + bytes_left(reader));
		reader->finished = true;
	}
	reader->skip_size = 0;
	return 0;
}

/*
 * Decodes the record at the buffer's beginning. Returns 1 with reader->record set, 0 if it was
 * passed over or the end was reached (then @finished is set), or -errno.
 */
static int read_record(struct fxt_reader *reader)
{
	struct fxt_record *record = &reader->record;
	struct fxt_fault fault;
	int64_t n;
	int r;

	if (reader->skip_size > 0)
		return skip_record(reader);
	n = fxt_record_decode(reader->buffer + reader->begin, words_available(reader), record,
			      &fault);
	if (n > 0)
		return 1;
	if (n < 0) {
		fx_reader_report(reader, fault.kind, fault.word, fault.value);
		if (record->size == 0)
			reader->finished = true;
		buffer_take(reader, record->size);
		return 0;
	}
	if (record->size > RECORD_WORDS_LIMIT) {
		reader->skip_start = reader->offset;
		reader->skip_size = reader->skip_left = record->size;
		return skip_record(reader);
	}
	if (reader->input_ended)
		return reader_finish(reader);
	r = buffer_want(reader, record->size ? record->size : 1);
	return r < 0 ? r : 0;
}

int fxt_reader_next(struct fxt_reader *reader, const struct fxt_record **ret)
{
	int r = check_start(reader);

	if (r < 0)
		return r;
	do {
		if (reader->finished)
			return 0;
		r = read_record(reader);
		if (r < 0)
			return r;
	} while (r == 0);
	reader->record.offset = reader->offset;
	r = fx_reader_apply(reader, &reader->record);
	if (r < 0)
		return r;
	buffer_take(reader, reader->record.size);
	*ret = &reader->record;
	return 1;
}
