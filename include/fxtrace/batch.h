/* SPDX-License-Identifier: MIT */
/*
 * Many records at once, as tables: rows of numbers, and texts that these refer to. For languages in
 * which a call costs more than a record, for columns of numbers, and for databases.
 *
 *     const struct fxt_batch *batch;
 *     while ((r = fxt_reader_next_batch(reader, FXT_KIND_BIT(FXT_KIND_EVENT), 10000, &batch)) > 0)
 *             for (size_t i = 0; i < batch->row_count; i++) {
 *                     const struct fxt_row *row = fxt_batch_row(batch, i);
 *                     const struct fxt_text *name = &batch->texts[row->name];
 *                     print(batch->bytes + name->offset, name->length, row->end - row->time);
 *             }
 *
 * What a row has of a record, by its kind; what stands in no column here is 0:
 *
 *     kind                  time pid,tid category name  payload   id               type           args
 *     event                  x     x       x       x              scope, id        event type      x
 *     log                    x     x             message
 *     large-event            x     x       x       x    its bytes                                  x
 *     large-attachment                     x       x    its bytes
 *     blob                                         x    its bytes                  blob type
 *     kernel-object                                x              koid             object type     x
 *     userspace-object            pid              x              pointer                          x
 *     legacy-context-switch  x  incoming                          outgoing tid     outgoing state
 *     context-switch         x  incoming                          outgoing tid     outgoing state  x
 *     thread-wakeup          x    tid                                                              x
 *     module                 x     x               x    build id  module
 *     mmap                   x     x                              module           flags           start, size, vaddr
 *     backtrace              x     x                                                               a frame each, without names
 *     provider-info                                x              its id
 *     provider-section                                            its id
 *     provider-event                                              its id           provider event
 *     initialization                                              ticks per second
 *     string                                     text             index
 *     thread                      pid,tid                         index
 *     unknown                                           its words
 */
#ifndef FXTRACE_BATCH_H
#define FXTRACE_BATCH_H

#include <fxtrace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One record. Texts by their number in the batch, of which 0 is the empty one. Later versions may add to its end. */
struct fxt_row {
	uint64_t time; /* in ns */
	uint64_t end;  /* of a complete event, in ns; else as time */
	uint64_t id;
	uint64_t pid, tid;
	uint64_t offset; /* of the record, in bytes from the start */
	uint32_t category, name, payload;
	uint32_t process, thread; /* names of pid and tid, as told so far */
	uint32_t provider;	  /* id */
	uint32_t first_arg;	  /* its place in the batch */
	uint16_t cpu;
	uint8_t kind; /* enum fxt_kind */
	uint8_t type;
	uint8_t nargs; /* up to 255 */
	uint8_t has_time;
	uint8_t reserved[6];
};

struct fxt_row_arg {
	uint32_t name; /* a text */
	uint8_t type;  /* enum fxt_arg_type, or another number */
	uint8_t reserved[3];
	uint64_t
	    value; /* of strings and blobs: the number of a text; of others, as in the format */
};

/* Some bytes; terminated, except that there may be zeroes among them. */
struct fxt_text {
	uint64_t offset;
	uint64_t length;
};

/* Lives until the next call for one. Later versions may add to its end. */
struct fxt_batch {
	const void *rows; /* by fxt_batch_row() */
	size_t row_count;
	size_t row_size; /* bytes from one to the next: sizeof(struct fxt_row), or more */
	const struct fxt_row_arg *args;
	size_t arg_count;
	const struct fxt_text *texts;
	size_t text_count;
	const char *bytes; /* of the texts */
	size_t byte_count;
};

static inline const struct fxt_row *fxt_batch_row(const struct fxt_batch *batch, size_t i)
{
	return (const struct fxt_row *)(const void *)((const char *)batch->rows +
						      i * batch->row_size);
}

#define FXT_KIND_BIT(kind) (UINT64_C(1) << (kind))
#define FXT_KINDS_ALL	   UINT64_MAX

/*
 * Reads on, up to @max_rows records of the kinds whose bits are set, or to what is there; others are passed over. Returns 1:
 * there is at least one; 0 at the end; or -errno, as fxt_reader_next() does, which may be called in between.
 */
int fxt_reader_next_batch(struct fxt_reader *reader, uint64_t kinds, size_t max_rows,
			  const struct fxt_batch **ret);

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_BATCH_H */
