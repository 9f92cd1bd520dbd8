/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static bool is_capital_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* Whether an escape seems to begin here. */
static bool is_escape(const char *text, size_t size)
{
	return size >= 4 && text[0] == '\\' && text[1] == 'x' && is_capital_hex(text[2]) &&
	       is_capital_hex(text[3]);
}

static bool is_control(const char *text, size_t size)
{
	uint8_t first = (uint8_t)text[0];

	if (size == 1)
		return first < 0x20 || first == 0x7f;
	return first == 0xc2 && (uint8_t)text[1] < 0xa0;
}

/* The length of the character at @text, of @size > 0 bytes, that may stand as it is; 0: its first byte may not. */
static size_t escape_plain_length(const char *text, size_t size, unsigned flags)
{
	size_t length = fx_utf8_sequence(text, size);

	if (length == 0 || text[0] == 0)
		return 0;
	if ((flags & FX_ESCAPE_CONTROLS) && is_control(text, length))
		return 0;
	if (!(flags & FX_ESCAPE_KEEP_BACKSLASHES) && is_escape(text, size))
		return 0;
	return length;
}

bool fx_escape_needed(const char *text, size_t size, unsigned flags)
{
	for (size_t at = 0; at < size;) {
		size_t length = escape_plain_length(text + at, size - at, flags);

		if (length == 0)
			return true;
		at += length;
	}
	return false;
}

static void put_escape(char *to, char byte)
{
	static const char digits[] = "0123456789ABCDEF";

	to[0] = '\\';
	to[1] = 'x';
	to[2] = digits[(uint8_t)byte >> 4];
	to[3] = digits[(uint8_t)byte & 15];
}

/* FNV-1a, folded. */
static uint32_t escape_hash_of(const char *text, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(h ^ h >> 32);
}

static void put_mark(char *to, uint32_t hash)
{
	static const char ellipsis[] = "…#";

	memcpy(to, ellipsis, sizeof(ellipsis) - 1);
	to += sizeof(ellipsis) - 1;
	for (int shift = 28; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[hash >> shift & 15];
}

size_t fx_escape_keyed(char *to, size_t limit, const char *text, size_t size, unsigned flags,
		       const char *key, size_t key_size)
{
	size_t used = 0;
	size_t cut = 0; /* the last border that leaves room for the mark */

	for (size_t at = 0; at < size;) {
		size_t length = escape_plain_length(text + at, size - at, flags);
		size_t width = length ? length : FX_ESCAPE_WIDTH;

		if (used + FX_ESCAPE_MARK_SIZE <= limit)
			cut = used;
		if (used + width > limit) {
			if (limit < FX_ESCAPE_MARK_SIZE)
				return used;
			put_mark(to + cut, escape_hash_of(key, key_size));
			return cut + FX_ESCAPE_MARK_SIZE;
		}
		if (length)
			memcpy(to + used, text + at, length);
		else
			put_escape(to + used, text[at]);
		used += width;
		at += length ? length : 1;
	}
	return used;
}

size_t fx_escape(char *to, size_t limit, const char *text, size_t size, unsigned flags)
{
	return fx_escape_keyed(to, limit, text, size, flags, text, size);
}
