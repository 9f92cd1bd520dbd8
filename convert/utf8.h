/* SPDX-License-Identifier: MIT */
/*
 * Traces hold strings of any bytes; the formats that we write want UTF-8.
 */
#ifndef FX_CONVERT_UTF8_H
#define FX_CONVERT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The most bytes that fx_utf8_clean() makes of @length bytes. */
#define FX_UTF8_CLEAN_MAX(length) (3 * (size_t)(length))

/* Whether all of it is valid UTF-8 without a zero byte. */
bool fx_utf8_is_clean(const char *text, size_t length);

/*
 * Copies @text to @out, with U+FFFD in the place of each byte that is no part of a valid
 * character, and of each zero. Returns the length of the result, at most
 * FX_UTF8_CLEAN_MAX(length).
 */
size_t fx_utf8_clean(const char *text, size_t length, char *out);

#endif
