/* SPDX-License-Identifier: MIT */
#include "symbols/text.h"

#include <stdbool.h>
#include <string.h>

static const char ellipsis[] = "…";
#define ELLIPSIS_SIZE (sizeof(ellipsis) - 1)

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Length of the well-formed character at text, 0 if there is none (Unicode, table 3-7). */
static size_t character_size(const unsigned char *text, size_t size)
{
	unsigned char lead = text[0];
	if (lead < 0x80)
		return lead >= 0x20 && lead != 0x7f;
	size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (lead < 0xc2 || lead > 0xf4 || size < length)
		return 0;
	for (size_t i = 1; i < length; i++)
		if (!is_continuation(text[i]))
			return 0;
	unsigned char second = text[1];
	bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
	bool surrogate = lead == 0xed && second > 0x9f;
	bool beyond = lead == 0xf4 && second > 0x8f;
	bool control = lead == 0xc2 && second < 0xa0;
	return overlong || surrogate || beyond || control ? 0 : length;
}

size_t fx_text_copy(char *buffer, size_t limit, const char *text, size_t size)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t length = 0;
	size_t cut = 0; /* the last border that leaves room for the ellipsis */

	for (size_t i = 0; i < size;) {
		size_t step = character_size(from + i, size - i);
		size_t width = step ? step : 1;
		if (length + width > limit) {
			memcpy(buffer + cut, ellipsis, ELLIPSIS_SIZE);
			length = cut + ELLIPSIS_SIZE;
			break;
		}
		if (step)
			memmove(buffer + length, from + i, step);
		else
			buffer[length] = '?';
		length += width;
		i += width;
		if (length + ELLIPSIS_SIZE <= limit)
			cut = length;
	}
	buffer[length] = '\0';
	return length;
}
