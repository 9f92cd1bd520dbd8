/* SPDX-License-Identifier: MIT */
#include "kernel/record-text.h"

#include "engine/provider/string.h"
#include "format/encode.h"

static uint32_t text_make(uint64_t key, const void *data)
{
	const struct fx_record_text *text = data;

	(void)key;
	return fx_string_define(text->data, text->length, 0);
}

uint32_t fx_record_text_ref(const struct fx_thread *t, const struct fx_record_text *text)
{
	uint32_t index = 0;

	if (text->length)
		index = fx_string_of_bytes(t, text->data, text->length, text_make, text);
	return index ? index : fx_ref_inline(text->length);
}

unsigned fx_record_text_words(uint32_t ref)
{
	return ref & FXT_STRING_INLINE
		   ? (unsigned)fx_bytes_words(ref & ~(uint32_t)FXT_STRING_INLINE)
		   : 0;
}

uint64_t *fx_record_text_write(uint64_t *out, uint32_t ref, const struct fx_record_text *text)
{
	return ref & FXT_STRING_INLINE ? fx_bytes_write(out, text->data, text->length) : out;
}
