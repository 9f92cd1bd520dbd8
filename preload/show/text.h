/* SPDX-License-Identifier: MIT */
/* Text put together in a buffer of the caller's, without libc: what does not fit is left out. */
#ifndef FX_PRELOAD_TEXT_H
#define FX_PRELOAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The longest text that is shown, in bytes. */
#define FX_TEXT_MAX 255

struct fx_text {
	char *begin;
	char *at;  /* where the next byte goes */
	char *end; /* one past the last byte */
};

#define FX_TEXT(buffer) ((struct fx_text){(buffer), (buffer), (buffer) + sizeof(buffer)})

size_t fx_text_length(const struct fx_text *t);

void fx_text_char(struct fx_text *t, char c);

void fx_text_bytes(struct fx_text *t, const char *bytes, size_t length);

/* A string that ends with NUL. */
void fx_text_string(struct fx_text *t, const char *s);

/* A number to base 8, 10 or 16, without a prefix. */
void fx_text_number(struct fx_text *t, uint64_t n, unsigned base);

/* The same to base 8 with its 0, as permissions are written. */
void fx_text_octal(struct fx_text *t, unsigned n);

/* A decimal number with its sign. */
void fx_text_signed(struct fx_text *t, int64_t n);

/* A list that has become longer than its room ends with dots, behind the last whole word. */
void fx_text_end(struct fx_text *t);

/* Where to cut `length` bytes of text, at most `max`, so that no UTF-8 character is split. Bytes
 * that are not UTF-8 are cut anywhere. */
size_t fx_text_cut(const char *s, size_t length, size_t max);

#endif
