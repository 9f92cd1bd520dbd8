/* SPDX-License-Identifier: MIT */
/*
 * Plain events: begins, ends and complete events without arguments, whose strings and thread stand in tables, and
 * whose record has just the size of its type. Nearly all records of function calls are such. They need no cursor, and
 * can be read many at a time.
 */
#ifndef FX_FORMAT_PLAIN_H
#define FX_FORMAT_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

/* What the header of a plain event of this type and size has, of the bits that matter; its thread is not 0. */
#define FX_PLAIN_MASK                                                                              \
	(FXT_PUT(RECORD_TYPE, UINT64_MAX) | FXT_PUT(RECORD_SIZE, UINT64_MAX) |                     \
	 FXT_PUT(EVENT_TYPE, UINT64_MAX) | FXT_PUT(EVENT_NARGS, UINT64_MAX) |                      \
	 FXT_PUT(EVENT_CATEGORY, FXT_STRING_INLINE) | FXT_PUT(EVENT_NAME, FXT_STRING_INLINE))
#define FX_PLAIN_HEADER(type, size)                                                                \
	(FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(EVENT_TYPE, type) |                      \
	 FXT_PUT(RECORD_SIZE, size))

/* The words of the plain event that has this header; 0: it is none. */
static inline size_t fx_plain_size(uint64_t header)
{
	uint64_t shape = header & FX_PLAIN_MASK;
	size_t size = 0;

	if (shape == FX_PLAIN_HEADER(FXT_EVENT_DURATION_COMPLETE, 3))
		size = 3;
	else if (shape == FX_PLAIN_HEADER(FXT_EVENT_DURATION_BEGIN, 2) ||
		 shape == FX_PLAIN_HEADER(FXT_EVENT_DURATION_END, 2))
		size = 2;
	return FXT_GET(header, EVENT_THREAD) == FXT_THREAD_INLINE ? 0 : size;
}

/* Decodes such an event, but for its category and name. */
static inline void fx_plain_decode(const uint64_t *words, size_t size, struct fxt_record *ret)
{
	ret->kind = FXT_KIND_EVENT;
	ret->nargs = 0;
	ret->words = words;
	ret->size = size;
	ret->event.type = (uint8_t)FXT_GET(words[0], EVENT_TYPE);
	ret->event.has_scope = false;
	ret->event.thread = (struct fxt_thread){.ref = (uint8_t)FXT_GET(words[0], EVENT_THREAD)};
	ret->event.timestamp = words[1];
	ret->event.extra = size > 2 ? words[2] : 0;
}

/* Plain events, one behind the other, of one provider, whose references are all defined. */
struct fx_plain_run {
	const uint64_t *words;
	size_t count;	 /* of words; 0: there are none here */
	uint64_t offset; /* of the first, as of a record */
	const struct fxt_provider *provider;
	const struct fx_tables *tables;
};

/*
 * Takes the plain events that the reader has at hand, up to the first record that is none. Whatever fxt_reader_next()
 * would report of one leaves that for it. Valid until the next call of either.
 */
void fx_reader_take_plain(struct fxt_reader *reader, struct fx_plain_run *ret);

#endif /* FX_FORMAT_PLAIN_H */
