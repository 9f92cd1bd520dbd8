/* SPDX-License-Identifier: MIT */
/*
 * Text from files that nobody vouches for, made fit to show: valid UTF-8, no control characters, of
 * bounded length.
 */
#ifndef FX_SYMBOLS_TEXT_H
#define FX_SYMBOLS_TEXT_H

#include <stddef.h>

/*
 * Copies size bytes of text into buffer, which has room for limit bytes and a NUL. Each byte that
 * is not part of a well-formed character, or is of a control character, is escaped (base/escape.h).
 * What does not fit is cut at a character's border and marked, so that it stays distinct; the mark
 * counts among the limit bytes. Returns the length.
 */
size_t fx_text_copy(char *buffer, size_t limit, const char *text, size_t size);

/* The same for a text that may be cut already: what it is, is told by key. */
size_t fx_text_copy_keyed(char *buffer, size_t limit, const char *text, size_t size,
			  const char *key, size_t key_size);

#endif
