/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/utf8.h"
#include "base/utf8.h"

static const char replacement[] = "\xef\xbf\xbd";
enum { REPLACEMENT_LENGTH = sizeof(replacement) - 1 };

bool fx_utf8_is_clean(const char *text, size_t length)
{
	size_t size;

	for (size_t i = 0; i < length; i += size) {
		size = fx_utf8_sequence(text + i, length - i);
		if (size == 0 || text[i] == '\0')
			return false;
	}
	return true;
}

size_t fx_utf8_clean(const char *text, size_t length, char *out)
{
	size_t written = 0;

	for (size_t i = 0; i < length;) {
		size_t size = fx_utf8_sequence(text + i, length - i);

		if (size == 0 || text[i] == '\0') {
			memcpy(out + written, replacement, REPLACEMENT_LENGTH);
			written += REPLACEMENT_LENGTH;
			i++;
		} else {
			memcpy(out + written, text + i, size);
			written += size;
			i += size;
		}
	}
	return written;
}
