/* SPDX-License-Identifier: MIT */
/*
 * Whether words from an untrusted writer are a well-formed record.
 *
 * fx_record_check() looks at structure alone: that every string, argument and word which the
 * header announces lies within the record, and every bound of the format is kept. It keeps no
 * tables and never reads outside the words it was given. A record that passes can be decoded.
 */
#ifndef FX_FORMAT_VALIDATE_H
#define FX_FORMAT_VALIDATE_H

#include <stddef.h>
#include <stdint.h>

#include <fxtrace/format.h>

/* The general case: any record. */
int64_t fx_record_check_slow(const uint64_t *words, size_t available);

/*
 * Returns the record's size in words (> 0); 0 if @available words do not hold it whole; or
 * -(enum fxt_fault_kind). Unknown types pass, by their size.
 *
 * The words must not change meanwhile: copy them out of shared memory first.
 *
 * Events that hold references only, which are nearly all of a trace, take one comparison of the
 * header and one of the size.
 */
static inline int64_t fx_record_check(const uint64_t *words, size_t available)
{
	/* An event without arguments and without inline strings. */
	const uint64_t mask = FXT_PUT(RECORD_TYPE, ~0) | FXT_PUT(EVENT_NARGS, ~0) |
			      FXT_PUT(EVENT_CATEGORY, FXT_STRING_INLINE) |
			      FXT_PUT(EVENT_NAME, FXT_STRING_INLINE);
	/* The event types without a word of their own: one bit each. */
	const uint64_t bare =
	    1u << FXT_EVENT_INSTANT | 1u << FXT_EVENT_DURATION_BEGIN | 1u << FXT_EVENT_DURATION_END;
	uint64_t header;

	if (available == 0)
		return 0;
	header = words[0];
	if ((header & mask) == FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) &&
	    FXT_GET(header, EVENT_THREAD) != FXT_THREAD_INLINE) {
		uint64_t size = FXT_GET(header, RECORD_SIZE);

		if (size >= 3 - (bare >> FXT_GET(header, EVENT_TYPE) & 1) && size <= available)
			return (int64_t)size;
	}
	return fx_record_check_slow(words, available);
}

#endif /* FX_FORMAT_VALIDATE_H */
