/* SPDX-License-Identifier: MIT */
/*
 * Writing FXT records.
 *
 * Two layers. The upper half of this header makes single words and streams; it is inline, needs
 * nothing but memcpy(), and is what the traced program's hot path is built from. The lower half,
 * struct fx_encoder, writes whole records into a bounded buffer of words and checks every bound of
 * the format; the manager, the converters and the tests use it.
 *
 * A private extension, used inside a provider's buffer and never in an archive: a string record
 * whose bit FX_STRING_ADDRESS_BIT is set has as its text one 8-byte code address, in machine byte
 * order, instead of a name. The manager replaces it by the function's name. Other readers ignore
 * the bit, since it is a reserved one.
 */
#ifndef FX_FORMAT_ENCODE_H
#define FX_FORMAT_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <fxtrace/format.h>
#include <fxtrace/reader.h>

#define FX_STRING_ADDRESS_BIT  48
#define FX_STRING_ADDRESS_MASK (UINT64_C(1) << FX_STRING_ADDRESS_BIT)

_Static_assert((FX_STRING_ADDRESS_MASK & (FXT_LAYOUT_MASK(RECORD) | FXT_LAYOUT_MASK(STRING))) == 0,
	       "the address bit is a reserved bit of string records");

/* --- Words and bytes ------------------------------------------------------------------------- */

/* The ref of a string of @length bytes, at most FXT_MAX_STRING_LENGTH, that stands in the record.
 */
static inline uint16_t fx_ref_inline(size_t length)
{
	return length ? (uint16_t)(FXT_STRING_INLINE | length) : FXT_STRING_EMPTY;
}

/* Words that @size bytes take. */
static inline size_t fx_bytes_words(size_t size)
{
	return size / FXT_WORD_SIZE + (size % FXT_WORD_SIZE != 0);
}

/* Writes @size bytes and the zeros that pad them. Returns the word behind. */
static inline uint64_t *fx_bytes_write(uint64_t *out, const void *data, size_t size)
{
	size_t words = fx_bytes_words(size);

	if (size == 0)
		return out;
	out[words - 1] = 0;
	memcpy(out, data, size);
	return out + words;
}

/* Header words. @words is the whole record's size, header included. */

static inline uint64_t fx_header(enum fxt_record_type type, size_t words)
{
	return FXT_PUT(RECORD_TYPE, type) | FXT_PUT(RECORD_SIZE, words);
}

static inline uint64_t fx_header_metadata(enum fxt_metadata_type type, size_t words)
{
	return fx_header(FXT_RECORD_METADATA, words) | FXT_PUT(METADATA_TYPE, type);
}

static inline uint64_t fx_header_provider_info(size_t words, uint32_t id, size_t name_length)
{
	return fx_header_metadata(FXT_METADATA_PROVIDER_INFO, words) |
	       FXT_PUT(PROVIDER_INFO_ID, id) | FXT_PUT(PROVIDER_INFO_NAME_LENGTH, name_length);
}

static inline uint64_t fx_header_provider_section(uint32_t id)
{
	return fx_header_metadata(FXT_METADATA_PROVIDER_SECTION, 1) |
	       FXT_PUT(PROVIDER_SECTION_ID, id);
}

static inline uint64_t fx_header_provider_event(uint32_t id, unsigned event)
{
	return fx_header_metadata(FXT_METADATA_PROVIDER_EVENT, 1) | FXT_PUT(PROVIDER_EVENT_ID, id) |
	       FXT_PUT(PROVIDER_EVENT_EVENT, event);
}

static inline uint64_t fx_header_initialization(void)
{
	return fx_header(FXT_RECORD_INITIALIZATION, 2);
}

static inline uint64_t fx_header_string(size_t words, unsigned index, size_t length)
{
	return fx_header(FXT_RECORD_STRING, words) | FXT_PUT(STRING_INDEX, index) |
	       FXT_PUT(STRING_LENGTH, length);
}

/* A string record whose text is one code address; two words. Never in an archive. */
static inline uint64_t fx_header_string_address(unsigned index)
{
	return fx_header_string(2, index, FXT_WORD_SIZE) | FX_STRING_ADDRESS_MASK;
}

static inline uint64_t fx_header_thread(unsigned index)
{
	return fx_header(FXT_RECORD_THREAD, 3) | FXT_PUT(THREAD_INDEX, index);
}

static inline uint64_t fx_header_event(size_t words, enum fxt_event_type type, unsigned nargs,
				       unsigned thread, unsigned category, unsigned name)
{
	return fx_header(FXT_RECORD_EVENT, words) | FXT_PUT(EVENT_TYPE, type) |
	       FXT_PUT(EVENT_NARGS, nargs) | FXT_PUT(EVENT_THREAD, thread) |
	       FXT_PUT(EVENT_CATEGORY, category) | FXT_PUT(EVENT_NAME, name);
}

static inline uint64_t fx_header_blob(size_t words, unsigned name, size_t size, unsigned type)
{
	return fx_header(FXT_RECORD_BLOB, words) | FXT_PUT(BLOB_NAME, name) |
	       FXT_PUT(BLOB_SIZE, size) | FXT_PUT(BLOB_TYPE, type);
}

static inline uint64_t fx_header_userspace_object(size_t words, unsigned process, unsigned name,
						  unsigned nargs)
{
	return fx_header(FXT_RECORD_USERSPACE_OBJECT, words) |
	       FXT_PUT(USERSPACE_OBJECT_PROCESS, process) | FXT_PUT(USERSPACE_OBJECT_NAME, name) |
	       FXT_PUT(USERSPACE_OBJECT_NARGS, nargs);
}

static inline uint64_t fx_header_kernel_object(size_t words, unsigned type, unsigned name,
					       unsigned nargs)
{
	return fx_header(FXT_RECORD_KERNEL_OBJECT, words) | FXT_PUT(KERNEL_OBJECT_TYPE, type) |
	       FXT_PUT(KERNEL_OBJECT_NAME, name) | FXT_PUT(KERNEL_OBJECT_NARGS, nargs);
}

static inline uint64_t fx_header_context_switch(size_t words, unsigned nargs, unsigned cpu,
						unsigned outgoing_state)
{
	return fx_header(FXT_RECORD_SCHEDULING, words) |
	       FXT_PUT(SCHED_TYPE, FXT_SCHED_CONTEXT_SWITCH) |
	       FXT_PUT(CONTEXT_SWITCH_NARGS, nargs) | FXT_PUT(CONTEXT_SWITCH_CPU, cpu) |
	       FXT_PUT(CONTEXT_SWITCH_OUTGOING_STATE, outgoing_state);
}

static inline uint64_t fx_header_thread_wakeup(size_t words, unsigned nargs, unsigned cpu)
{
	return fx_header(FXT_RECORD_SCHEDULING, words) |
	       FXT_PUT(SCHED_TYPE, FXT_SCHED_THREAD_WAKEUP) | FXT_PUT(THREAD_WAKEUP_NARGS, nargs) |
	       FXT_PUT(THREAD_WAKEUP_CPU, cpu);
}

static inline uint64_t fx_header_log(size_t words, unsigned thread, size_t length)
{
	return fx_header(FXT_RECORD_LOG, words) | FXT_PUT(LOG_LENGTH, length) |
	       FXT_PUT(LOG_THREAD, thread);
}

static inline uint64_t fx_header_profiler(enum fxt_profiler_type type, size_t words,
					  unsigned thread)
{
	return fx_header(FXT_RECORD_PROFILER, words) | FXT_PUT(PROFILER_TYPE, type) |
	       FXT_PUT(PROFILER_THREAD, thread);
}

static inline uint64_t fx_header_module(size_t words, unsigned thread, unsigned id,
					size_t name_length, size_t build_id_length)
{
	return fx_header_profiler(FXT_PROFILER_MODULE, words, thread) | FXT_PUT(MODULE_ID, id) |
	       FXT_PUT(MODULE_NAME_LENGTH, name_length) |
	       FXT_PUT(MODULE_BUILD_ID_LENGTH, build_id_length);
}

static inline uint64_t fx_header_mmap(size_t words, unsigned thread, unsigned module,
				      unsigned flags)
{
	return fx_header_profiler(FXT_PROFILER_MMAP, words, thread) | FXT_PUT(MMAP_MODULE, module) |
	       FXT_PUT(MMAP_FLAGS, flags);
}

static inline uint64_t fx_header_backtrace(size_t words, unsigned thread, unsigned frames)
{
	return fx_header_profiler(FXT_PROFILER_BACKTRACE, words, thread) |
	       FXT_PUT(BACKTRACE_FRAMES, frames);
}

static inline uint64_t fx_header_large_blob(uint64_t words, enum fxt_large_blob_format format)
{
	return FXT_PUT(LARGE_RECORD_TYPE, FXT_RECORD_LARGE) | FXT_PUT(LARGE_SIZE, words) |
	       FXT_PUT(LARGE_TYPE, FXT_LARGE_BLOB) | FXT_PUT(LARGE_BLOB_FORMAT, format);
}

/*
 * Header words of arguments. @words is the argument's size, its header included; @name a ref.
 * An inline name follows the header, then, for 64-bit types, the value; for strings and blobs,
 * the stream.
 */

static inline uint64_t fx_arg_header(enum fxt_arg_type type, size_t words, unsigned name)
{
	return FXT_PUT(ARG_TYPE, type) | FXT_PUT(ARG_SIZE, words) | FXT_PUT(ARG_NAME, name);
}

/* Types int32 and uint32. */
static inline uint64_t fx_arg_header_value32(enum fxt_arg_type type, size_t words, unsigned name,
					     uint32_t value)
{
	return fx_arg_header(type, words, name) | FXT_PUT(ARG_VALUE32_VALUE, value);
}

static inline uint64_t fx_arg_header_string(size_t words, unsigned name, unsigned value)
{
	return fx_arg_header(FXT_ARG_STRING, words, name) | FXT_PUT(ARG_STRING_VALUE, value);
}

static inline uint64_t fx_arg_header_bool(size_t words, unsigned name, bool value)
{
	return fx_arg_header(FXT_ARG_BOOL, words, name) | FXT_PUT(ARG_BOOL_VALUE, value);
}

static inline uint64_t fx_arg_header_blob(size_t words, unsigned name, uint32_t size)
{
	return fx_arg_header(FXT_ARG_BLOB, words, name) | FXT_PUT(ARG_BLOB_SIZE, size);
}

/* --- Whole records --------------------------------------------------------------------------- */

/* Words @used of @capacity are written. The memory is the caller's. */
struct fx_encoder {
	uint64_t *words;
	size_t capacity;
	size_t used;
};

static inline void fx_encoder_init(struct fx_encoder *encoder, uint64_t *words, size_t capacity)
{
	encoder->words = words;
	encoder->capacity = capacity;
	encoder->used = 0;
}

/* Strings for the records below. */

static inline struct fxt_string fx_string_indexed(unsigned index)
{
	return (struct fxt_string){.ref = (uint16_t)index};
}

/* At most FXT_MAX_STRING_LENGTH bytes, else the encoder refuses the record. */
static inline struct fxt_string fx_string_inline(const char *data, size_t length)
{
	bool fits = length <= FXT_MAX_STRING_LENGTH;

	return (struct fxt_string){
	    .data = data,
	    .length = fits ? (uint32_t)length : FXT_MAX_STRING_LENGTH + 1,
	    .ref = fits ? fx_ref_inline(length) : FXT_STRING_INLINE,
	};
}

/*
 * Writes @record: whatever its kind says, from its union and arguments; words, size, offset and
 * provider are not looked at, except that FXT_KIND_UNKNOWN is copied from them. A string or
 * thread goes out as its ref says. Returns 0; -ENOSPC if the buffer is too small; -EINVAL if a
 * value is beyond the format's bounds or the record beyond its largest size. On failure nothing
 * is written.
 */
int fx_record_encode(struct fx_encoder *encoder, const struct fxt_record *record);

/* The records that the writer of an archive needs most; errors as above. */
int fx_encode_magic(struct fx_encoder *encoder);
int fx_encode_provider_info(struct fx_encoder *encoder, uint32_t id, const char *name,
			    size_t length);
int fx_encode_provider_section(struct fx_encoder *encoder, uint32_t id);
int fx_encode_provider_event(struct fx_encoder *encoder, uint32_t id, unsigned event);
int fx_encode_initialization(struct fx_encoder *encoder, uint64_t ticks_per_second);
int fx_encode_string(struct fx_encoder *encoder, unsigned index, const char *text, size_t length);
int fx_encode_thread(struct fx_encoder *encoder, unsigned index, uint64_t pid, uint64_t tid);

/* Names a process, or a thread of it, by inline strings. */
int fx_encode_process_name(struct fx_encoder *encoder, uint64_t pid, const char *name,
			   size_t length);
int fx_encode_thread_name(struct fx_encoder *encoder, uint64_t pid, uint64_t tid, const char *name,
			  size_t length);

#endif /* FX_FORMAT_ENCODE_H */
