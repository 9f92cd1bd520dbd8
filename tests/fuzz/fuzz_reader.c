/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, as an archive that libfxtrace-reader's users read: whole or as it grows, one by one or in batches, within some
 * limit of memory, asked for names and modules; and written again, which the reader has to find well-formed.
 *
 * The first bytes choose how; the archive stands behind them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/batch.h>
#include <fxtrace/writer.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

struct how {
	bool bare;
	uint64_t memory_limit;
	size_t piece;  /* bytes at a time */
	size_t rows;   /* of a batch */
	uint8_t flush; /* what is written is flushed after so many records; 0: never */
	int compression;
};

/* What a reading comes to: equal, to the byte, for equal archives. Without padding. */
struct sum {
	uint64_t records, faults, hash;
	int64_t result;
};

static void sum_add(struct sum *sum, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		sum->hash = (sum->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void sum_string(struct sum *sum, const struct fxt_string *string)
{
	sum_add(sum, &string->length, sizeof(string->length));
	sum_add(sum, string->data, string->length);
}

static void must(bool is)
{
	if (!is)
		abort();
}

static void sum_names(struct sum *sum, const struct fxt_reader *reader,
		      const struct fxt_record *record)
{
	const struct fxt_thread *thread = fxt_record_thread(record);
	const struct fxt_mapping *mapping;
	struct fxt_string name;

	if (!thread)
		return;
	if (fxt_reader_process_name(reader, thread->pid, &name))
		sum_string(sum, &name);
	if (fxt_reader_thread_name(reader, thread->pid, thread->tid, &name)) {
		must(name.data[name.length] == '\0');
		sum_string(sum, &name);
	}
	for (uint32_t i = 0; record->kind == FXT_KIND_BACKTRACE && i < record->profiler.frame_count;
	     i++) {
		mapping = fxt_reader_find_mapping(reader, thread->pid, record->profiler.frames[i]);
		if (!mapping)
			continue;
		must(record->profiler.frames[i] - mapping->start < mapping->size);
		sum_string(sum, &mapping->name);
		sum_add(sum, mapping->build_id.data, mapping->build_id.size);
	}
}

static void sum_record(struct sum *sum, const struct fxt_reader *reader,
		       const struct fxt_record *record)
{
	uint64_t time = 0;

	sum->records++;
	sum_add(sum, &record->kind, sizeof(record->kind));
	sum_add(sum, &record->offset, sizeof(record->offset));
	sum_add(sum, record->words, record->size * FXT_WORD_SIZE);
	sum_add(sum, record->provider->name, strlen(record->provider->name));
	if (fxt_record_time(record, &time))
		sum_add(sum, &time, sizeof(time));
	if (record->kind == FXT_KIND_EVENT) {
		sum_string(sum, &record->event.category);
		sum_string(sum, &record->event.name);
	}
	for (uint32_t i = 0; i < record->nargs; i++)
		if (record->args[i].type == FXT_ARG_STRING)
			sum_string(sum, &record->args[i].string);
	sum_names(sum, reader, record);
}

/* How much of corrupt compressed data comes out before that is found depends on how they come. */
static bool is_corrupt;

static void note_corrupt(void *opaque, const struct fxt_fault *fault)
{
	(void)opaque;
	is_corrupt |= fault->kind == FXT_FAULT_CORRUPT_COMPRESSION;
}

static void reader_begin(struct fxt_reader *reader, const struct how *how)
{
	fxt_reader_set_fault_handler(reader, note_corrupt, NULL);
	fxt_reader_set_bare(reader, how->bare);
	fxt_reader_set_memory_limit(reader, how->memory_limit);
}

static struct sum read_whole(const struct how *how, const struct input *archive)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	struct sum sum = {0};

	must(fxt_reader_open_memory(archive->at, (size_t)(archive->end - archive->at), &reader) ==
	     0);
	reader_begin(reader, how);
	while ((sum.result = fxt_reader_next(reader, &record)) > 0)
		sum_record(&sum, reader, record);
	sum.faults = fxt_reader_fault_count(reader);
	fxt_reader_close(reader);
	return sum;
}

/* A file that grows by a piece whenever it has been read to its end. */
struct growth {
	struct input rest;
	size_t piece, there;
};

static ssize_t growth_read(void *opaque, void *buffer, size_t size)
{
	struct growth *growth = opaque;
	size_t n = growth->there < size ? growth->there : size;

	growth->there -= n;
	return (ssize_t)input_take(&growth->rest, buffer, n);
}

static struct sum read_growing(const struct how *how, const struct input *archive)
{
	struct growth growth = {.rest = *archive, .piece = how->piece};
	const struct fxt_record *record;
	struct fxt_reader *reader;
	struct sum sum = {0};

	must(fxt_reader_open_function(growth_read, &growth, &reader) == 0);
	reader_begin(reader, how);
	fxt_reader_set_growing(reader, true);
	for (;;) {
		sum.result = fxt_reader_next(reader, &record);
		if (sum.result > 0) {
			sum_record(&sum, reader, record);
		} else if (sum.result != -EAGAIN) {
			break;
		} else if (input_is_over(&growth.rest)) {
			fxt_reader_set_growing(reader, false);
		} else {
			growth.there += growth.piece;
		}
	}
	sum.faults = fxt_reader_fault_count(reader);
	fxt_reader_close(reader);
	return sum;
}

/* --- Batches ------------------------------------------------------------------------------------ */

static void check_text(const struct fxt_batch *batch, uint64_t number)
{
	const struct fxt_text *text;

	must(number < batch->text_count);
	text = &batch->texts[number];
	must(text->offset < batch->byte_count && text->length < batch->byte_count - text->offset);
	must(batch->bytes[text->offset + text->length] == '\0');
}

static void check_row(const struct fxt_batch *batch, const struct fxt_row *row)
{
	check_text(batch, row->category);
	check_text(batch, row->name);
	check_text(batch, row->payload);
	check_text(batch, row->process);
	check_text(batch, row->thread);
	must(row->first_arg + row->nargs <= batch->arg_count);
	for (uint32_t i = 0; i < row->nargs; i++) {
		const struct fxt_row_arg *arg = &batch->args[row->first_arg + i];

		check_text(batch, arg->name);
		if (arg->type == FXT_ARG_STRING || arg->type == FXT_ARG_BLOB)
			check_text(batch, arg->value);
	}
}

static uint64_t read_batches(const struct how *how, const struct input *archive)
{
	const struct fxt_batch *batch;
	struct fxt_reader *reader;
	uint64_t rows = 0;

	must(fxt_reader_open_memory(archive->at, (size_t)(archive->end - archive->at), &reader) ==
	     0);
	reader_begin(reader, how);
	while (fxt_reader_next_batch(reader, FXT_KINDS_ALL, how->rows, &batch) > 0) {
		must(batch->row_count > 0 && batch->row_count <= how->rows);
		for (size_t i = 0; i < batch->row_count; i++)
			check_row(batch, fxt_batch_row(batch, i));
		rows += batch->row_count;
	}
	fxt_reader_close(reader);
	return rows;
}

/* --- Writing ------------------------------------------------------------------------------------- */

struct copy {
	uint8_t *data;
	size_t size;
};

static ssize_t copy_take(void *opaque, const void *data, size_t size)
{
	struct copy *copy = opaque;

	copy->data = realloc(copy->data, copy->size + size);
	must(copy->data != NULL);
	memcpy(copy->data + copy->size, data, size);
	copy->size += size;
	return (ssize_t)size;
}

/* Whether a record says something itself. */
static bool is_content(const struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_UNKNOWN:
	case FXT_KIND_MAGIC:
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_INITIALIZATION:
	case FXT_KIND_STRING:
	case FXT_KIND_THREAD:
		return false;
	default:
		return true;
	}
}

/* Writes what can be written. Returns how many records of contents. */
static uint64_t write_again(const struct how *how, const struct input *archive, struct copy *copy)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	struct fxt_writer *writer;
	uint64_t count = 0, written = 0;

	must(fxt_reader_open_memory(archive->at, (size_t)(archive->end - archive->at), &reader) ==
	     0);
	reader_begin(reader, how);
	must(fxt_writer_open_function(copy_take, copy, &writer) == 0);
	must(fxt_writer_set_compression(writer, (enum fxt_compression)how->compression, 1) == 0);
	while (fxt_reader_next(reader, &record) > 0) {
		int r = fxt_writer_write(writer, record);

		must(r == 0 || r == -EINVAL || r == -EMSGSIZE || r == -EOPNOTSUPP);
		count += r == 0 && is_content(record);
		if (how->flush && ++written % how->flush == 0)
			must(fxt_writer_flush(writer) == 0);
	}
	must(fxt_writer_close(writer) == 0);
	fxt_reader_close(reader);
	return count;
}

static uint64_t count_contents(const struct copy *copy)
{
	const struct fxt_record *record;
	struct fxt_reader *reader;
	uint64_t count = 0;

	must(fxt_reader_open_memory(copy->data, copy->size, &reader) == 0);
	while (fxt_reader_next(reader, &record) > 0)
		count += is_content(record);
	must(fxt_reader_fault_count(reader) == 0);
	fxt_reader_close(reader);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	uint8_t flags = input_u8(&in);
	struct how how = {
	    .bare = flags & 1,
	    .memory_limit = flags & 2 ? input_u16(&in) : UINT64_C(1) << 32,
	    .piece = 1 + input_u16(&in),
	    .rows = 1 + input_u8(&in),
	    .flush = flags & 4 ? input_u8(&in) : 0,
	    .compression = flags >> 3 & 1 ? 1 + (flags >> 4 & 1) : 0,
	};
	struct copy copy = {0};
	struct sum whole, growing;

	is_corrupt = false;
	whole = read_whole(&how, &in);
	growing = read_growing(&how, &in);
	must(is_corrupt || memcmp(&whole, &growing, sizeof(whole)) == 0);
	must(read_batches(&how, &in) == whole.records);
	must(write_again(&how, &in, &copy) == count_contents(&copy));
	free(copy.data);
	return 0;
}
