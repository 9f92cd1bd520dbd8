/* SPDX-License-Identifier: MIT */
/* Strings that stay where they are until all of them are freed at once. */
#ifndef FX_SYMBOLS_STRINGS_H
#define FX_SYMBOLS_STRINGS_H

#include <stddef.h>

struct fx_string_block;

/* All zero: empty. */
struct fx_strings {
	struct fx_string_block *newest;
};

/* A copy of length bytes of text, ended by a NUL; NULL if there is no memory. */
const char *fx_strings_add(struct fx_strings *strings, const char *text, size_t length);

void fx_strings_clear(struct fx_strings *strings);

#endif
