/* SPDX-License-Identifier: MIT */
#include "preload/show/text.h"

#include <string.h>

size_t fx_text_length(const struct fx_text *t)
{
	return (size_t)(t->at - t->begin);
}

void fx_text_char(struct fx_text *t, char c)
{
	if (t->at < t->end)
		*t->at++ = c;
}

void fx_text_bytes(struct fx_text *t, const char *bytes, size_t length)
{
	size_t room = (size_t)(t->end - t->at);

	if (length > room)
		length = room;
	memcpy(t->at, bytes, length);
	t->at += length;
}

void fx_text_string(struct fx_text *t, const char *s)
{
	while (*s)
		fx_text_char(t, *s++);
}

void fx_text_number(struct fx_text *t, uint64_t n, unsigned base)
{
	char digits[24];
	unsigned count = 0;

	do {
		digits[count++] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	while (count)
		fx_text_char(t, digits[--count]);
}

void fx_text_signed(struct fx_text *t, int64_t n)
{
	if (n < 0)
		fx_text_char(t, '-');
	fx_text_number(t, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 10);
}

void fx_text_octal(struct fx_text *t, unsigned n)
{
	if (n)
		fx_text_char(t, '0');
	fx_text_number(t, n, 8);
}

void fx_text_end(struct fx_text *t)
{
	if (t->at < t->end)
		return;
	t->at = t->end - 3;
	while (t->at > t->begin && t->at[-1] != ' ')
		t->at--;
	fx_text_string(t, "...");
}

size_t fx_text_cut(const char *s, size_t length, size_t max)
{
	size_t cut = max;

	if (length <= max)
		return length;
	/* Back to the lead byte of a character that the cut would split: at most three bytes. */
	while (max - cut < 3 && cut > 0 && ((unsigned char)s[cut] & 0xc0) == 0x80)
		cut--;
	return ((unsigned char)s[cut] & 0xc0) == 0x80 ? max : cut;
}
