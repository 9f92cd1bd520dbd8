/* SPDX-License-Identifier: MIT */
/* What the reader knows beside the records: names, modules, times; archives that grow; the memory limit; batches. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/format/memory_archive.h"

static const struct fxt_record *next(struct fxt_reader *reader, enum fxt_kind kind)
{
	const struct fxt_record *record;

	while (fxt_reader_next(reader, &record) > 0)
		if (record->kind == kind)
			return record;
	cr_assert_fail("no %s", fxt_kind_name(kind));
	return NULL;
}

static bool process_is(const struct fxt_reader *reader, uint64_t pid, const char *name)
{
	struct fxt_string got = {0};

	return fxt_reader_process_name(reader, pid, &got) ? name && fxt_string_equals(&got, name)
							  : !name;
}

static bool thread_is(const struct fxt_reader *reader, uint64_t pid, uint64_t tid, const char *name)
{
	struct fxt_string got = {0};

	return fxt_reader_thread_name(reader, pid, tid, &got)
		   ? name && fxt_string_equals(&got, name)
		   : !name;
}

/* --- Names -------------------------------------------------------------------------------------- */

Test(context, names_as_told_so_far)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record event = memory_archive_event(10, 11, "event", 1);
	struct fxt_record bare = {.kind = FXT_KIND_KERNEL_OBJECT};
	struct fxt_reader *reader;
	struct fxt_string name;

	fxt_writer_write(writer, &event);
	fxt_writer_name_process(writer, 10, "first");
	fxt_writer_name_thread(writer, 10, 11, "main");
	fxt_writer_name_thread(writer, 20, 11, "another's");
	fxt_writer_write(writer, &event);
	fxt_writer_name_process(writer, 10, "second, which is longer");
	bare.kernel_object.type = FXT_OBJECT_THREAD;
	bare.kernel_object.koid = 12;
	bare.kernel_object.name = fxt_text("of nobody");
	fxt_writer_write(writer, &bare);
	fxt_writer_write(writer, &event);
	fxt_writer_close(writer);

	reader = memory_archive_reader(&archive);
	next(reader, FXT_KIND_EVENT);
	cr_expect(process_is(reader, 10, NULL));
	cr_expect(thread_is(reader, 10, 11, NULL));
	next(reader, FXT_KIND_EVENT);
	cr_expect(process_is(reader, 10, "first"));
	cr_expect(process_is(reader, 11, NULL));
	cr_expect(thread_is(reader, 10, 11, "main"));
	cr_expect(thread_is(reader, 20, 11, "another's"));
	cr_expect(thread_is(reader, 30, 11, NULL));
	next(reader, FXT_KIND_EVENT);
	cr_expect(process_is(reader, 10, "second, which is longer"));
	cr_expect(thread_is(reader, 10, 12, "of nobody"));
	cr_assert(fxt_reader_process_name(reader, 10, &name));
	cr_expect_eq(name.data[name.length], '\0');
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* --- Modules ------------------------------------------------------------------------------------ */

static void write_module(struct fxt_writer *writer, uint64_t pid, uint16_t id, const char *name)
{
	struct fxt_record record = {.kind = FXT_KIND_MODULE};

	record.profiler.thread = fxt_thread_of(pid, pid);
	record.profiler.module = id;
	record.profiler.name = fxt_text(name);
	record.profiler.build_id = (struct fxt_bytes){"\x01\x02\x03", 3};
	cr_assert_eq(fxt_writer_write(writer, &record), 0);
}

static void write_mmap(struct fxt_writer *writer, uint64_t pid, uint16_t id, uint64_t start,
		       uint64_t size, uint64_t vaddr)
{
	struct fxt_record record = {.kind = FXT_KIND_MMAP};

	record.profiler.thread = fxt_thread_of(pid, pid);
	record.profiler.module = id;
	record.profiler.start = start;
	record.profiler.range = size;
	record.profiler.vaddr = vaddr;
	cr_assert_eq(fxt_writer_write(writer, &record), 0);
}

static bool lies(const struct fxt_reader *reader, uint64_t pid, uint64_t address, const char *name)
{
	const struct fxt_mapping *mapping = fxt_reader_find_mapping(reader, pid, address);

	return mapping ? name && fxt_string_equals(&mapping->name, name) : !name;
}

Test(context, modules)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record event = memory_archive_event(10, 10, "event", 1);
	const struct fxt_mapping *mapping;
	struct fxt_reader *reader;

	fxt_writer_provider(writer, 1, "one", 1000000000);
	write_module(writer, 10, 0, "program");
	write_module(writer, 10, 1, "libc.so");
	write_mmap(writer, 10, 0, 0x1000, 0x2000, 0x100);
	write_mmap(writer, 10, 1, 0x5000, 0x1000, 0);
	write_mmap(writer, 10, 1, 0x3000, 0x1000, 0x9000);
	write_mmap(writer, 10, 9, 0x9000, 0x1000, 0); /* no such module */
	write_mmap(writer, 10, 1, 0xa000, 0, 0);
	write_mmap(writer, 10, 1, UINT64_MAX - 5, 100, 0); /* around the end */
	write_mmap(writer, 10, 1, UINT64_MAX - 5, 6, 0);
	fxt_writer_write(writer, &event);
	/* The number is given again; and over two of the others something else is mapped. */
	write_module(writer, 10, 1, "libm.so");
	write_mmap(writer, 10, 1, 0x2fff, 0x100, 0);
	fxt_writer_write(writer, &event);
	/* The process executes another program. */
	fxt_writer_provider(writer, 2, "two", 1000000000);
	write_module(writer, 10, 0, "other");
	write_mmap(writer, 10, 0, 0x8000, 0x1000, 0);
	fxt_writer_write(writer, &event);
	fxt_writer_close(writer);

	reader = memory_archive_reader(&archive);
	next(reader, FXT_KIND_EVENT);
	cr_expect(lies(reader, 10, 0xfff, NULL));
	cr_expect(lies(reader, 10, 0x1000, "program"));
	cr_expect(lies(reader, 10, 0x2fff, "program"));
	cr_expect(lies(reader, 10, 0x3000, "libc.so"));
	cr_expect(lies(reader, 10, 0x4000, NULL));
	cr_expect(lies(reader, 10, 0x5fff, "libc.so"));
	cr_expect(lies(reader, 10, 0x9000, NULL));
	cr_expect(lies(reader, 10, 0xa000, NULL));
	cr_expect(lies(reader, 10, UINT64_MAX - 6, NULL));
	cr_expect(lies(reader, 10, UINT64_MAX, "libc.so"));
	cr_expect(lies(reader, 11, 0x1000, NULL));
	mapping = fxt_reader_find_mapping(reader, 10, 0x1234);
	cr_expect_eq(mapping->start, 0x1000u);
	cr_expect_eq(mapping->size, 0x2000u);
	cr_expect_eq(0x1234 - mapping->start + mapping->vaddr, 0x334u);
	cr_assert_eq(mapping->build_id.size, 3u);
	cr_expect(memcmp(mapping->build_id.data, "\x01\x02\x03", 3) == 0);
	next(reader, FXT_KIND_EVENT);
	cr_expect(lies(reader, 10, 0x1000, NULL));
	cr_expect(lies(reader, 10, 0x2fff, "libm.so"));
	cr_expect(lies(reader, 10, 0x3500, NULL));
	cr_expect(lies(reader, 10, 0x5000, "libc.so"));
	next(reader, FXT_KIND_EVENT);
	cr_expect(lies(reader, 10, 0x5000, NULL));
	cr_expect(lies(reader, 10, 0x8000, "other"));
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* --- Times and threads --------------------------------------------------------------------------- */

Test(context, times_and_threads_of_records)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record event = memory_archive_event(10, 11, "event", 192);
	struct fxt_record change = {.kind = FXT_KIND_CONTEXT_SWITCH};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	uint64_t time = 5;

	fxt_writer_provider(writer, 1, "one", 19200000);
	fxt_writer_write(writer, &event);
	change.scheduling.timestamp = 384;
	change.scheduling.outgoing.tid = 1;
	change.scheduling.incoming.tid = 2;
	fxt_writer_write(writer, &change);
	fxt_writer_close(writer);

	reader = memory_archive_reader(&archive);
	record = next(reader, FXT_KIND_PROVIDER_INFO);
	cr_expect_not(fxt_record_time(record, &time));
	cr_expect_eq(time, 5u);
	cr_expect_null(fxt_record_thread(record));
	record = next(reader, FXT_KIND_EVENT);
	cr_expect(fxt_record_time(record, &time));
	cr_expect_eq(time, 10000u);
	cr_expect_eq(fxt_record_thread(record)->tid, 11u);
	record = next(reader, FXT_KIND_CONTEXT_SWITCH);
	cr_expect(fxt_record_time(record, &time));
	cr_expect_eq(time, 20000u);
	cr_expect_eq(fxt_record_thread(record)->tid, 2u);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* --- Archives that grow -------------------------------------------------------------------------- */

static void make_events(struct memory_archive *archive, enum fxt_compression compression,
			unsigned count)
{
	struct fxt_writer *writer = memory_archive_open(archive);

	cr_assert_eq(fxt_writer_set_compression(writer, compression, 0), 0);
	for (unsigned i = 0; i < count; i++) {
		struct fxt_record event = memory_archive_event(1, 2, i % 2 ? "odd" : "even", i);

		fxt_record_add_arg(&event, "i", FXT_ARG_UINT32)->uint32 = i;
		cr_assert_eq(fxt_writer_write(writer, &event), 0);
	}
	cr_assert_eq(fxt_writer_close(writer), 0);
}

/* Whatever is there so far ends anywhere: each record is read once, and none is cut. */
static void grow(enum fxt_compression compression, size_t step, bool cut)
{
	const unsigned count = 3000;
	struct memory_archive archive = {0};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	unsigned seen = 0;
	int r;

	make_events(&archive, compression, count);
	archive.step = 700;
	cr_assert_eq(fxt_reader_open_function(memory_archive_read, &archive, &reader), 0);
	fxt_reader_set_growing(reader, true);
	for (archive.visible = 1; archive.visible < archive.size - cut; archive.visible += step) {
		while ((r = fxt_reader_next(reader, &record)) > 0)
			if (record->kind == FXT_KIND_EVENT)
				cr_assert_eq(record->args[0].uint32, seen++);
		cr_assert_eq(r, -EAGAIN);
	}
	archive.visible = archive.size - cut;
	fxt_reader_set_growing(reader, false);
	while ((r = fxt_reader_next(reader, &record)) > 0)
		if (record->kind == FXT_KIND_EVENT)
			cr_assert_eq(record->args[0].uint32, seen++);
	cr_expect_eq(r, 0);
	if (cut)
		cr_expect_eq(fxt_reader_fault_count(reader), 1u);
	else
		cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	if (!cut || compression == FXT_COMPRESSION_NONE)
		cr_expect_eq(seen, count - cut);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

Test(growing, plain)
{
	grow(FXT_COMPRESSION_NONE, 7, false);
	grow(FXT_COMPRESSION_NONE, 4001, true);
}

Test(growing, gzip)
{
	grow(FXT_COMPRESSION_GZIP, 1, false);
	grow(FXT_COMPRESSION_GZIP, 13, true);
}

Test(growing, zstd)
{
	grow(FXT_COMPRESSION_ZSTD, 1, false);
	grow(FXT_COMPRESSION_ZSTD, 13, true);
}

/* A record that is too large to hold, and comes in pieces. */
Test(growing, past_a_record_beyond_the_limit)
{
	const size_t payload = (64 << 20) + 80, size = 8 + 24 + payload + 16;
	struct memory_archive archive = {.data = calloc(1, size), .size = size};
	const uint64_t head[] = {FXT_MAGIC_RECORD,
				 FXT_PUT(LARGE_RECORD_TYPE, FXT_RECORD_LARGE) |
				     FXT_PUT(LARGE_SIZE, 3 + payload / 8) |
				     FXT_PUT(LARGE_TYPE, FXT_LARGE_BLOB) |
				     FXT_PUT(LARGE_BLOB_FORMAT, FXT_LARGE_BLOB_ATTACHMENT),
				 0, payload};
	const uint64_t tail[] = {
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_INITIALIZATION) | FXT_PUT(RECORD_SIZE, 2), 1000};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	unsigned seen = 0;
	int r;

	cr_assert_not_null(archive.data);
	memcpy(archive.data, head, sizeof(head));
	memcpy(archive.data + size - sizeof(tail), tail, sizeof(tail));
	cr_assert_eq(fxt_reader_open_function(memory_archive_read, &archive, &reader), 0);
	fxt_reader_set_growing(reader, true);
	for (archive.visible = 3; archive.visible < size; archive.visible += 9000001) {
		while ((r = fxt_reader_next(reader, &record)) > 0)
			seen++;
		cr_assert_eq(r, -EAGAIN);
	}
	cr_expect_eq(seen, 1u);
	archive.visible = size;
	cr_expect_eq(fxt_reader_next(reader, &record), 1);
	cr_expect_eq(record->kind, FXT_KIND_INITIALIZATION);
	cr_expect_eq(record->offset, size - sizeof(tail));
	cr_expect_eq(fxt_reader_fault_count(reader), 1u);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* A pipe that does not block says when there is nothing, and its end is an end. */
Test(growing, a_descriptor_that_does_not_block)
{
	struct memory_archive archive = {0};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	unsigned seen = 0;
	int fds[2], r;

	make_events(&archive, FXT_COMPRESSION_NONE, 100);
	cr_assert_eq(pipe2(fds, O_NONBLOCK), 0);
	cr_assert_eq(fxt_reader_open_fd(fds[0], &reader), 0);
	cr_expect_eq(fxt_reader_next(reader, &record), -EAGAIN);
	for (size_t at = 0; at < archive.size; at += 1000) {
		size_t part = archive.size - at < 1000 ? archive.size - at : 1000;

		cr_assert_eq(write(fds[1], archive.data + at, part), (ssize_t)part);
		while ((r = fxt_reader_next(reader, &record)) > 0)
			seen += record->kind == FXT_KIND_EVENT;
		cr_expect_eq(r, -EAGAIN);
	}
	close(fds[1]);
	cr_expect_eq(fxt_reader_next(reader, &record), 0);
	cr_expect_eq(seen, 100u);
	cr_expect_eq(fxt_reader_fault_count(reader), 0u);
	fxt_reader_close(reader);
	close(fds[0]);
	memory_archive_free(&archive);
}

static ssize_t fail_to_read(void *opaque, void *buffer, size_t size)
{
	(void)buffer;
	return opaque ? (ssize_t)size + 1 : -ENODEV;
}

Test(growing, functions_that_fail)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;

	cr_expect_eq(fxt_reader_open_function(NULL, NULL, &reader), -EINVAL);
	cr_assert_eq(fxt_reader_open_function(fail_to_read, NULL, &reader), 0);
	cr_expect_eq(fxt_reader_next(reader, &record), -ENODEV);
	fxt_reader_close(reader);
	cr_assert_eq(fxt_reader_open_function(fail_to_read, &reader, &reader), 0);
	cr_expect_eq(fxt_reader_next(reader, &record), -EIO);
	fxt_reader_close(reader);
}

/* --- The memory limit ----------------------------------------------------------------------------- */

static uint64_t limit_faults;

static void count_limit(void *opaque, const struct fxt_fault *fault)
{
	(void)opaque;
	limit_faults += fault->kind == FXT_FAULT_MEMORY_LIMIT;
}

/* What there is no room for is unknown, and never another text; what was there before stays. */
Test(limit, strings_threads_and_names)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	const struct fxt_record *record;
	struct fxt_reader *reader;
	unsigned known = 0, unknown = 0, i = 0;
	char text[600];

	for (i = 0; i < 2000; i++) {
		struct fxt_record event;

		snprintf(text, sizeof(text), "%0500u", i);
		fxt_writer_name_process(writer, i + 1, text);
		event = memory_archive_event(1, 2, text, i);
		fxt_writer_write(writer, &event);
	}
	fxt_writer_close(writer);
	i = 0;
	reader = memory_archive_reader(&archive);
	fxt_reader_set_memory_limit(reader, 200000);
	fxt_reader_set_fault_handler(reader, count_limit, NULL);
	while (fxt_reader_next(reader, &record) > 0) {
		if (record->kind != FXT_KIND_EVENT)
			continue;
		snprintf(text, sizeof(text), "%0500u", i++);
		if (fxt_string_equals(&record->event.name, text))
			known++;
		else if (fxt_string_equals(&record->event.name, "(unknown)"))
			unknown++;
	}
	cr_expect_eq(known + unknown, 2000u);
	cr_expect_gt(known, 100u);
	cr_expect_gt(unknown, 1000u);
	cr_expect_gt(limit_faults, 2000u);
	cr_expect(process_is(reader, 2000, NULL));
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}

/* --- Batches -------------------------------------------------------------------------------------- */

static bool text_is(const struct fxt_batch *batch, uint32_t number, const char *text)
{
	const struct fxt_text *t = &batch->texts[number];

	cr_assert_lt(number, batch->text_count);
	cr_assert_lt(t->offset + t->length, batch->byte_count);
	cr_expect_eq(batch->bytes[t->offset + t->length], '\0');
	return t->length == strlen(text) && memcmp(batch->bytes + t->offset, text, t->length) == 0;
}

Test(batch, the_same_as_one_by_one)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_reader *one, *many;
	const struct fxt_record *record;
	const struct fxt_batch *batch;
	unsigned rows = 0, batches = 0;
	char text[32];

	for (unsigned i = 0; i < 5000; i++) {
		struct fxt_record event;

		snprintf(text, sizeof(text), "name%u", i % 777);
		event = memory_archive_event(1 + i % 3, 10 + i % 7, text, i);
		fxt_record_add_arg(&event, "int", FXT_ARG_INT32)->int32 = -5;
		fxt_record_add_arg(&event, "text", FXT_ARG_STRING)->string = fxt_text(text);
		fxt_record_add_arg(&event, "real", FXT_ARG_DOUBLE)->real = 0.5;
		fxt_writer_write(writer, &event);
		if (i % 1000 == 0)
			fxt_writer_name_thread(writer, 1 + i % 3, 10 + i % 7, text);
	}
	fxt_writer_close(writer);
	one = memory_archive_reader(&archive);
	many = memory_archive_reader(&archive);
	while (fxt_reader_next_batch(many, FXT_KIND_BIT(FXT_KIND_EVENT), 300, &batch) > 0) {
		batches++;
		for (size_t i = 0; i < batch->row_count; i++, rows++) {
			const struct fxt_row *row = fxt_batch_row(batch, i);
			const struct fxt_row_arg *args = batch->args + row->first_arg;
			struct fxt_string name;

			record = next(one, FXT_KIND_EVENT);
			cr_assert_eq(row->kind, FXT_KIND_EVENT);
			cr_assert_eq(row->type, FXT_EVENT_DURATION_COMPLETE);
			cr_assert_eq(row->offset, record->offset);
			cr_assert_eq(row->time, record->event.timestamp);
			cr_assert_eq(row->end, record->event.end_time);
			cr_assert_eq(row->pid, record->event.thread.pid);
			cr_assert_eq(row->tid, record->event.thread.tid);
			cr_assert_eq(row->provider, 1u);
			cr_assert(row->has_time);
			snprintf(text, sizeof(text), "name%u", rows % 777);
			cr_assert(text_is(batch, row->category, "test"));
			cr_assert(text_is(batch, row->name, text));
			if (fxt_reader_thread_name(one, row->pid, row->tid, &name)) {
				snprintf(text, sizeof(text), "%s", name.data);
				cr_assert(text_is(batch, row->thread, text));
			} else {
				cr_assert_eq(row->thread, 0u);
			}
			cr_assert_eq(row->nargs, 3);
			cr_assert_eq((int64_t)args[0].value, -5);
			cr_assert(text_is(batch, args[0].name, "int"));
			snprintf(text, sizeof(text), "name%u", rows % 777);
			cr_assert(text_is(batch, (uint32_t)args[1].value, text));
			cr_assert_eq(args[2].type, FXT_ARG_DOUBLE);
		}
	}
	cr_expect_eq(rows, 5000u);
	cr_expect_eq(batches, 17u);
	fxt_reader_close(one);
	fxt_reader_close(many);
	memory_archive_free(&archive);
}

/* Every kind has its row, unknown ones too; texts are few however often they are used. */
Test(batch, all_kinds)
{
	struct memory_archive archive = {0};
	struct fxt_writer *writer = memory_archive_open(&archive);
	struct fxt_record event = memory_archive_event(10, 11, "event", 1);
	struct fxt_record log = {.kind = FXT_KIND_LOG};
	struct fxt_record trace = {.kind = FXT_KIND_BACKTRACE};
	const uint64_t frames[] = {0x10, 0x20}, unknown[] = {13 | 2 << 4, 77};
	const struct fxt_batch *batch;
	struct fxt_reader *reader;
	unsigned seen[FXT_KIND_COUNT] = {0};

	for (unsigned i = 0; i < 1000; i++)
		fxt_writer_write(writer, &event);
	log.log.thread = fxt_thread_of(10, 11);
	log.log.message = fxt_text("message");
	fxt_writer_write(writer, &log);
	write_module(writer, 10, 3, "module");
	write_mmap(writer, 10, 3, 0x1000, 0x2000, 0x3000);
	trace.profiler.frames = frames;
	trace.profiler.frame_count = 2;
	fxt_writer_write(writer, &trace);
	fxt_writer_close(writer);
	memory_archive_write(&archive, unknown, sizeof(unknown));

	reader = memory_archive_reader(&archive);
	cr_assert_eq(fxt_reader_next_batch(reader, FXT_KINDS_ALL, 0, &batch), -EINVAL);
	cr_assert_eq(fxt_reader_next_batch(reader, FXT_KINDS_ALL, 100000, &batch), 1);
	cr_expect_lt(batch->text_count, 40u);
	for (size_t i = 0; i < batch->row_count; i++) {
		const struct fxt_row *row = fxt_batch_row(batch, i);
		const struct fxt_row_arg *args = batch->args + row->first_arg;

		cr_assert_lt(row->kind, FXT_KIND_COUNT);
		seen[row->kind]++;
		switch (row->kind) {
		case FXT_KIND_LOG:
			cr_expect(text_is(batch, row->name, "message"));
			break;
		case FXT_KIND_MODULE:
			cr_expect_eq(row->id, 3u);
			cr_expect(text_is(batch, row->name, "module"));
			cr_expect(text_is(batch, row->payload, "\x01\x02\x03"));
			break;
		case FXT_KIND_MMAP:
			cr_assert_eq(row->nargs, 3);
			cr_expect_eq(args[2].value, 0x3000u);
			cr_expect(text_is(batch, args[2].name, "vaddr"));
			break;
		case FXT_KIND_BACKTRACE:
			cr_assert_eq(row->nargs, 2);
			cr_expect_eq(args[1].value, 0x20u);
			break;
		case FXT_KIND_UNKNOWN:
			cr_expect_eq(batch->texts[row->payload].length, 16u);
			break;
		default:
			break;
		}
	}
	cr_expect_eq(seen[FXT_KIND_EVENT], 1000u);
	cr_expect_eq(seen[FXT_KIND_MAGIC], 1u);
	cr_expect_eq(seen[FXT_KIND_PROVIDER_INFO], 1u);
	cr_expect_eq(seen[FXT_KIND_STRING], 2u);
	cr_expect_eq(seen[FXT_KIND_THREAD], 3u);
	cr_expect_eq(seen[FXT_KIND_LOG] + seen[FXT_KIND_MODULE] + seen[FXT_KIND_MMAP] +
			 seen[FXT_KIND_BACKTRACE] + seen[FXT_KIND_UNKNOWN],
		     5u);
	cr_expect_eq(fxt_reader_next_batch(reader, FXT_KINDS_ALL, 1, &batch), 0);
	fxt_reader_close(reader);
	memory_archive_free(&archive);
}
