/* SPDX-License-Identifier: MIT */
/* An archive in memory, that the writer writes and the reader reads. */
#ifndef FX_TESTS_MEMORY_ARCHIVE_H
#define FX_TESTS_MEMORY_ARCHIVE_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fxtrace/batch.h>
#include <fxtrace/writer.h>

#include <criterion/criterion.h>

struct memory_archive {
	uint8_t *data;
	size_t size;
	size_t read;	/* by memory_archive_read() */
	size_t visible; /* what that shows of it; 0: all */
	size_t step;	/* at most so many bytes at a time; 0: any */
};

static inline ssize_t memory_archive_write(void *opaque, const void *data, size_t size)
{
	struct memory_archive *archive = opaque;
	size_t part = archive->step && archive->step < size ? archive->step : size;

	archive->data = realloc(archive->data, archive->size + part);
	cr_assert_not_null(archive->data);
	memcpy(archive->data + archive->size, data, part);
	archive->size += part;
	return (ssize_t)part;
}

static inline ssize_t memory_archive_read(void *opaque, void *buffer, size_t size)
{
	struct memory_archive *archive = opaque;
	size_t end = archive->visible ? archive->visible : archive->size;
	size_t part = end - archive->read < size ? end - archive->read : size;

	if (archive->step && part > archive->step)
		part = archive->step;
	memcpy(buffer, archive->data + archive->read, part);
	archive->read += part;
	return (ssize_t)part;
}

static inline struct fxt_writer *memory_archive_open(struct memory_archive *archive)
{
	struct fxt_writer *writer;

	cr_assert_eq(fxt_writer_open_function(memory_archive_write, archive, &writer), 0);
	return writer;
}

static inline struct fxt_reader *memory_archive_reader(const struct memory_archive *archive)
{
	struct fxt_reader *reader;

	cr_assert_eq(fxt_reader_open_memory(archive->data, archive->size, &reader), 0);
	return reader;
}

static inline void memory_archive_free(struct memory_archive *archive)
{
	free(archive->data);
	*archive = (struct memory_archive){0};
}

/* A complete event without arguments. */
static inline struct fxt_record memory_archive_event(uint64_t pid, uint64_t tid, const char *name,
						     uint64_t time)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.type = FXT_EVENT_DURATION_COMPLETE;
	record.event.thread = fxt_thread_of(pid, tid);
	record.event.category = fxt_text("test");
	record.event.name = fxt_text(name);
	record.event.timestamp = time;
	record.event.end_time = time + 5;
	return record;
}

#endif /* FX_TESTS_MEMORY_ARCHIVE_H */
