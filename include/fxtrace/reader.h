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
 */
#ifndef FXTRACE_READER_H
#define FXTRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fxtrace/format.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Records, decoded ------------------------------------------------------------------------ */

/*
 * A string. @ref is what the record holds: 0, an index, or FXT_STRING_INLINE | length; where the
 * format has a plain length instead (names of providers and modules, log messages, the text of a
 * string record) it is 0. @data is NULL only where the string stands in a table and has not been
 * resolved; the reader resolves all of them. @serial is 0 for inline strings; for those of a table
 * it is a number, counted from 1 over the whole archive, that each string record receives anew, so
 * that a caller may intern texts by number. Lives until the next call of fxt_reader_next(), or as
 * long as the words that were decoded.
 */
struct fxt_string {
	const char *data;
	uint32_t length; /* bytes */
	uint32_t serial;
	uint16_t ref;
};

/* A thread. @ref is FXT_THREAD_INLINE or the index; an index not yet resolved has pid = tid = 0. */
struct fxt_thread {
	uint64_t pid;
	uint64_t tid;
	uint8_t ref;
};

/* A stream of bytes that the record holds. */
struct fxt_bytes {
	const void *data;
	uint64_t size;
};

struct fxt_arg {
	uint8_t type; /* enum fxt_arg_type, or another number: an unknown type, name unset */
	const uint64_t *words; /* the argument as it stands in the record */
	struct fxt_string name;
	union {
		int32_t int32;
		uint32_t uint32;
		int64_t int64;
		uint64_t uint64;
		double real; /* FXT_ARG_DOUBLE */
		struct fxt_string string;
		uint64_t pointer;
		uint64_t koid;
		bool boolean;
		struct fxt_bytes blob;
	};
};

/* What a record is: its type and subtypes as one number. X(NAME, "text") */
#define FXT_KINDS(X)                                                                               \
	X(UNKNOWN, "unknown")                                                                      \
	X(PROVIDER_INFO, "provider-info")                                                          \
	X(PROVIDER_SECTION, "provider-section")                                                    \
	X(PROVIDER_EVENT, "provider-event")                                                        \
	X(MAGIC, "magic")                                                                          \
	X(INITIALIZATION, "initialization")                                                        \
	X(STRING, "string")                                                                        \
	X(THREAD, "thread")                                                                        \
	X(EVENT, "event")                                                                          \
	X(BLOB, "blob")                                                                            \
	X(USERSPACE_OBJECT, "userspace-object")                                                    \
	X(KERNEL_OBJECT, "kernel-object")                                                          \
	X(LEGACY_SWITCH, "legacy-context-switch")                                                  \
	X(CONTEXT_SWITCH, "context-switch")                                                        \
	X(THREAD_WAKEUP, "thread-wakeup")                                                          \
	X(LOG, "log")                                                                              \
	X(MODULE, "module")                                                                        \
	X(MMAP, "mmap")                                                                            \
	X(BACKTRACE, "backtrace")                                                                  \
	X(LARGE_EVENT, "large-event")                                                              \
	X(LARGE_ATTACHMENT, "large-attachment")

#define FXT_ENUM_KIND_(name, text) FXT_KIND_##name,
enum fxt_kind { FXT_KINDS(FXT_ENUM_KIND_) FXT_KIND_COUNT };

/* FXT_KIND_PROVIDER_INFO, FXT_KIND_PROVIDER_SECTION, FXT_KIND_PROVIDER_EVENT */
struct fxt_provider_record {
	uint32_t id;
	uint8_t event;		/* provider event: enum fxt_provider_event */
	struct fxt_string name; /* provider info; at most FXT_MAX_NAME_LENGTH bytes */
};

/* FXT_KIND_INITIALIZATION */
struct fxt_initialization {
	uint64_t ticks_per_second;
};

/* FXT_KIND_STRING: index 0 is allowed and without effect. */
struct fxt_string_record {
	uint16_t index;
	struct fxt_string text;
};

/* FXT_KIND_THREAD: index 0 is allowed and without effect. */
struct fxt_thread_record {
	uint8_t index;
	uint64_t pid;
	uint64_t tid;
};

/* FXT_KIND_EVENT. Times in ticks. */
struct fxt_event {
	uint8_t type; /* enum fxt_event_type */
	bool has_scope;
	struct fxt_thread thread;
	uint64_t timestamp;
	struct fxt_string category;
	struct fxt_string name;
	union {
		uint64_t scope;	     /* instants that carry one: enum fxt_scope */
		uint64_t counter_id; /* counters */
		uint64_t end_time;   /* duration complete */
		uint64_t id;	     /* async and flow events: correlation id */
		uint64_t extra;	     /* any of them */
	};
};

/* FXT_KIND_BLOB */
struct fxt_blob {
	uint8_t type; /* enum fxt_blob_type */
	struct fxt_string name;
	struct fxt_bytes payload;
};

/* FXT_KIND_USERSPACE_OBJECT: of @process, only ref and pid count. */
struct fxt_userspace_object {
	struct fxt_thread process;
	uint64_t pointer;
	struct fxt_string name;
};

/* FXT_KIND_KERNEL_OBJECT: the name may be any bytes. */
struct fxt_kernel_object {
	uint8_t type; /* enum fxt_object_type */
	uint64_t koid;
	struct fxt_string name;
};

/*
 * FXT_KIND_LEGACY_SWITCH, FXT_KIND_CONTEXT_SWITCH, FXT_KIND_THREAD_WAKEUP. Only the first has
 * priorities and process ids; the others have thread ids (ref stays 0, pid 0) and carry the rest
 * in arguments. A wakeup's thread is @incoming.
 */
struct fxt_scheduling {
	uint16_t cpu;
	uint8_t outgoing_state; /* enum fxt_thread_state */
	uint8_t outgoing_priority;
	uint8_t incoming_priority;
	uint64_t timestamp;
	struct fxt_thread outgoing;
	struct fxt_thread incoming;
};

/* FXT_KIND_LOG */
struct fxt_log {
	struct fxt_thread thread;
	uint64_t timestamp;
	struct fxt_string message;
};

/* FXT_KIND_MODULE, FXT_KIND_MMAP, FXT_KIND_BACKTRACE */
struct fxt_profiler {
	struct fxt_thread thread;
	uint64_t timestamp;
	uint16_t module;	   /* module and mmap */
	uint8_t flags;		   /* mmap: 3 bits */
	struct fxt_string name;	   /* module; at most FXT_MAX_NAME_LENGTH bytes */
	struct fxt_bytes build_id; /* module; at most FXT_MAX_NAME_LENGTH bytes */
	uint64_t start;		   /* mmap */
	uint64_t range;		   /* mmap */
	uint64_t vaddr;		   /* mmap */
	const uint64_t *frames;	   /* backtrace */
	uint32_t frame_count;	   /* backtrace */
};

/* FXT_KIND_LARGE_EVENT, FXT_KIND_LARGE_ATTACHMENT (no thread, no time, no arguments) */
struct fxt_large_blob {
	struct fxt_thread thread;
	uint64_t timestamp;
	struct fxt_string category;
	struct fxt_string name;
	struct fxt_bytes payload;
};

/*
 * What the reader knows of a provider. Lives as long as the reader; one of them, whose id changes,
 * stands for all providers of sections that were never introduced.
 */
struct fxt_provider {
	uint32_t id;
	const char *name; /* terminated; "" before the first provider info */
	uint64_t ticks_per_second;
};

/* One record. Valid until the next call of fxt_reader_next(). */
struct fxt_record {
	enum fxt_kind kind;
	uint32_t nargs;
	const uint64_t *words; /* the record as it stands in the trace */
	uint64_t size;	       /* in words, header included */

	/* Set by the reader alone. */
	uint64_t offset;		     /* in bytes from the start, after decompression */
	const struct fxt_provider *provider; /* never NULL */

	union {
		struct fxt_provider_record provider_record;
		struct fxt_initialization initialization;
		struct fxt_string_record string;
		struct fxt_thread_record thread;
		struct fxt_event event;
		struct fxt_blob blob;
		struct fxt_userspace_object userspace_object;
		struct fxt_kernel_object kernel_object;
		struct fxt_scheduling scheduling;
		struct fxt_log log;
		struct fxt_profiler profiler;
		struct fxt_large_blob large_blob;
	};
	struct fxt_arg args[FXT_MAX_ARGS]; /* the first @nargs are set */
};

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
	X(DUPLICATE_PROVIDER, "provider introduced twice", "id")

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
 * value.
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

/* Frees everything. NULL is allowed. */
void fxt_reader_close(struct fxt_reader *reader);

/* Called for each fault, before the record it concerns is passed over or yielded. */
typedef void fxt_fault_handler(void *opaque, const struct fxt_fault *fault);
void fxt_reader_set_fault_handler(struct fxt_reader *reader, fxt_fault_handler *handler,
				  void *opaque);

/* Accept records that do not begin with the magic number. Before the first record only. */
void fxt_reader_set_bare(struct fxt_reader *reader, bool bare);

/*
 * Yields the next record, in file order, metadata and table records included. Returns 1, 0 at
 * the end, or -errno: -EBADMSG if this is not a trace, or what read(2) said.
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
