/* SPDX-License-Identifier: MIT */
/* The reader's sources and limits: files, pipes, large records, failures. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include <criterion/criterion.h>

#include "format/encode.h"

static struct fxt_fault faults[16];
static size_t n_faults;

static void on_fault(void *opaque, const struct fxt_fault *fault)
{
	(void)opaque;
	if (n_faults < sizeof(faults) / sizeof(faults[0]))
		faults[n_faults] = *fault;
	n_faults++;
}

/* Reads to the end. Returns the number of records, or what fxt_reader_next() failed with. */
static int64_t read_all(struct fxt_reader *reader)
{
	const struct fxt_record *record;
	int64_t n = 0;
	int r;

	n_faults = 0;
	fxt_reader_set_fault_handler(reader, on_fault, NULL);
	while ((r = fxt_reader_next(reader, &record)) > 0)
		n++;
	cr_expect_eq(fxt_reader_fault_count(reader), n_faults);
	fxt_reader_close(reader);
	return r < 0 ? r : n;
}

/* --- Sources --------------------------------------------------------------------------------- */

Test(source, errors_of_opening_and_reading)
{
	struct fxt_reader *reader = NULL;

	cr_expect_eq(fxt_reader_open_path("/nonexistent/file", &reader), -ENOENT);
	cr_expect_null(reader);
	cr_assert_eq(fxt_reader_open_path("/", &reader), 0);
	cr_expect_eq(read_all(reader), -EISDIR);
	cr_expect_eq(fxt_reader_open_fd(-1, &reader), -EBADF);
	fxt_reader_close(NULL);
}

struct feeder {
	int fd;
	const uint8_t *data;
	size_t size;
};

/* Writes a few bytes at a time, so that reads end anywhere within a word. */
static void *feed(void *arg)
{
	const struct feeder *f = arg;

	for (size_t at = 0; at < f->size;) {
		size_t n = 1 + at % 5;

		n = n < f->size - at ? n : f->size - at;
		if (write(f->fd, f->data + at, n) != (ssize_t)n)
			break;
		at += n;
	}
	close(f->fd);
	return NULL;
}

#define N_EVENTS 1000

static size_t make_events(uint64_t *words, size_t capacity)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	struct fx_encoder encoder;

	fx_encoder_init(&encoder, words, capacity);
	cr_assert_eq(fx_encode_magic(&encoder), 0);
	record.event.name = fx_string_inline("name", 4);
	for (int i = 0; i < N_EVENTS; i++)
		cr_assert_eq(fx_record_encode(&encoder, &record), 0);
	return encoder.used;
}

static int64_t read_from_pipe(const void *data, size_t size)
{
	struct fxt_reader *reader;
	struct feeder feeder;
	pthread_t thread;
	int64_t n;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	feeder = (struct feeder){.fd = fds[1], .data = data, .size = size};
	cr_assert_eq(pthread_create(&thread, NULL, feed, &feeder), 0);
	cr_assert_eq(fxt_reader_open_fd(fds[0], &reader), 0);
	n = read_all(reader);
	pthread_join(thread, NULL);
	cr_expect_eq(fcntl(fds[0], F_GETFD), 0, "the borrowed descriptor was closed");
	close(fds[0]);
	return n;
}

Test(source, pipe_that_yields_little_at_a_time)
{
	static uint64_t words[N_EVENTS * 8];
	static uint8_t packed[sizeof(words)];
	size_t size = make_events(words, sizeof(words) / sizeof(words[0])) * FXT_WORD_SIZE;

	cr_expect_eq(read_from_pipe(words, size), N_EVENTS + 1);
	cr_expect_eq(n_faults, 0u);
	cr_expect_eq(read_from_pipe(words, size - 3), N_EVENTS);
	cr_expect_eq(n_faults, 1u);
	size = ZSTD_compress(packed, sizeof(packed), words, size, 1);
	cr_expect_eq(read_from_pipe(packed, size), N_EVENTS + 1);
	cr_expect_eq(n_faults, 0u);
}

Test(source, progress)
{
	static uint64_t words[N_EVENTS * 8];
	size_t size = make_events(words, sizeof(words) / sizeof(words[0])) * FXT_WORD_SIZE;
	const struct fxt_record *record;
	struct fxt_reader *reader;
	uint64_t done, total;

	cr_assert_eq(fxt_reader_open_memory(words, size, &reader), 0);
	fxt_reader_progress(reader, &done, &total);
	cr_expect_eq(done, 0u);
	cr_expect_eq(total, size);
	while (fxt_reader_next(reader, &record) > 0)
		;
	fxt_reader_progress(reader, &done, &total);
	cr_expect_eq(done, size);
	fxt_reader_close(reader);
}

/* --- Large records --------------------------------------------------------------------------- */

/* Magic, a large attachment of @payload zeros, an initialization record; packed with zstd. */
static uint8_t *pack_large(uint64_t payload, uint64_t cut, size_t *ret_size)
{
	uint64_t words = 3 + payload / FXT_WORD_SIZE;
	size_t size = (1 + words + 2) * FXT_WORD_SIZE;
	uint64_t *plain = calloc(1, size);
	size_t capacity = ZSTD_compressBound(size);
	uint8_t *packed = malloc(capacity);

	cr_assert(plain && packed);
	plain[0] = FXT_MAGIC_RECORD;
	plain[1] = fx_header_large_blob(words, FXT_LARGE_BLOB_ATTACHMENT);
	plain[3] = payload;
	plain[1 + words] = fx_header_initialization();
	plain[1 + words + 1] = 1000;
	*ret_size = ZSTD_compress(packed, capacity, plain, size - cut, 1);
	cr_assert(!ZSTD_isError(*ret_size));
	free(plain);
	return packed;
}

static int64_t read_large(uint64_t payload, uint64_t cut)
{
	struct fxt_reader *reader;
	size_t size;
	uint8_t *packed = pack_large(payload, cut, &size);
	int64_t n;

	cr_assert_eq(fxt_reader_open_memory(packed, size, &reader), 0);
	n = read_all(reader);
	free(packed);
	return n;
}

Test(large, beyond_the_first_buffer)
{
	cr_expect_eq(read_large(5 << 20, 0), 3);
	cr_expect_eq(n_faults, 0u);
	cr_expect_eq(read_large(5 << 20, 32), 1);
	cr_expect_eq(n_faults, 1u);
	cr_expect_eq(faults[0].kind, FXT_FAULT_TRUNCATED);
	cr_expect_eq(faults[0].offset, 8u);
}

/* A record too large to hold is passed over, and the next one found. */
Test(large, beyond_the_limit)
{
	uint64_t payload = (64 << 20) + 80;

	cr_expect_eq(read_large(payload, 0), 2);
	cr_expect_eq(n_faults, 1u);
	cr_expect_eq(faults[0].kind, FXT_FAULT_RECORD_TOO_LARGE);
	cr_expect_eq(faults[0].offset, 8u);
	cr_expect_eq(faults[0].value, 3 + payload / FXT_WORD_SIZE);
	cr_expect_eq(read_large(payload, 16 + 24), 1);
	cr_expect_eq(n_faults, 1u);
	cr_expect_eq(faults[0].kind, FXT_FAULT_TRUNCATED);
	cr_expect_eq(faults[0].value, 24 + payload - 24);
}

/* --- Tables ---------------------------------------------------------------------------------- */

/* A definition's serial is its own, also when the index is used again; inline strings have none. */
Test(tables, serials)
{
	uint64_t words[64];
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	struct fx_encoder encoder;
	const struct fxt_record *got;
	struct fxt_reader *reader;
	uint32_t first = 0, second = 0;

	fx_encoder_init(&encoder, words, 64);
	fx_encode_magic(&encoder);
	record.event.name = fx_string_indexed(5);
	record.event.category = fx_string_inline("a", 1);
	fx_encode_string(&encoder, 5, "a", 1);
	cr_assert_eq(fx_record_encode(&encoder, &record), 0);
	fx_encode_string(&encoder, 5, "b", 1);
	cr_assert_eq(fx_record_encode(&encoder, &record), 0);
	cr_assert_eq(fxt_reader_open_memory(words, encoder.used * FXT_WORD_SIZE, &reader), 0);
	while (fxt_reader_next(reader, &got) > 0) {
		if (got->kind != FXT_KIND_EVENT)
			continue;
		cr_expect_eq(got->event.category.serial, 0u);
		first = first ? first : got->event.name.serial;
		second = got->event.name.serial;
	}
	cr_expect_neq(first, 0u);
	cr_expect_neq(second, first);
	fxt_reader_close(reader);
}

/* All indices at once, then each anew with a longer and a shorter text. */
Test(tables, every_index)
{
	static uint64_t words[8 << 20 >> 3];
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	struct fx_encoder encoder;
	const struct fxt_record *got;
	struct fxt_reader *reader;
	unsigned seen = 0;
	char text[64];

	fx_encoder_init(&encoder, words, sizeof(words) / sizeof(words[0]));
	fx_encode_magic(&encoder);
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 1; i <= FXT_MAX_STRING_INDEX; i++) {
			int n = snprintf(text, sizeof(text), "%0*u", round == 1 ? 60 : 5, i);

			cr_assert_eq(fx_encode_string(&encoder, i, text, (size_t)n), 0);
		}
	for (unsigned i = 1; i <= FXT_MAX_STRING_INDEX; i++) {
		record.event.name = fx_string_indexed(i);
		cr_assert_eq(fx_record_encode(&encoder, &record), 0);
	}
	cr_assert_eq(fxt_reader_open_memory(words, encoder.used * FXT_WORD_SIZE, &reader), 0);
	while (fxt_reader_next(reader, &got) > 0) {
		if (got->kind != FXT_KIND_EVENT)
			continue;
		snprintf(text, sizeof(text), "%05u", ++seen);
		cr_assert(fxt_string_equals(&got->event.name, text), "string %u", seen);
	}
	cr_expect_eq(seen, FXT_MAX_STRING_INDEX);
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
}
