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
 * is not part of a well-formed character, or is a control character, becomes '?'. What does not fit
 * is cut at a character's border and replaced by "…", which counts among the limit bytes; limit is
 * at least 3. Returns the length. buffer and text may be the same.
 */
size_t fx_text_copy(char *buffer, size_t limit, const char *text, size_t size);

#endif
