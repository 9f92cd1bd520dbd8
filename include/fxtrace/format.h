/* SPDX-License-Identifier: MIT */
/*
 * The Fuchsia trace format (FXT): its numbers, and nothing else.
 *
 * A trace is a sequence of records. A record is a sequence of 64-bit words in the byte order of
 * the machine that wrote it. Its first word, the header, holds the type in bits 0..3 and the size
 * in words, itself included, in bits 4..15:
 *
 *     63                                          16 15            4 3      0
 *     +---------------------------------------------+---------------+--------+
 *     | varies with the type                        | size in words |  type  |
 *     +---------------------------------------------+---------------+--------+
 *
 * Large records (type 15) have 32 bits of size instead. Byte streams (strings, blobs) are padded
 * with zeros to the next word and carry no terminator.
 *
 * Vocabulary
 *   string ref  16 bits: 0 is the empty string; with bit 15 clear, an index into the string
 *               table; with bit 15 set, the length of a string that stands in the record itself.
 *   thread ref  8 bits: an index into the thread table, or 0: process and thread id stand in the
 *               record itself.
 *   koid        "kernel object id"; on Linux a pid or tid.
 *   argument    a typed, named value; up to 15 follow the head of some records.
 *
 * Each fact stands here once. The FIELDS tables give every bit field its position; the type
 * tables give every number its name. Read a field with FXT_GET(word, EVENT_NAME), make one with
 * FXT_PUT(EVENT_NAME, ref). Bits that no field names are reserved: zero on write, ignored on
 * read.
 */
#ifndef FXTRACE_FORMAT_H
#define FXTRACE_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define FXT_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define FXT_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* --- Bounds ------------------------------------------------------------------------------- */

#define FXT_WORD_SIZE	      8u
#define FXT_MAX_RECORD_WORDS  4095u
#define FXT_MAX_ARGS	      15u
#define FXT_MAX_STRING_LENGTH 32000u /* bytes, in the table or inline */
#define FXT_MAX_STRING_INDEX  0x7fffu
#define FXT_MAX_THREAD_INDEX  0xffu
#define FXT_MAX_LOG_LENGTH    0x7fffu /* bytes of a log message */
#define FXT_MAX_BLOB_SIZE     0x7fffu /* bytes in the field; the record's size allows fewer */
#define FXT_MAX_NAME_LENGTH   0xffu   /* bytes of a provider or module name, or a build id */
#define FXT_MAX_FRAMES	      0xffu   /* of one profiler backtrace */

/* The first eight bytes of every archive, as one word: trace info record with magic number. */
#define FXT_MAGIC_NUMBER 0x16547846u /* "FxT" and a byte */
#define FXT_MAGIC_RECORD UINT64_C(0x0016547846040010)

/* Ticks per second where no initialization record says otherwise. */
#define FXT_DEFAULT_TICKS_PER_SECOND UINT64_C(1000000000)

/* String refs. */
#define FXT_STRING_INLINE 0x8000u
#define FXT_STRING_EMPTY  0u

/* Thread refs. */
#define FXT_THREAD_INLINE 0u

/* --- Numbers and their names: X(NAME, number, "text") ---------------------------------------- */

#define FXT_RECORD_TYPES(X)                                                                        \
	X(METADATA, 0, "metadata")                                                                 \
	X(INITIALIZATION, 1, "initialization")                                                     \
	X(STRING, 2, "string")                                                                     \
	X(THREAD, 3, "thread")                                                                     \
	X(EVENT, 4, "event")                                                                       \
	X(BLOB, 5, "blob")                                                                         \
	X(USERSPACE_OBJECT, 6, "userspace-object")                                                 \
	X(KERNEL_OBJECT, 7, "kernel-object")                                                       \
	X(SCHEDULING, 8, "scheduling")                                                             \
	X(LOG, 9, "log")                                                                           \
	X(PROFILER, 10, "profiler")                                                                \
	X(LARGE, 15, "large")

#define FXT_METADATA_TYPES(X)                                                                      \
	X(PROVIDER_INFO, 1, "provider-info")                                                       \
	X(PROVIDER_SECTION, 2, "provider-section")                                                 \
	X(PROVIDER_EVENT, 3, "provider-event")                                                     \
	X(TRACE_INFO, 4, "trace-info")

#define FXT_TRACE_INFO_TYPES(X) X(MAGIC, 0, "magic")

#define FXT_PROVIDER_EVENTS(X) X(BUFFER_FULL, 0, "buffer-full")

#define FXT_EVENT_TYPES(X)                                                                         \
	X(INSTANT, 0, "instant")                                                                   \
	X(COUNTER, 1, "counter")                                                                   \
	X(DURATION_BEGIN, 2, "begin")                                                              \
	X(DURATION_END, 3, "end")                                                                  \
	X(DURATION_COMPLETE, 4, "complete")                                                        \
	X(ASYNC_BEGIN, 5, "async-begin")                                                           \
	X(ASYNC_INSTANT, 6, "async-instant")                                                       \
	X(ASYNC_END, 7, "async-end")                                                               \
	X(FLOW_BEGIN, 8, "flow-begin")                                                             \
	X(FLOW_STEP, 9, "flow-step")                                                               \
	X(FLOW_END, 10, "flow-end")

/* The word that may follow an instant event. */
#define FXT_SCOPES(X)                                                                              \
	X(THREAD, 0, "thread")                                                                     \
	X(PROCESS, 1, "process")                                                                   \
	X(GLOBAL, 2, "global")

#define FXT_ARG_TYPES(X)                                                                           \
	X(NULL, 0, "null")                                                                         \
	X(INT32, 1, "int32")                                                                       \
	X(UINT32, 2, "uint32")                                                                     \
	X(INT64, 3, "int64")                                                                       \
	X(UINT64, 4, "uint64")                                                                     \
	X(DOUBLE, 5, "double")                                                                     \
	X(STRING, 6, "string")                                                                     \
	X(POINTER, 7, "pointer")                                                                   \
	X(KOID, 8, "koid")                                                                         \
	X(BOOL, 9, "bool")                                                                         \
	X(BLOB, 10, "blob")

#define FXT_BLOB_TYPES(X)                                                                          \
	X(DATA, 1, "data")                                                                         \
	X(LAST_BRANCH, 2, "last-branch")                                                           \
	X(PERFETTO, 3, "perfetto")

#define FXT_OBJECT_TYPES(X)                                                                        \
	X(PROCESS, 1, "process")                                                                   \
	X(THREAD, 2, "thread")                                                                     \
	X(VMO, 3, "vmo")                                                                           \
	X(EVENT, 5, "event")                                                                       \
	X(PORT, 6, "port")                                                                         \
	X(SOCKET, 14, "socket")                                                                    \
	X(FIFO, 19, "fifo")                                                                        \
	X(TIMER, 22, "timer")

#define FXT_SCHED_TYPES(X)                                                                         \
	X(LEGACY_SWITCH, 0, "legacy-context-switch")                                               \
	X(CONTEXT_SWITCH, 1, "context-switch")                                                     \
	X(THREAD_WAKEUP, 2, "thread-wakeup")

#define FXT_THREAD_STATES(X)                                                                       \
	X(NEW, 0, "new")                                                                           \
	X(RUNNING, 1, "running")                                                                   \
	X(SUSPENDED, 2, "suspended")                                                               \
	X(BLOCKED, 3, "blocked")                                                                   \
	X(DYING, 4, "dying")                                                                       \
	X(DEAD, 5, "dead")

#define FXT_PROFILER_TYPES(X)                                                                      \
	X(MODULE, 0, "module")                                                                     \
	X(MMAP, 1, "mmap")                                                                         \
	X(BACKTRACE, 2, "backtrace")

#define FXT_LARGE_TYPES(X) X(BLOB, 0, "blob")

#define FXT_LARGE_BLOB_FORMATS(X)                                                                  \
	X(EVENT, 0, "event")                                                                       \
	X(ATTACHMENT, 1, "attachment")

#define FXT_ENUM_RECORD_(name, number, text)	   FXT_RECORD_##name = number,
#define FXT_ENUM_METADATA_(name, number, text)	   FXT_METADATA_##name = number,
#define FXT_ENUM_TRACE_INFO_(name, number, text)   FXT_TRACE_INFO_##name = number,
#define FXT_ENUM_PROVIDER_(name, number, text)	   FXT_PROVIDER_##name = number,
#define FXT_ENUM_EVENT_(name, number, text)	   FXT_EVENT_##name = number,
#define FXT_ENUM_SCOPE_(name, number, text)	   FXT_SCOPE_##name = number,
#define FXT_ENUM_ARG_(name, number, text)	   FXT_ARG_##name = number,
#define FXT_ENUM_BLOB_(name, number, text)	   FXT_BLOB_##name = number,
#define FXT_ENUM_OBJECT_(name, number, text)	   FXT_OBJECT_##name = number,
#define FXT_ENUM_SCHED_(name, number, text)	   FXT_SCHED_##name = number,
#define FXT_ENUM_THREAD_STATE_(name, number, text) FXT_THREAD_STATE_##name = number,
#define FXT_ENUM_PROFILER_(name, number, text)	   FXT_PROFILER_##name = number,
#define FXT_ENUM_LARGE_(name, number, text)	   FXT_LARGE_##name = number,
#define FXT_ENUM_LARGE_BLOB_(name, number, text)   FXT_LARGE_BLOB_##name = number,

enum fxt_record_type { FXT_RECORD_TYPES(FXT_ENUM_RECORD_) };
enum fxt_metadata_type { FXT_METADATA_TYPES(FXT_ENUM_METADATA_) };
enum fxt_trace_info_type { FXT_TRACE_INFO_TYPES(FXT_ENUM_TRACE_INFO_) };
enum fxt_provider_event { FXT_PROVIDER_EVENTS(FXT_ENUM_PROVIDER_) };
enum fxt_event_type { FXT_EVENT_TYPES(FXT_ENUM_EVENT_) };
enum fxt_scope { FXT_SCOPES(FXT_ENUM_SCOPE_) };
enum fxt_arg_type { FXT_ARG_TYPES(FXT_ENUM_ARG_) };
enum fxt_blob_type { FXT_BLOB_TYPES(FXT_ENUM_BLOB_) };
enum fxt_object_type { FXT_OBJECT_TYPES(FXT_ENUM_OBJECT_) };
enum fxt_sched_type { FXT_SCHED_TYPES(FXT_ENUM_SCHED_) };
enum fxt_thread_state { FXT_THREAD_STATES(FXT_ENUM_THREAD_STATE_) };
enum fxt_profiler_type { FXT_PROFILER_TYPES(FXT_ENUM_PROFILER_) };
enum fxt_large_type { FXT_LARGE_TYPES(FXT_ENUM_LARGE_) };
enum fxt_large_blob_format { FXT_LARGE_BLOB_FORMATS(FXT_ENUM_LARGE_BLOB_) };

/* --- Bit fields: X(LAYOUT, FIELD, first bit, last bit), both inclusive ------------------------ */

/* Every header word but that of a large record. */
#define FXT_RECORD_FIELDS(X) X(RECORD, TYPE, 0, 3) X(RECORD, SIZE, 4, 15)

#define FXT_METADATA_FIELDS(X) X(METADATA, TYPE, 16, 19)

#define FXT_PROVIDER_INFO_FIELDS(X)                                                                \
	X(PROVIDER_INFO, ID, 20, 51) X(PROVIDER_INFO, NAME_LENGTH, 52, 59)

#define FXT_PROVIDER_SECTION_FIELDS(X) X(PROVIDER_SECTION, ID, 20, 51)

#define FXT_PROVIDER_EVENT_FIELDS(X) X(PROVIDER_EVENT, ID, 20, 51) X(PROVIDER_EVENT, EVENT, 52, 55)

#define FXT_TRACE_INFO_FIELDS(X) X(TRACE_INFO, TYPE, 20, 23) X(TRACE_INFO, MAGIC, 24, 55)

#define FXT_STRING_FIELDS(X) X(STRING, INDEX, 16, 30) X(STRING, LENGTH, 32, 46)

#define FXT_THREAD_FIELDS(X) X(THREAD, INDEX, 16, 23)

#define FXT_EVENT_FIELDS(X)                                                                        \
	X(EVENT, TYPE, 16, 19)                                                                     \
	X(EVENT, NARGS, 20, 23)                                                                    \
	X(EVENT, THREAD, 24, 31) X(EVENT, CATEGORY, 32, 47) X(EVENT, NAME, 48, 63)

#define FXT_BLOB_FIELDS(X) X(BLOB, NAME, 16, 31) X(BLOB, SIZE, 32, 46) X(BLOB, TYPE, 48, 55)

#define FXT_USERSPACE_OBJECT_FIELDS(X)                                                             \
	X(USERSPACE_OBJECT, PROCESS, 16, 23)                                                       \
	X(USERSPACE_OBJECT, NAME, 24, 39) X(USERSPACE_OBJECT, NARGS, 40, 43)

#define FXT_KERNEL_OBJECT_FIELDS(X)                                                                \
	X(KERNEL_OBJECT, TYPE, 16, 23)                                                             \
	X(KERNEL_OBJECT, NAME, 24, 39) X(KERNEL_OBJECT, NARGS, 40, 43)

#define FXT_SCHED_FIELDS(X) X(SCHED, TYPE, 60, 63)

#define FXT_LEGACY_SWITCH_FIELDS(X)                                                                \
	X(LEGACY_SWITCH, CPU, 16, 23)                                                              \
	X(LEGACY_SWITCH, OUTGOING_STATE, 24, 27)                                                   \
	X(LEGACY_SWITCH, OUTGOING_THREAD, 28, 35)                                                  \
	X(LEGACY_SWITCH, INCOMING_THREAD, 36, 43)                                                  \
	X(LEGACY_SWITCH, OUTGOING_PRIORITY, 44, 51) X(LEGACY_SWITCH, INCOMING_PRIORITY, 52, 59)

#define FXT_CONTEXT_SWITCH_FIELDS(X)                                                               \
	X(CONTEXT_SWITCH, NARGS, 16, 19)                                                           \
	X(CONTEXT_SWITCH, CPU, 20, 35) X(CONTEXT_SWITCH, OUTGOING_STATE, 36, 39)

#define FXT_THREAD_WAKEUP_FIELDS(X) X(THREAD_WAKEUP, NARGS, 16, 19) X(THREAD_WAKEUP, CPU, 20, 35)

#define FXT_LOG_FIELDS(X) X(LOG, LENGTH, 16, 30) X(LOG, THREAD, 32, 39)

#define FXT_PROFILER_FIELDS(X) X(PROFILER, TYPE, 16, 19) X(PROFILER, THREAD, 20, 27)

#define FXT_MODULE_FIELDS(X)                                                                       \
	X(MODULE, ID, 28, 43) X(MODULE, NAME_LENGTH, 44, 51) X(MODULE, BUILD_ID_LENGTH, 52, 59)

#define FXT_MMAP_FIELDS(X) X(MMAP, MODULE, 28, 43) X(MMAP, FLAGS, 44, 46)

#define FXT_BACKTRACE_FIELDS(X) X(BACKTRACE, FRAMES, 28, 35)

/* The header word of a large record. */
#define FXT_LARGE_FIELDS(X) X(LARGE, RECORD_TYPE, 0, 3) X(LARGE, SIZE, 4, 35) X(LARGE, TYPE, 36, 39)

#define FXT_LARGE_BLOB_FIELDS(X) X(LARGE_BLOB, FORMAT, 40, 43)

/* The second word of a large blob: its "format word". */
#define FXT_LARGE_EVENT_FIELDS(X)                                                                  \
	X(LARGE_EVENT, CATEGORY, 0, 15)                                                            \
	X(LARGE_EVENT, NAME, 16, 31) X(LARGE_EVENT, NARGS, 32, 35) X(LARGE_EVENT, THREAD, 36, 43)

#define FXT_LARGE_ATTACHMENT_FIELDS(X)                                                             \
	X(LARGE_ATTACHMENT, CATEGORY, 0, 15) X(LARGE_ATTACHMENT, NAME, 16, 31)

/* The header word of an argument, and what its upper half holds for some types. */
#define FXT_ARG_FIELDS(X) X(ARG, TYPE, 0, 3) X(ARG, SIZE, 4, 15) X(ARG, NAME, 16, 31)

#define FXT_ARG_VALUE32_FIELDS(X) X(ARG_VALUE32, VALUE, 32, 63)
#define FXT_ARG_STRING_FIELDS(X)  X(ARG_STRING, VALUE, 32, 47)
#define FXT_ARG_BOOL_FIELDS(X)	  X(ARG_BOOL, VALUE, 32, 32)
#define FXT_ARG_BLOB_FIELDS(X)	  X(ARG_BLOB, SIZE, 32, 63)

/* Every layout: X(LAYOUT). A record's header is made of its own and those it refines. */
#define FXT_LAYOUTS(X)                                                                             \
	X(RECORD)                                                                                  \
	X(METADATA)                                                                                \
	X(PROVIDER_INFO)                                                                           \
	X(PROVIDER_SECTION)                                                                        \
	X(PROVIDER_EVENT)                                                                          \
	X(TRACE_INFO)                                                                              \
	X(STRING)                                                                                  \
	X(THREAD)                                                                                  \
	X(EVENT)                                                                                   \
	X(BLOB)                                                                                    \
	X(USERSPACE_OBJECT)                                                                        \
	X(KERNEL_OBJECT)                                                                           \
	X(SCHED)                                                                                   \
	X(LEGACY_SWITCH)                                                                           \
	X(CONTEXT_SWITCH)                                                                          \
	X(THREAD_WAKEUP)                                                                           \
	X(LOG)                                                                                     \
	X(PROFILER)                                                                                \
	X(MODULE)                                                                                  \
	X(MMAP)                                                                                    \
	X(BACKTRACE)                                                                               \
	X(LARGE)                                                                                   \
	X(LARGE_BLOB)                                                                              \
	X(LARGE_EVENT)                                                                             \
	X(LARGE_ATTACHMENT)                                                                        \
	X(ARG)                                                                                     \
	X(ARG_VALUE32)                                                                             \
	X(ARG_STRING)                                                                              \
	X(ARG_BOOL)                                                                                \
	X(ARG_BLOB)

/* FXT_<LAYOUT>_<FIELD>_LSB: the first bit; FXT_<LAYOUT>_<FIELD>_WIDTH: the number of bits. */
#define FXT_FIELD_ENUM_(layout, field, lsb, msb)                                                   \
	FXT_##layout##_##field##_LSB = lsb, FXT_##layout##_##field##_WIDTH = msb - lsb + 1,
#define FXT_LAYOUT_ENUM_(layout) FXT_##layout##_FIELDS(FXT_FIELD_ENUM_)
enum fxt_field { FXT_LAYOUTS(FXT_LAYOUT_ENUM_) };

/* The largest value that a field holds. */
#define FXT_MAX(name) (UINT64_MAX >> (64 - FXT_##name##_WIDTH))

/* The value of a field in a word, such as FXT_GET(header, EVENT_NAME). */
#define FXT_GET(word, name) (((uint64_t)(word) >> FXT_##name##_LSB) & FXT_MAX(name))

/* A field's bits with this value, for or-ing together; bits that do not fit are cut off. */
#define FXT_PUT(name, value) (((uint64_t)(value)&FXT_MAX(name)) << FXT_##name##_LSB)

/* The bits that a layout uses, such as FXT_LAYOUT_MASK(EVENT). */
#define FXT_FIELD_MASK_(layout, field, lsb, msb)  +((UINT64_MAX >> (63 - (msb) + (lsb))) << (lsb))
#define FXT_FIELD_UNION_(layout, field, lsb, msb) | ((UINT64_MAX >> (63 - (msb) + (lsb))) << (lsb))
#define FXT_LAYOUT_MASK(layout)			  (UINT64_C(0) FXT_##layout##_FIELDS(FXT_FIELD_UNION_))

/* No two fields of a layout overlap: their sum is their union. */
#define FXT_LAYOUT_ASSERT_(layout)                                                                 \
	FXT_STATIC_ASSERT((UINT64_C(0) FXT_##layout##_FIELDS(FXT_FIELD_MASK_)) ==                  \
			      FXT_LAYOUT_MASK(layout),                                             \
			  "fields of " #layout " overlap");
FXT_LAYOUTS(FXT_LAYOUT_ASSERT_)

FXT_STATIC_ASSERT((FXT_PUT(RECORD_TYPE, FXT_RECORD_METADATA) | FXT_PUT(RECORD_SIZE, 1) |
		   FXT_PUT(METADATA_TYPE, FXT_METADATA_TRACE_INFO) |
		   FXT_PUT(TRACE_INFO_TYPE, FXT_TRACE_INFO_MAGIC) |
		   FXT_PUT(TRACE_INFO_MAGIC, FXT_MAGIC_NUMBER)) == FXT_MAGIC_RECORD,
		  "the magic record is what the format's text says");
FXT_STATIC_ASSERT(FXT_MAX(RECORD_SIZE) == FXT_MAX_RECORD_WORDS, "largest record");
FXT_STATIC_ASSERT(FXT_MAX(STRING_INDEX) == FXT_MAX_STRING_INDEX, "largest string index");
FXT_STATIC_ASSERT(FXT_MAX(THREAD_INDEX) == FXT_MAX_THREAD_INDEX, "largest thread index");
FXT_STATIC_ASSERT(FXT_MAX(EVENT_NARGS) == FXT_MAX_ARGS, "most arguments");
FXT_STATIC_ASSERT((FXT_LAYOUT_MASK(RECORD) | FXT_LAYOUT_MASK(EVENT)) == UINT64_MAX,
		  "an event's header has no reserved bits");
FXT_STATIC_ASSERT((FXT_LAYOUT_MASK(RECORD) & FXT_LAYOUT_MASK(EVENT)) == 0,
		  "an event's header refines the record header");

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_FORMAT_H */
