/* SPDX-License-Identifier: MIT */
/* Which bytes are well-formed UTF-8: no overlong forms, no surrogates, nothing over U+10FFFF. */
#ifndef FX_BASE_UTF8_H
#define FX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool fx_utf8_is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The length (1..4) of the sequence that begins at @text, of @size > 0 bytes; 0 if malformed. */
static inline size_t fx_utf8_sequence(const char *text, size_t size)
{
	const uint8_t *s = (const uint8_t *)text;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || size < 2 || !fx_utf8_is_continuation(s[1]))
		return 0;
	if (s[0] < 0xe0)
		return 2;
	if (size < 3 || !fx_utf8_is_continuation(s[2]))
		return 0;
	if (s[0] < 0xf0) {
		bool overlong = s[0] == 0xe0 && s[1] < 0xa0;
		bool surrogate = s[0] == 0xed && s[1] >= 0xa0;

		return overlong || surrogate ? 0 : 3;
	}
	if (s[0] > 0xf4 || size < 4 || !fx_utf8_is_continuation(s[3]))
		return 0;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return 4;
}

static inline bool fx_utf8_is_valid(const char *text, size_t size)
{
	while (size > 0) {
		size_t n = fx_utf8_sequence(text, size);

		if (n == 0)
			return false;
		text += n;
		size -= n;
	}
	return true;
}

#endif /* FX_BASE_UTF8_H */
