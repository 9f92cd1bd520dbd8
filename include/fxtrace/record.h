/* SPDX-License-Identifier: MIT */
/*
 * Records of the Fuchsia trace format, decoded: what the reader yields and the writer takes.
 *
 * What stays as it is: sizes, offsets and numbers of all that stands here. A later library adds
 * members behind the last one of a struct that it makes itself (struct fxt_record, struct
 * fxt_provider), in place of `reserved' words, and kinds behind the last one. So a program made with
 * this header runs with it, if it takes kinds that it does not know as it takes FXT_KIND_UNKNOWN.
 */
#ifndef FXTRACE_RECORD_H
#define FXTRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <fxtrace/format.h>

#ifdef __cplusplus
extern "C" {
#endif

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
		uint64_t reserved[24]; /* room for what kinds will have */
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

/* --- Making them ----------------------------------------------------------------------------- */

/* A text, of a program that makes records itself; NULL is the empty one. */
static inline struct fxt_string fxt_text_of(const char *data, size_t length)
{
	struct fxt_string string;

	memset(&string, 0, sizeof(string));
	string.data = data ? data : "";
	string.length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	return string;
}

/* The same, terminated. */
static inline struct fxt_string fxt_text(const char *text)
{
	return fxt_text_of(text, text ? strlen(text) : 0);
}

static inline struct fxt_thread fxt_thread_of(uint64_t pid, uint64_t tid)
{
	struct fxt_thread thread;

	memset(&thread, 0, sizeof(thread));
	thread.pid = pid;
	thread.tid = tid;
	return thread;
}

/* Adds an argument of this name and type to a record and returns it, its value all zeros; NULL: it has 15 already. */
static inline struct fxt_arg *fxt_record_add_arg(struct fxt_record *record, const char *name,
						 enum fxt_arg_type type)
{
	struct fxt_arg *arg;

	if (record->nargs >= FXT_MAX_ARGS)
		return NULL;
	arg = &record->args[record->nargs++];
	memset(arg, 0, sizeof(*arg));
	arg->type = (uint8_t)type;
	arg->name = fxt_text(name);
	return arg;
}

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_RECORD_H */
