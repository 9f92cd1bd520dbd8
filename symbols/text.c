/* SPDX-License-Identifier: MIT */
#include "symbols/text.h"

#include "base/escape.h"

size_t fx_text_copy(char *buffer, size_t limit, const char *text, size_t size)
{
	return fx_text_copy_keyed(buffer, limit, text, size, text, size);
}

size_t fx_text_copy_keyed(char *buffer, size_t limit, const char *text, size_t size,
			  const char *key, size_t key_size)
{
	size_t length =
	    fx_escape_keyed(buffer, limit, text, size, FX_ESCAPE_CONTROLS, key, key_size);

	buffer[length] = '\0';
	return length;
}
