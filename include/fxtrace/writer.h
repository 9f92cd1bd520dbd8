/* SPDX-License-Identifier: MIT */
/*
 * Writing archives: the records of <fxtrace/record.h> go in, as the reader yields them or as a program
 * makes them, and the writer sees to the tables of strings and threads, to sections and compression.
 *
 *     struct fxt_record record = {.kind = FXT_KIND_EVENT};
 *     struct fxt_writer *writer;
 *     int r = fxt_writer_open_path("app.fxt.zst", &writer);
 *     if (r < 0)
 *             return r;
 *     fxt_writer_provider(writer, 1, "app", 1000000000);
 *     fxt_writer_name_process(writer, 100, "app");
 *     record.event.type = FXT_EVENT_DURATION_COMPLETE;
 *     record.event.thread = fxt_thread_of(100, 101);
 *     record.event.category = fxt_text("disk");
 *     record.event.name = fxt_text("read");
 *     record.event.timestamp = 5000;
 *     record.event.end_time = 7000;
 *     fxt_record_add_arg(&record, "bytes", FXT_ARG_UINT64)->uint64 = 4096;
 *     r = fxt_writer_write(writer, &record);
 *     ...
 *     r = fxt_writer_close(writer);
 *
 * A writer is used by one thread at a time. It takes some 100 KiB, and for each provider its texts, which are
 * 32 MiB at most.
 */
#ifndef FXTRACE_WRITER_H
#define FXTRACE_WRITER_H

#include <sys/types.h>

#include <fxtrace/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fxt_writer;

/*
 * Each returns 0, or -errno, and then *@ret is untouched. A file is made anew, with mode 0600, and compressed if its name
 * ends in .gz or .zst. The descriptor is borrowed.
 */
int fxt_writer_open_path(const char *path, struct fxt_writer **ret);
int fxt_writer_open_fd(int fd, struct fxt_writer **ret);

/* The same, to a function: it takes up to @size bytes and returns how many, more than none, or -errno. */
typedef ssize_t fxt_write_function(void *opaque, const void *data, size_t size);
int fxt_writer_open_function(fxt_write_function *write, void *opaque, struct fxt_writer **ret);

enum fxt_compression { FXT_COMPRESSION_NONE, FXT_COMPRESSION_GZIP, FXT_COMPRESSION_ZSTD };

/* Before the first record only (else -EBUSY). @level as the compressor counts; 0: its usual one. */
int fxt_writer_set_compression(struct fxt_writer *writer, enum fxt_compression compression,
			       int level);

/*
 * The provider whose records follow. An id that is new is introduced with this name, of at most 255 bytes, and with these ticks per second
 * (of both nothing counts later). A record before the first is of provider 1, which has no name and counts nanoseconds.
 */
int fxt_writer_provider(struct fxt_writer *writer, uint32_t id, const char *name,
			uint64_t ticks_per_second);

/*
 * Writes a record. Of strings, data and length count, of threads pid and tid; what the record has as ref, serial, words, size
 * and offset does not, but that a string argument which stood in a table goes into one. If it has a provider, as the reader's have,
 * it is of that one, which is introduced if need be; else of the last one.
 *
 * Records of tables and sections follow from the others: here they do nothing. Provider info introduces the provider, an
 * initialization record says what its ticks are, in front of the first record that has them.
 *
 * Returns 0, or -errno, and then nothing of the record was written: -EINVAL: it says what the format cannot; -EMSGSIZE: it is
 * larger than the format allows; -EOPNOTSUPP: it is of a kind, or has an argument of a type, that this version does not
 * know; or what the output said, now or before.
 */
int fxt_writer_write(struct fxt_writer *writer, const struct fxt_record *record);

/* Writes what a process or thread is called, in front of its events best. */
int fxt_writer_name_process(struct fxt_writer *writer, uint64_t pid, const char *name);
int fxt_writer_name_thread(struct fxt_writer *writer, uint64_t pid, uint64_t tid, const char *name);

/* Hands all that was written to the output, compressed or not, for programs that read it meanwhile. 0 or -errno. */
int fxt_writer_flush(struct fxt_writer *writer);

/* Writes the rest and frees everything. Returns 0, or the first error of the output. NULL is allowed. */
int fxt_writer_close(struct fxt_writer *writer);

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_WRITER_H */
