/* SPDX-License-Identifier: MIT */
/* The writer: what it writes, the reader reads; and what it is to refuse. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "format/dump.h"
#include "format/encode.h"
#include "tests/format/memory_archive.h"
#include "tests/format/random_record.h"

/* Indices are left out: "text"#7 becomes "text". */
static void strip_indices(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		*out++ = *in;
		if (in[0] == '"' && in[1] == '#')
			in += 1 + strspn(in + 2, "0123456789");
	}
	*out = '\0';
}

/* The records of an archive that are not of its tables, one a line but for their offsets. The caller frees it. */
static char *all_contents(const struct memory_archive *archive)
{
	struct fxt_reader *reader = memory_archive_reader(archive);
	const struct fxt_record *record;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0) {
		struct fxt_record copy;

		if (record->kind == FXT_KIND_STRING || record->kind == FXT_KIND_THREAD ||
		    record->kind == FXT_KIND_PROVIDER_SECTION)
			continue;
		copy = *record;
		copy.offset = record->provider->id;
		fx_record_dump(out, &copy, FX_DUMP_TEXT);
	}
	cr_expect_eq(r, 0);
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
	fclose(out);
	strip_indices(text);
	return text;
}

static void copy_all(const struct memory_archive *from, struct memory_archive *to)
{
	struct fxt_reader *reader = memory_archive_reader(from);
	struct fxt_writer *writer = memory_archive_open(to);
	const struct fxt_record *record;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0)
		cr_expect_eq(fxt_writer_write(writer, record), 0, "%s",
			     fxt_kind_name(record->kind));
	cr_expect_eq(r, 0);
	cr_expect_eq(fxt_writer_close(writer), 0);
	fxt_reader_close(reader);
}

Test(writer, the_example_of_its_header)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record event = memory_archive_event(100, 101, "read", 5000);
	const struct fxt_record *record;
	struct fxt_reader *reader;
	struct fxt_string name;
	unsigned events = 0;

	fxt_record_add_arg(&event, "bytes", FXT_ARG_UINT64)->uint64 = 4096;
	cr_expect_eq(fxt_writer_provider(writer, 1, "app", 1000000000), 0);
	cr_expect_eq(fxt_writer_name_process(writer, 100, "app"), 0);
	cr_expect_eq(fxt_writer_name_thread(writer, 100, 101, "worker"), 0);
	cr_expect_eq(fxt_writer_write(writer, &event), 0);
	cr_expect_eq(fxt_writer_close(writer), 0);
	reader = memory_archive_reader(&archive);
	while (fxt_reader_next(reader, &record) > 0) {
		if (record->kind != FXT_KIND_EVENT)
			continue;
		events++;
		cr_expect_str_eq(record->provider->name, "app");
		cr_expect(fxt_string_equals(&record->event.category, "test"));
		cr_expect(fxt_string_equals(&record->event.name, "read"));
		cr_expect_eq(record->event.thread.pid, 100u);
		cr_expect_eq(record->event.thread.tid, 101u);
		cr_expect_eq(record->event.end_time, 5005u);
		cr_assert_eq(record->nargs, 1u);
		cr_expect_eq(fxt_record_find_arg(record, "bytes")->uint64, 4096u);
		cr_assert(fxt_reader_process_name(reader, 100, &name));
		cr_expect(fxt_string_equals(&name, "app"));
		cr_assert(fxt_reader_thread_name(reader, 100, 101, &name));
		cr_expect(fxt_string_equals(&name, "worker"));
	}
	cr_expect_eq(events, 1u);
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* Random records as the reader yields them, of three providers in turn. */
static void make_random(struct random_source *random, struct memory_archive *ret, unsigned count)
{
	static const struct fxt_provider providers[] = {
	    {7, "seven", 1000000000}, {8, "eight", 19200000}, {9, "", 1000}};
	static struct fxt_record record;
	struct fxt_writer *writer = memory_archive_open(ret);
	char text[16];

	for (unsigned i = 0; i < count; i++) {
		int r;

		random_record(random, (enum fxt_kind)(1 + random_below(random, FXT_KIND_COUNT - 1)),
			      &record);
		record.provider = &providers[random_below(random, 3)];
		if (record.kind == FXT_KIND_INITIALIZATION || record.kind == FXT_KIND_PROVIDER_INFO)
			continue;
		/* Its indexed strings have no text: those are another's. */
		record.nargs = 0;
		if (record.kind == FXT_KIND_EVENT) {
			snprintf(text, sizeof(text), "t%u", (unsigned)random_below(random, 50000));
			record.event.name = fxt_text(text);
			record.event.category = fxt_text("category");
			fxt_record_add_arg(&record, text, FXT_ARG_STRING)->string = fxt_text(text);
			fxt_record_add_arg(&record, "index", FXT_ARG_STRING)->string =
			    fxt_text("index");
			record.args[1].string.ref = 5;
		}
		r = fxt_writer_write(writer, &record);
		cr_expect(r == 0 || r == -EINVAL || r == -EMSGSIZE, "%s: %d",
			  fxt_kind_name(record.kind), r);
	}
	cr_expect_eq(fxt_writer_close(writer), 0);
}

static size_t differs_at(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	return i;
}

Test(writer, what_was_read_is_written_again)
{
	struct random_source random = {4711};
	struct memory_archive first = {0}, second = {.step = 1000}, third = {0};
	char *before, *after;

	make_random(&random, &first, 120000);
	copy_all(&first, &second);
	before = all_contents(&first);
	after = all_contents(&second);
	cr_expect_gt(strlen(before), 1000000u);
	cr_expect(strcmp(before, after) == 0, "%.400s\n--\n%.400s",
		  before + differs_at(before, after) - 60, after + differs_at(before, after) - 60);
	/* And so it stays. */
	copy_all(&second, &third);
	cr_expect_eq(second.size, third.size);
	cr_expect(memcmp(second.data, third.data, third.size) == 0);
	free(before);
	free(after);
	memory_archive_free(&first);
	memory_archive_free(&second);
	memory_archive_free(&third);
}

/* --- Tables ------------------------------------------------------------------------------------ */

/* More texts and threads than there are indices, in turn and again: each event has its own. */
Test(writer, more_than_the_tables_hold)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	const struct fxt_record *record;
	struct fxt_reader *reader;
	unsigned seen = 0;
	char text[16];

	for (unsigned i = 0; i < 100000; i++) {
		struct fxt_record event;

		snprintf(text, sizeof(text), "name%u", i % 40000);
		event = memory_archive_event(1, 1000 + i % 300, text, i);
		cr_assert_eq(fxt_writer_write(writer, &event), 0);
	}
	cr_expect_eq(fxt_writer_close(writer), 0);
	reader = memory_archive_reader(&archive);
	while (fxt_reader_next(reader, &record) > 0) {
		if (record->kind != FXT_KIND_EVENT)
			continue;
		snprintf(text, sizeof(text), "name%u", seen % 40000);
		cr_assert(fxt_string_equals(&record->event.name, text), "event %u", seen);
		cr_assert_eq(record->event.thread.tid, 1000 + seen % 300);
		cr_expect_eq(record->provider->id, 1u, "the provider of those who name none");
		seen++;
	}
	cr_expect_eq(seen, 100000u);
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* --- Compression and outputs ------------------------------------------------------------------- */

static void write_events(struct fxt_writer *writer, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct fxt_record event = memory_archive_event(1, 2, "some event", i);

		cr_assert_eq(fxt_writer_write(writer, &event), 0);
	}
}

static unsigned count_events(struct fxt_reader *reader)
{
	const struct fxt_record *record;
	unsigned count = 0;

	while (fxt_reader_next(reader, &record) > 0)
		count += record->kind == FXT_KIND_EVENT;
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
	return count;
}

Test(writer, files_by_their_names)
{
	static const char *const ends[] = {"", ".gz", ".zst"};
	static const uint8_t magics[][2] = {{0x10, 0x00}, {0x1f, 0x8b}, {0x28, 0xb5}};
	char folder[] = "/tmp/fxtrace-test-XXXXXX", path[64];

	cr_assert_not_null(mkdtemp(folder));
	for (unsigned i = 0; i < 3; i++) {
		struct fxt_writer *writer;
		struct fxt_reader *reader;
		uint8_t magic[2];
		int fd;

		snprintf(path, sizeof(path), "%s/a.fxt%s", folder, ends[i]);
		cr_assert_eq(fxt_writer_open_path(path, &writer), 0);
		write_events(writer, 50000);
		cr_expect_eq(fxt_writer_set_compression(writer, FXT_COMPRESSION_NONE, 0), -EBUSY);
		cr_expect_eq(fxt_writer_close(writer), 0);
		cr_assert_eq(fxt_reader_open_path(path, &reader), 0);
		cr_expect_eq(count_events(reader), 50000u);
		fd = open(path, O_RDONLY);
		cr_expect_eq(read(fd, magic, 2), 2);
		cr_expect(memcmp(magic, magics[i], 2) == 0);
		close(fd);
		unlink(path);
	}
	rmdir(folder);
}

/* What was flushed is there, compressed or not, and what comes later goes on behind it. */
Test(writer, flush)
{
	for (int compression = FXT_COMPRESSION_NONE; compression <= FXT_COMPRESSION_ZSTD;
	     compression++) {
		struct memory_archive archive = {0};
		struct fxt_writer *writer = memory_archive_open(&archive);
		const struct fxt_record *record;
		struct fxt_reader *reader;
		unsigned seen = 0;
		int r;

		cr_assert_eq(
		    fxt_writer_set_compression(writer, (enum fxt_compression)compression, 1), 0);
		cr_assert_eq(fxt_reader_open_function(memory_archive_read, &archive, &reader), 0);
		fxt_reader_set_growing(reader, true);
		for (unsigned i = 1; i <= 20; i++) {
			write_events(writer, 10);
			cr_assert_eq(fxt_writer_flush(writer), 0);
			while ((r = fxt_reader_next(reader, &record)) > 0)
				seen += record->kind == FXT_KIND_EVENT;
			cr_expect_eq(r, -EAGAIN);
			cr_expect_eq(seen, 10 * i);
		}
		cr_expect_eq(fxt_writer_close(writer), 0);
		fxt_reader_set_growing(reader, false);
		cr_expect_eq(fxt_reader_next(reader, &record), 0);
		cr_expect_eq(fxt_reader_fault_count(reader), 0u);
		fxt_reader_close(reader);
		memory_archive_free(&archive);
	}
}

static ssize_t refuse(void *opaque, const void *data, size_t size)
{
	size_t *left = opaque;
	size_t part = size < *left ? size : *left;

	(void)data;
	*left -= part;
	return part ? (ssize_t)part : -ENOSPC;
}

Test(writer, an_output_that_fails_is_told_of_again_and_again)
{
	struct fxt_record event = memory_archive_event(1, 2, "some event", 3);
	struct fxt_writer *writer;
	size_t left = 100000;
	int r = 0;

	cr_assert_eq(fxt_writer_open_function(refuse, &left, &writer), 0);
	for (unsigned i = 0; i < 100000 && r == 0; i++)
		r = fxt_writer_write(writer, &event);
	cr_expect_eq(r, -ENOSPC);
	cr_expect_eq(fxt_writer_write(writer, &event), -ENOSPC);
	cr_expect_eq(fxt_writer_provider(writer, 3, "new", 1), -ENOSPC);
	cr_expect_eq(fxt_writer_flush(writer), -ENOSPC);
	cr_expect_eq(fxt_writer_close(writer), -ENOSPC);
	cr_expect_eq(fxt_writer_open_path("/nonexistent/file", &writer), -ENOENT);
	cr_expect_eq(fxt_writer_open_fd(-1, &writer), -EBADF);
	cr_expect_eq(fxt_writer_open_function(NULL, NULL, &writer), -EINVAL);
	cr_expect_eq(fxt_writer_close(NULL), 0);
}

Test(writer, nothing_written_is_an_empty_archive)
{
	struct memory_archive archive = {0};

	cr_expect_eq(fxt_writer_close(memory_archive_open(&archive)), 0);
	cr_expect_eq(archive.size, 8u);
	cr_expect_eq(count_events(memory_archive_reader(&archive)), 0u);
	memory_archive_free(&archive);
}

/* --- What it refuses --------------------------------------------------------------------------- */

Test(writer, what_the_format_cannot_say)
{
	static char large[40000];
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record good = memory_archive_event(1, 2, "good", 3), bad;

	memset(large, 'x', sizeof(large) - 1);
	bad = good;
	bad.event.name = fxt_text(large);
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "a string of 40 KB");
	bad = good;
	bad.event.name = (struct fxt_string){.length = 3};
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "a string without its text");
	bad = good;
	bad.event.name = (struct fxt_string){.ref = 3};
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "an index without its text");
	bad = good;
	bad.event.type = 99;
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "an unknown type of event");
	bad = good;
	bad.nargs = FXT_MAX_ARGS + 1;
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "16 arguments");
	bad = good;
	fxt_record_add_arg(&bad, "odd", (enum fxt_arg_type)14);
	cr_expect_eq(fxt_writer_write(writer, &bad), -EOPNOTSUPP, "an unknown type of argument");
	bad = good;
	bad.kind = FXT_KIND_UNKNOWN;
	cr_expect_eq(fxt_writer_write(writer, &bad), -EOPNOTSUPP);
	bad.kind = (enum fxt_kind)1000;
	cr_expect_eq(fxt_writer_write(writer, &bad), -EOPNOTSUPP);
	bad = good;
	for (unsigned i = 0; i < 2; i++)
		fxt_record_add_arg(&bad, "new", FXT_ARG_STRING)->string = fxt_text_of(large, 20000);
	cr_expect_eq(fxt_writer_write(writer, &bad), -EMSGSIZE, "more than a record holds");
	bad = (struct fxt_record){.kind = FXT_KIND_INITIALIZATION};
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "no ticks");
	bad = (struct fxt_record){.kind = FXT_KIND_BLOB, .blob.type = 1};
	bad.blob.payload = (struct fxt_bytes){large, FXT_MAX_BLOB_SIZE + 1};
	cr_expect_eq(fxt_writer_write(writer, &bad), -EINVAL, "a blob too large");
	cr_expect_eq(fxt_writer_provider(writer, 5, large, 1), -EINVAL, "a name too long");
	cr_expect_eq(fxt_writer_provider(writer, 5, "five", 0), -EINVAL, "no ticks");

	cr_expect_null(
	    fxt_record_add_arg(&(struct fxt_record){.kind = FXT_KIND_EVENT, .nargs = FXT_MAX_ARGS},
			       "x", FXT_ARG_NULL));
	cr_expect_eq(fxt_writer_write(writer, &good), 0);
	bad = good;
	bad.event.name = fxt_text("a\tb\n\x01");
	cr_expect_eq(fxt_writer_write(writer, &bad), 0, "control characters are a name's own");
	cr_expect_eq(fxt_writer_close(writer), 0);
	/* Nothing of what was refused is there. */
	cr_expect_eq(count_events(memory_archive_reader(&archive)), 2u);
	memory_archive_free(&archive);
}

/* A payload of some MiB. */
Test(writer, large_blobs)
{
	size_t size = (5 << 20) + 3;
	char *payload = calloc(1, size);
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record blob = {.kind = FXT_KIND_LARGE_EVENT};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	unsigned seen = 0;

	cr_assert_not_null(payload);
	payload[size - 1] = 'z';
	blob.large_blob.thread = fxt_thread_of(1, 2);
	blob.large_blob.category = fxt_text("test");
	blob.large_blob.name = fxt_text("blob");
	blob.large_blob.payload = (struct fxt_bytes){payload, size};
	fxt_record_add_arg(&blob, "a", FXT_ARG_BOOL)->boolean = true;
	cr_expect_eq(fxt_writer_write(writer, &blob), 0);
	blob.kind = FXT_KIND_LARGE_ATTACHMENT;
	blob.nargs = 0;
	cr_expect_eq(fxt_writer_write(writer, &blob), 0);
	cr_expect_eq(fxt_writer_close(writer), 0);
	reader = memory_archive_reader(&archive);
	while (fxt_reader_next(reader, &record) > 0) {
		if (record->kind != FXT_KIND_LARGE_EVENT &&
		    record->kind != FXT_KIND_LARGE_ATTACHMENT)
			continue;
		seen++;
		cr_assert_eq(record->large_blob.payload.size, size);
		cr_expect(memcmp(record->large_blob.payload.data, payload, size) == 0);
	}
	cr_expect_eq(seen, 2u);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
	free(payload);
}
