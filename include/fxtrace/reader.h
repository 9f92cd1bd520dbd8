/* SPDX-License-Identifier: MIT */
/*
 * Reading Fuchsia traces: a decoder of single records, and a reader of whole archives.
 *
 * The decoder, fxt_record_decode(), is a pure function over words in memory. It allocates
 * nothing, never reads outside the words it was given whatever they hold, and leaves references
 * to the string and thread tables unresolved.
 *
 * The reader, struct fxt_reader, takes an archive from a file, a descriptor or memory, plain or
 * compressed with gzip or zstd (told by content), keeps each provider's tables, and yields one
 * decoded record after the other with every reference resolved. What is malformed it reports to
 * a fault handler and passes over.
 *
 *     struct fxt_reader *reader;
 *     const struct fxt_record *record;
 *     int r = fxt_reader_open_path("app.fxt", &reader);
 *     if (r < 0)
 *             return r;
 *     while ((r = fxt_reader_next(reader, &record)) > 0)
 *             if (record->kind == FXT_KIND_EVENT)
 *                     print(record->event.name.data, record->event.name.length);
 *     fxt_reader_close(reader);
 *
 * Strings are not terminated by a zero, may hold one, and are not promised to be valid UTF-8.
 * Times are ticks of record->provider->ticks_per_second; fxt_ticks_to_ns() converts.
 *
 * Readers are independent of one another; one of them is used by one thread at a time. Programs that
 * want many records at once, as tables of numbers and texts, find that in <fxtrace/batch.h>; how to
 * write an archive, in <fxtrace/writer.h>; what stays as it is in later versions, in
 * <fxtrace/record.h>.
 */
#ifndef FXTRACE_READER_H
#define FXTRACE_READER_H

#include <sys/types.h>

#include <fxtrace/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Faults ---------------------------------------------------------------------------------- */

/* What can be wrong. X(NAME, "text", "what the fault's value is", or "") */
#define FXT_FAULTS(X)                                                                              \
	X(RECORD_SIZE_ZERO, "record size is zero", "")                                             \
	X(RECORD_TOO_SMALL, "record is too small for what it announces", "words missing")          \
	X(RECORD_TOO_LARGE, "record is larger than this reader holds", "words")                    \
	X(BAD_MAGIC, "magic number record with another value", "header")                           \
	X(BAD_TICKS, "ticks per second is zero", "")                                               \
	X(STRING_TOO_LONG, "string is longer than 32000 bytes", "bytes")                           \
	X(STRING_OVERRUN, "string reaches beyond its record", "bytes")                             \
	X(BLOB_OVERRUN, "blob reaches beyond its record", "bytes")                                 \
	X(ARG_SIZE_ZERO, "argument size is zero", "")                                              \
	X(ARG_TOO_SMALL, "argument is too small for what it announces", "words missing")           \
	X(ARG_OVERRUN, "argument reaches beyond its record", "words")                              \
	X(NO_MAGIC, "not a trace: the magic number is missing", "")                                \
	X(BYTE_ORDER, "trace of a machine with the other byte order", "")                          \
	X(TRUNCATED, "truncated inside this record", "bytes present")                              \
	X(CORRUPT_COMPRESSION, "compressed data are corrupt", "")                                  \
	X(UNKNOWN_STRING, "string index was never defined", "index")                               \
	X(UNKNOWN_THREAD, "thread index was never defined", "index")                               \
	X(UNKNOWN_PROVIDER, "section of a provider that was never introduced", "id")               \
	X(DUPLICATE_PROVIDER, "provider introduced twice", "id")                                   \
	X(MEMORY_LIMIT, "beyond the memory limit, and forgotten", "index or id")

#define FXT_ENUM_FAULT_(name, text, value) FXT_FAULT_##name,
enum fxt_fault_kind { FXT_FAULT_NONE, FXT_FAULTS(FXT_ENUM_FAULT_) FXT_FAULT_COUNT };

struct fxt_fault {
	enum fxt_fault_kind kind;
	uint64_t offset; /* of the record, in bytes from the start, after decompression */
	uint64_t word;	 /* the word of the record where the fault was found */
	uint64_t value;	 /* the index, id or size at fault */
};

/* A few words on a kind of fault; static. */
const char *fxt_fault_text(enum fxt_fault_kind kind);

/* All but the offset as text, such as "string index was never defined (word 2, index 17)". */
void fxt_fault_format(const struct fxt_fault *fault, char *buffer, size_t size);

/* --- The decoder ----------------------------------------------------------------------------- */

/*
 * Decodes the record at @words, of which @available may be read. Returns the record's size in
 * words (> 0); 0 if the record needs more words than there are; or -(enum fxt_fault_kind).
 *
 * A record of a type or subtype that this decoder does not know is no fault: it yields
 * FXT_KIND_UNKNOWN. Words after what the format describes belong to extensions and are left
 * alone, as are reserved bits.
 *
 * With 0 or a fault, *@ret is undefined but for @size: the size in words that the header
 * announces, 0 if it cannot be known. If @ret_fault is not NULL, a fault sets its kind, word and
 * value. What later versions add to the two structs, it leaves alone.
 */
int64_t fxt_record_decode(const uint64_t *words, size_t available, struct fxt_record *ret,
			  struct fxt_fault *ret_fault);

/* --- The reader ------------------------------------------------------------------------------ */

struct fxt_reader;

/*
 * Each returns 0, or -errno, and then *@ret is untouched. The descriptor is borrowed: it must
 * stay open, and is read from its current position; so are the bytes in memory.
 */
int fxt_reader_open_path(const char *path, struct fxt_reader **ret);
int fxt_reader_open_fd(int fd, struct fxt_reader **ret);
int fxt_reader_open_memory(const void *data, size_t size, struct fxt_reader **ret);

/*
 * The same, from a function: it writes up to @size bytes and returns how many; 0: that was all; -EAGAIN: there are none
 * yet; or another -errno.
 */
typedef ssize_t fxt_read_function(void *opaque, void *buffer, size_t size);
int fxt_reader_open_function(fxt_read_function *read, void *opaque, struct fxt_reader **ret);

/* Frees everything. NULL is allowed. */
void fxt_reader_close(struct fxt_reader *reader);

/* Called for each fault, before the record it concerns is passed over or yielded. */
typedef void fxt_fault_handler(void *opaque, const struct fxt_fault *fault);
void fxt_reader_set_fault_handler(struct fxt_reader *reader, fxt_fault_handler *handler,
				  void *opaque);

/* Accept records that do not begin with the magic number. Before the first record only. */
void fxt_reader_set_bare(struct fxt_reader *reader, bool bare);

/*
 * Whether the archive is still being written: where it ends, fxt_reader_next() says -EAGAIN instead of 0, and goes on
 * when more is there. A record that is cut is waited for; set to false again, it is reported, and the archive has ended.
 */
void fxt_reader_set_growing(struct fxt_reader *reader, bool growing);

/*
 * How many bytes the reader may remember of an archive: texts, threads, names, modules (4 GiB unless this says otherwise). What
 * there is no room for is reported, and unknown from then on. Beside it there is a buffer, of 1 MiB unless a record is
 * larger, and of 128 MiB at most.
 */
void fxt_reader_set_memory_limit(struct fxt_reader *reader, uint64_t bytes);

/*
 * Yields the next record, in file order, metadata and table records included. Returns 1, 0 at
 * the end, or -errno: -EBADMSG if this is not a trace, or what read(2) said. After -EAGAIN (of a
 * descriptor that does not block, of a function, or see fxt_reader_set_growing()) it may be called
 * again.
 *
 * After a fault inside a record the reader goes on behind that record, by its size. It ends after
 * a record of size zero, after truncated or corrupt input (every whole record before that was
 * yielded), and reports which. Records with an unknown reference are yielded all the same: an
 * unknown string reads "(unknown)", an unknown thread has pid = tid = 0. Records of a section
 * whose provider is unknown are yielded under a provider of that id with empty tables.
 */
int fxt_reader_next(struct fxt_reader *reader, const struct fxt_record **ret);

/* The number of faults reported so far. */
uint64_t fxt_reader_fault_count(const struct fxt_reader *reader);

/* Bytes of input consumed, and their total (0 if it cannot be known), for progress displays. */
void fxt_reader_progress(const struct fxt_reader *reader, uint64_t *ret_done, uint64_t *ret_total);

/* --- What a record is of --------------------------------------------------------------------- */

/*
 * Names, as the records up to the last one that was yielded tell them. Each returns false if they do not, and then *@ret
 * is untouched. A name is followed by a zero, may be any bytes, and lives until the next call of fxt_reader_next().
 */
bool fxt_reader_process_name(const struct fxt_reader *reader, uint64_t pid, struct fxt_string *ret);
bool fxt_reader_thread_name(const struct fxt_reader *reader, uint64_t pid, uint64_t tid,
			    struct fxt_string *ret);

/* Where a module (a program, a library) lies in a process; later versions may add to its end. */
struct fxt_mapping {
	uint64_t start, size; /* addresses */
	uint64_t vaddr;	      /* of @start, in the module itself */
	uint16_t module;      /* its number in the process */
	uint8_t flags;
	struct fxt_string name;
	struct fxt_bytes build_id;
};

/* What lies at an address of a process, as the records so far tell; NULL: nothing known. Lives as names do. */
const struct fxt_mapping *fxt_reader_find_mapping(const struct fxt_reader *reader, uint64_t pid,
						  uint64_t address);

/* When a record is of, in nanoseconds; false: it is of no time. Of a complete event, its beginning. */
bool fxt_record_time(const struct fxt_record *record, uint64_t *ret_ns);

/* The thread that a record is of; NULL: of none. Of a context switch, the one that runs from then on. */
const struct fxt_thread *fxt_record_thread(const struct fxt_record *record);

/* --- Helpers --------------------------------------------------------------------------------- */

/* Names of numbers, as in format.h's tables; NULL for a number without a name. */
const char *fxt_kind_name(unsigned kind);
const char *fxt_record_type_name(unsigned type);
const char *fxt_event_type_name(unsigned type);
const char *fxt_provider_event_name(unsigned event);
const char *fxt_scope_name(uint64_t scope);
const char *fxt_arg_type_name(unsigned type);
const char *fxt_blob_type_name(unsigned type);
const char *fxt_object_type_name(unsigned type);
const char *fxt_thread_state_name(unsigned state);

/* Ticks to nanoseconds, exact (rounded down), saturating. */
uint64_t fxt_ticks_to_ns(uint64_t ticks, uint64_t ticks_per_second);

/* The argument of this name, or NULL. @name is terminated. */
const struct fxt_arg *fxt_record_find_arg(const struct fxt_record *record, const char *name);

/* Whether a string equals a terminated text. */
bool fxt_string_equals(const struct fxt_string *string, const char *text);

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_READER_H */
