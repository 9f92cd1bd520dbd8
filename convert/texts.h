/* SPDX-License-Identifier: MIT */
/*
 * Each text once, by number. Numbers count from 1, so that exporters can use them as the keys of
 * small arrays and as interning ids; 0 stands for no text. What goes in is cleaned (utf8.h), so
 * what comes out is UTF-8 without zeros.
 */
#ifndef FX_CONVERT_TEXTS_H
#define FX_CONVERT_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include <fxtrace/reader.h>

struct fx_text {
	const char *data; /* terminated; lives as long as the table */
	uint32_t length;
	uint32_t id;
	struct fxt_string string; /* the same; `serial' is @id, 0 of the empty text */
};

struct fx_texts;

/* NULL: no memory. */
struct fx_texts *fx_texts_new(void);

/* NULL is allowed. */
void fx_texts_free(struct fx_texts *strings);

/* The number of a text, or 0: no memory. */
uint32_t fx_texts_add(struct fx_texts *strings, const char *data, size_t length);

/* The same of a text that is there already; else 0. */
uint32_t fx_texts_find(const struct fx_texts *strings, const char *data, size_t length);

/* The text of a number that fx_texts_add() returned. Valid until the table is freed. */
const struct fx_text *fx_texts_get(const struct fx_texts *strings, uint32_t id);

/* The largest number given out. */
uint32_t fx_texts_count(const struct fx_texts *strings);

#endif
