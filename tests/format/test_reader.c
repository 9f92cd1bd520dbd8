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
#include "tests/format/random_record.h"

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

/* --- The conformance list -------------------------------------------------------------------- */

/* An archive of up to so many words in the making. */
#define ARCHIVE_WORDS (1u << 16)

static struct fx_encoder archive_begin(void)
{
	static uint64_t words[ARCHIVE_WORDS];
	struct fx_encoder e;

	fx_encoder_init(&e, words, ARCHIVE_WORDS);
	cr_assert_eq(fx_encode_magic(&e), 0);
	return e;
}

static struct fxt_reader *archive_open(const struct fx_encoder *e)
{
	struct fxt_reader *reader;

	cr_assert_eq(fxt_reader_open_memory(e->words, e->used * FXT_WORD_SIZE, &reader), 0);
	return reader;
}

Test(reader, empty_buffer)
{
	struct fx_encoder e = archive_begin();
	struct fxt_reader *reader;

	cr_assert_eq(fxt_reader_open_memory("", 0, &reader), 0);
	cr_expect_eq(read_all(reader), -EBADMSG, "an archive has a magic number at least");
	cr_assert_eq(fxt_reader_open_memory("", 0, &reader), 0);
	fxt_reader_set_bare(reader, true);
	cr_expect_eq(read_all(reader), 0);
	cr_expect_eq(n_faults, 0u);
	cr_expect_eq(read_all(archive_open(&e)), 1);
	cr_expect_eq(n_faults, 0u);
}

/* A chunk of an archive is a section of one provider. */
Test(reader, empty_chunk)
{
	struct fx_encoder e = archive_begin();

	fx_encode_provider_info(&e, 1, "one", 3);
	fx_encode_provider_info(&e, 2, "two", 3);
	fx_encode_provider_section(&e, 1);
	fx_encode_provider_section(&e, 2);
	cr_expect_eq(read_all(archive_open(&e)), 5);
	cr_expect_eq(n_faults, 0u);
}

Test(reader, non_empty_chunk)
{
	struct fx_encoder e = archive_begin();
	struct fxt_record event = {.kind = FXT_KIND_EVENT};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	uint64_t times[2] = {0};

	fx_encode_provider_info(&e, 1, "one", 3);
	fx_encode_provider_info(&e, 2, "two", 3);
	fx_encode_provider_section(&e, 1);
	event.event.timestamp = 10;
	fx_record_encode(&e, &event);
	fx_encode_provider_section(&e, 2);
	event.event.timestamp = 20;
	fx_record_encode(&e, &event);
	reader = archive_open(&e);
	while (fxt_reader_next(reader, &record) > 0) {
		if (record->kind == FXT_KIND_EVENT)
			times[record->provider->id - 1] += record->event.timestamp;
	}
	cr_expect_eq(times[0], 10u);
	cr_expect_eq(times[1], 20u);
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
}

/* One argument of each type. */
static void arguments_fill(struct fxt_record *ret)
{
	const struct fxt_arg values[] = {
	    {.type = FXT_ARG_NULL},
	    {.type = FXT_ARG_INT32, .int32 = INT32_MIN},
	    {.type = FXT_ARG_UINT32, .uint32 = UINT32_MAX},
	    {.type = FXT_ARG_INT64, .int64 = INT64_MIN},
	    {.type = FXT_ARG_UINT64, .uint64 = UINT64_MAX},
	    {.type = FXT_ARG_DOUBLE, .real = -1.5},
	    {.type = FXT_ARG_STRING, .string = fx_string_inline("text", 4)},
	    {.type = FXT_ARG_POINTER, .pointer = 0xfffffffffff0},
	    {.type = FXT_ARG_KOID, .koid = 4711},
	    {.type = FXT_ARG_BOOL, .boolean = true},
	    {.type = FXT_ARG_BLOB, .blob = {"\x00\xff\x01", 3}},
	};

	ret->nargs = sizeof(values) / sizeof(values[0]);
	for (uint32_t i = 0; i < ret->nargs; i++) {
		ret->args[i] = values[i];
		ret->args[i].name = fx_string_inline("name", 4);
	}
}

Test(reader, every_value_type)
{
	struct fx_encoder e = archive_begin();
	struct fxt_record event = {.kind = FXT_KIND_EVENT};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	const struct fxt_arg *a;

	arguments_fill(&event);
	cr_assert_eq(event.nargs, FXT_ARG_BLOB + 1u, "a type has no value here");
	cr_assert_eq(fx_record_encode(&e, &event), 0);
	reader = archive_open(&e);
	cr_assert_eq(fxt_reader_next(reader, &record), 1);
	cr_assert_eq(fxt_reader_next(reader, &record), 1);
	cr_assert_eq(record->nargs, event.nargs);
	a = record->args;
	for (uint32_t i = 0; i < record->nargs; i++) {
		cr_expect_eq(a[i].type, i);
		cr_expect(fxt_string_equals(&a[i].name, "name"));
	}
	cr_expect_eq(a[FXT_ARG_INT32].int32, INT32_MIN);
	cr_expect_eq(a[FXT_ARG_UINT32].uint32, UINT32_MAX);
	cr_expect_eq(a[FXT_ARG_INT64].int64, INT64_MIN);
	cr_expect_eq(a[FXT_ARG_UINT64].uint64, UINT64_MAX);
	cr_expect_float_eq(a[FXT_ARG_DOUBLE].real, -1.5, 0);
	cr_expect(fxt_string_equals(&a[FXT_ARG_STRING].string, "text"));
	cr_expect_eq(a[FXT_ARG_POINTER].pointer, 0xfffffffffff0u);
	cr_expect_eq(a[FXT_ARG_KOID].koid, 4711u);
	cr_expect_eq(a[FXT_ARG_BOOL].boolean, true);
	cr_assert_eq(a[FXT_ARG_BLOB].blob.size, 3u);
	cr_expect_arr_eq(a[FXT_ARG_BLOB].blob.data, "\x00\xff\x01", 3);
	fxt_reader_close(reader);
}

/* Finds one of each kind behind one another; what they refer to need not be defined. */
Test(reader, every_record)
{
	static struct fxt_record record;
	struct random_source random = {.state = 0x4ead};

	for (unsigned round = 0; round < 50; round++) {
		struct fx_encoder e = archive_begin();
		const struct fxt_record *found;
		struct fxt_reader *reader;

		for (int kind = FXT_KIND_UNKNOWN + 1; kind < FXT_KIND_COUNT; kind++) {
			do
				random_record(&random, (enum fxt_kind)kind, &record);
			while (fx_record_encode(&e, &record) == -EINVAL);
		}
		reader = archive_open(&e);
		cr_assert_eq(fxt_reader_next(reader, &found), 1);
		for (int kind = FXT_KIND_UNKNOWN + 1; kind < FXT_KIND_COUNT; kind++) {
			cr_assert_eq(fxt_reader_next(reader, &found), 1);
			cr_assert_eq(found->kind, (enum fxt_kind)kind, "%s instead of %s",
				     fxt_kind_name(found->kind),
				     fxt_kind_name((enum fxt_kind)kind));
		}
		cr_assert_eq(fxt_reader_next(reader, &found), 0);
		fxt_reader_close(reader);
	}
}
