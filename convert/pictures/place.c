/* SPDX-License-Identifier: MIT */
#include "convert/pictures/place.h"

#include <string.h>

#define INLINED ", inlined"

/* The digits that stand in front of `end`, behind a colon; NULL: there are none. */
static const char *place_colon(const char *start, const char *end, uint32_t *ret_line)
{
	const char *at = end;
	uint64_t line = 0, place = 1;

	while (at > start && at[-1] >= '0' && at[-1] <= '9' && end - at < 9) {
		line += (uint64_t)(*--at - '0') * place;
		place *= 10;
	}
	if (at == end || at - start < 2 || at[-1] != ':')
		return NULL;
	*ret_line = (uint32_t)line;
	return at - 1;
}

/* The last parenthesis, and nothing like one in it: a name of C++ has its parameters in such, too. */
bool fx_frame_place(const char *text, size_t length, struct fx_frame_place *ret)
{
	const size_t inlined = sizeof(INLINED) - 1;
	const char *end = text + length, *open, *colon;

	if (length < sizeof("f (a:1)") - 1 || end[-1] != ')')
		return false;
	end--;
	open = memrchr(text, '(', (size_t)(end - text));
	if (!open || open - text < 2 || open[-1] != ' ' || memchr(open, ')', (size_t)(end - open)))
		return false;
	if ((size_t)(end - open) > inlined && memcmp(end - inlined, INLINED, inlined) == 0)
		end -= inlined;
	colon = place_colon(open + 1, end, &ret->line);
	if (!colon)
		return false;
	ret->name_length = (size_t)(open - 1 - text);
	ret->file = open + 1;
	ret->file_length = (size_t)(colon - ret->file);
	return true;
}
