/* SPDX-License-Identifier: MIT */
/*
 * Text of any bytes made UTF-8 that can be turned back. Each byte that is no part of a well-formed character, and each
 * NUL, becomes \xHH with capital letters. A backslash stays as it is, but where such an escape would seem to begin with
 * it: there it is written as \x5C. So two texts are equal after it if they were before, and a reader that wants the bytes
 * back replaces each \xHH by its byte.
 *
 * What is escaped is not to be escaped again.
 */
#ifndef FX_BASE_ESCAPE_H
#define FX_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Control characters too, in C0 and C1: a terminal obeys them. */
#define FX_ESCAPE_CONTROLS 1u

/* Text that was escaped before, or whose backslashes are somebody's own: these stay. */
#define FX_ESCAPE_KEEP_BACKSLASHES 2u

/* The most bytes that one byte becomes. */
#define FX_ESCAPE_WIDTH 4u

/* What stands behind a text that was cut: "…#" and eight hexadecimal digits, a hash of all of it. */
#define FX_ESCAPE_MARK_SIZE (sizeof("…#01234567") - 1)

/* Whether fx_escape() would change a byte of it, however long it is. */
bool fx_escape_needed(const char *text, size_t size, unsigned flags);

/*
 * Writes the text to `to`, no more than `limit` bytes, without a NUL, and returns their number. A text that does not
 * fit is cut between two characters and gets the mark, for which `limit` should have room: what differs only behind
 * the cut stays different. With less room it ends without a mark.
 */
size_t fx_escape(char *to, size_t limit, const char *text, size_t size, unsigned flags);

/* The same; the mark is made of `key`, which tells what the text is if it is not whole itself. */
size_t fx_escape_keyed(char *to, size_t limit, const char *text, size_t size, unsigned flags,
		       const char *key, size_t key_size);

#endif
