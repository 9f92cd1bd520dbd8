/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program points to and that nobody is known to have followed: asked for before it is read.
 * Costs a system call for each page of it, so it is for calls that start programs, that have failed, and the like.
 */
#ifndef FX_PRELOAD_PEEK_H
#define FX_PRELOAD_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of `size` bytes can be read. Without FX_ASK_LOOK (engine/provider/engine.h), what would take a system call
 * cannot be read: so all that is here. */
bool fx_peek(const void *p, size_t size);

/* The same for an array that ends with NULL, and the first byte of each string. */
bool fx_peek_strings(char *const *strings);

/* The same for what most likely lies beside `good', memory that was used just now, or on this thread's stack:
 * then it costs nothing. */
bool fx_peek_near(const void *p, size_t size, const void *good);

/*
 * Copies memory that may not be there, or be gone in a moment: all `size' bytes of it, no more than two pages, or those up
 * to a page that cannot be read. Returns how many.
 */
size_t fx_peek_copy(void *to, const void *from, size_t size);

/* The same for a string: its bytes before the NUL, at most `max`; -1 if it cannot be read so far. */
long fx_peek_string(const char *s, size_t max);

/* The same beside `good', memory that was asked for just now (NULL: none). */
long fx_peek_string_near(const char *s, size_t max, const void *good);

#endif
