/* SPDX-License-Identifier: MIT */
/* Texts in the records that this provider writes: by an index of the string table or, where all have been given away, in the record
 * itself. */
#ifndef FX_KERNEL_RECORD_TEXT_H
#define FX_KERNEL_RECORD_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct fx_thread;

struct fx_record_text {
	const char *data;
	size_t length;
};

/* What a record refers to a text by: its index, or how long it is in the record itself. */
uint32_t fx_record_text_ref(const struct fx_thread *t, const struct fx_record_text *text);

/* How many words of the record it takes; 0: it has an index. */
unsigned fx_record_text_words(uint32_t ref);

/* Writes these words, and returns where they end. */
uint64_t *fx_record_text_write(uint64_t *out, uint32_t ref, const struct fx_record_text *text);

#endif
