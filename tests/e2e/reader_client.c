/* SPDX-License-Identifier: MIT */
/*
 * reader_client OUT: uses all of libfxtrace-reader's interface on archives of its own making, and prints what it finds; the
 * archive that it wrote is OUT.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/batch.h>
#include <fxtrace/writer.h>

/* What lies around what the library writes to must stay. */
struct guarded {
	uint64_t before[8];
	struct fxt_record record;
	uint64_t between[8];
	struct fxt_fault fault;
	uint64_t behind[8];
};

#define GUARD UINT64_C(0x5a5a5a5a5a5a5a5a)

static void say_string(const char *what, const struct fxt_string *string)
{
	printf(" %s=%.*s", what, (int)string->length, string->data);
}

static void on_fault(void *opaque, const struct fxt_fault *fault)
{
	char text[128];

	fxt_fault_format(fault, text, sizeof(text));
	printf("%s %" PRIu64 ": %s\n", (const char *)opaque, fault->offset, text);
}

static void must(int r, const char *what)
{
	if (r == 0)
		return;
	printf("%s: %s\n", what, strerror(-r));
	exit(1);
}

static void write_all(const char *path)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};
	struct fxt_writer *writer;

	must(fxt_writer_open_path(path, &writer), path);
	must(fxt_writer_provider(writer, 3, "client", 1000), "provider");
	must(fxt_writer_name_process(writer, 10, "process"), "process");
	must(fxt_writer_name_thread(writer, 10, 11, "thread"), "thread");
	record.event.type = FXT_EVENT_DURATION_COMPLETE;
	record.event.thread = fxt_thread_of(10, 11);
	record.event.category = fxt_text("category");
	record.event.name = fxt_text("name");
	record.event.timestamp = 5;
	record.event.end_time = 7;
	for (int i = 0; i < 15; i++)
		fxt_record_add_arg(&record, "key", FXT_ARG_INT32)->int32 = i;
	for (int i = 0; i < 100; i++)
		must(fxt_writer_write(writer, &record), "event");
	record = (struct fxt_record){.kind = FXT_KIND_MODULE};
	record.profiler.thread = fxt_thread_of(10, 11);
	record.profiler.module = 1;
	record.profiler.name = fxt_text("module.so");
	record.profiler.build_id = (struct fxt_bytes){"\1\2", 2};
	must(fxt_writer_write(writer, &record), "module");
	record.kind = FXT_KIND_MMAP;
	record.profiler.start = 0x1000;
	record.profiler.range = 0x100;
	record.profiler.vaddr = 0x30;
	must(fxt_writer_write(writer, &record), "mmap");
	must(fxt_writer_flush(writer), "flush");
	must(fxt_writer_close(writer), "close");
}

static void read_one_by_one(const char *path)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	struct fxt_string name;

	must(fxt_reader_open_path(path, &reader), path);
	fxt_reader_set_fault_handler(reader, on_fault, "fault");
	while (fxt_reader_next(reader, &record) > 0) {
		uint64_t time;

		printf("%" PRIu64 " %s provider=%s", record->offset, fxt_kind_name(record->kind),
		       record->provider->name);
		if (fxt_record_time(record, &time))
			printf(" time=%" PRIu64, time);
		if (record->kind == FXT_KIND_EVENT) {
			say_string("category", &record->event.category);
			say_string("name", &record->event.name);
			printf(" end=%" PRIu64, record->event.end_time);
		}
		for (uint32_t i = 0; i < record->nargs; i++) {
			say_string("arg", &record->args[i].name);
			printf("/%d", record->args[i].int32);
		}
		putchar('\n');
	}
	if (fxt_reader_process_name(reader, 10, &name))
		say_string("process", &name);
	if (fxt_reader_thread_name(reader, 10, 11, &name))
		say_string("thread", &name);
	say_string("module", &fxt_reader_find_mapping(reader, 10, 0x1050)->name);
	printf(" faults=%" PRIu64 "\n", fxt_reader_fault_count(reader));
	fxt_reader_close(reader);
}

static void read_batches(const char *path)
{
	const struct fxt_batch *batch;
	struct fxt_reader *reader;

	must(fxt_reader_open_path(path, &reader), path);
	while (fxt_reader_next_batch(reader, FXT_KINDS_ALL, 7, &batch) > 0)
		for (size_t i = 0; i < batch->row_count; i++) {
			const struct fxt_row *row = fxt_batch_row(batch, i);
			const struct fxt_text *name = &batch->texts[row->name];

			printf("%" PRIu64 " kind=%u nargs=%u name=%.*s end=%" PRIu64 "\n",
			       row->offset, row->kind, row->nargs, (int)name->length,
			       batch->bytes + name->offset, row->end);
		}
	fxt_reader_close(reader);
}

/* Words of its own, decoded into its own memory. */
static void decode_one(void)
{
	const uint64_t words[] = {FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, 4) |
				      FXT_PUT(EVENT_TYPE, FXT_EVENT_COUNTER) |
				      FXT_PUT(EVENT_NARGS, 1) | FXT_PUT(EVENT_THREAD, 1),
				  77,
				  FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) |
				      FXT_PUT(ARG_VALUE32_VALUE, 6),
				  99};
	struct guarded all;
	const uint64_t *guards[] = {all.before, all.between, all.behind};

	memset(&all, 0x5a, sizeof(all));
	printf("decoded %d", (int)fxt_record_decode(words, 4, &all.record, &all.fault));
	printf(" time=%" PRIu64 " arg=%d", all.record.event.timestamp, all.record.args[0].int32);
	printf(" cut=%d", (int)fxt_record_decode(words, 3, &all.record, &all.fault));
	printf(" fault=%d\n",
	       (int)fxt_record_decode((const uint64_t[]){0}, 1, &all.record, &all.fault));
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 8; j++)
			if (guards[i][j] != GUARD)
				printf("overwritten: %u %u\n", i, j);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	write_all(argv[1]);
	read_one_by_one(argv[1]);
	read_batches(argv[1]);
	decode_one();
	return 0;
}
