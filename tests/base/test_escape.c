/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"

static char *escaped(const char *text, size_t size, size_t limit, unsigned flags)
{
	static char to[256];
	size_t length;

	memset(to, '#', sizeof(to));
	length = fx_escape(to, limit, text, size, flags);
	cr_expect_leq(length, limit);
	cr_expect(fx_utf8_is_valid(to, length), "%.*s", (int)length, to);
	if (size * FX_ESCAPE_WIDTH <= limit)
		cr_expect_eq(fx_escape_needed(text, size, flags),
			     length != size || memcmp(to, text, size) != 0);
	to[length] = 0;
	return to;
}

#define EXPECT(text, want) cr_expect_str_eq(escaped((text), sizeof(text) - 1, 200, 0), (want))

Test(escape, what_is_utf8_stays)
{
	EXPECT("", "");
	EXPECT("plain /usr/bin:%s\n\x1b\x7f", "plain /usr/bin:%s\n\x1b\x7f");
	EXPECT("größe 時 😀", "größe 時 😀");
	EXPECT("\xc2\x9b\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
	       "\xc2\x9b\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
	EXPECT("C:\\dir\\x \\\\ \\n \\xe9 \\xZZ \\x4", "C:\\dir\\x \\\\ \\n \\xe9 \\xZZ \\x4");
}

Test(escape, what_is_not_does_not)
{
	EXPECT("caf\xe9", "caf\\xE9");
	EXPECT("\x80\xbf\xc3", "\\x80\\xBF\\xC3");
	EXPECT("\xc0\xaf", "\\xC0\\xAF");
	EXPECT("\xe0\x80\xaf", "\\xE0\\x80\\xAF");
	EXPECT("\xed\xa0\x80", "\\xED\\xA0\\x80");
	EXPECT("\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80");
	EXPECT("\xf0\x9f\x98", "\\xF0\\x9F\\x98");
	EXPECT("\xe6\x99x", "\\xE6\\x99x");
	EXPECT("a\0b", "a\\x00b");
	EXPECT("\\xE9\xe9", "\\x5CxE9\\xE9");
}

Test(escape, flags)
{
	cr_expect_str_eq(escaped("\x1b[2J\xc2\x9b\x7f", 7, 200, FX_ESCAPE_CONTROLS),
			 "\\x1B[2J\\xC2\\x9B\\x7F");
	cr_expect_str_eq(escaped("\\xE9\x9b", 5, 200, FX_ESCAPE_KEEP_BACKSLASHES), "\\xE9\\x9B");
}

/* Puts the bytes back. */
static size_t unescaped(const char *text, size_t length, char *to)
{
	size_t size = 0;

	for (size_t i = 0; i < length; size++) {
		char digits[3] = {0};

		if (text[i] == '\\' && i + 4 <= length && text[i + 1] == 'x' &&
		    strspn(text + i + 2, "0123456789ABCDEF") >= 2) {
			memcpy(digits, text + i + 2, 2);
			to[size] = (char)strtoul(digits, NULL, 16);
			i += 4;
		} else {
			to[size] = text[i++];
		}
	}
	return size;
}

Test(escape, bytes_can_be_had_back)
{
	static const char from[] = "\\\\xx5CE9\xc3\xa9\xe2\x82\xac\0\x80\xff";
	uint32_t random = 1;

	for (int round = 0; round < 100000; round++) {
		char text[13], to[sizeof(text) * FX_ESCAPE_WIDTH + 1], back[sizeof(to)];
		size_t size = (size_t)round % sizeof(text), length;

		for (size_t i = 0; i < size; i++) {
			random = random * 1664525u + 1013904223u;
			text[i] = from[(random >> 16) % (sizeof(from) - 1)];
		}
		length = fx_escape(to, sizeof(to) - 1, text, size, 0);
		to[length] = 0;
		cr_assert(fx_utf8_is_valid(to, length));
		cr_assert_eq(unescaped(to, length, back), size);
		cr_assert_eq(memcmp(back, text, size), 0);
	}
}

/* However little room there is: valid, and no more than that. */
Test(escape, cut)
{
	static const char text[] = "ab\xe9时\xf0\x9f\x98\x80\\x5Cabcdefghijklmnop";

	for (size_t limit = 0; limit < 64; limit++)
		escaped(text, sizeof(text) - 1, limit, 0);
	cr_expect_str_eq(escaped("abc\xe9", 4, 6, 0), "abc");
	cr_expect_eq(strncmp(escaped("äbcdefghijklmnopq", 18, 13, 0), "…#", 4), 0);
	cr_expect_eq(strncmp(escaped("äbcdefghijklmnopq", 18, 14, 0), "ä…#", 6), 0);
}

Test(escape, long_texts_stay_distinct)
{
	char a[300], b[300], text[300];

	memset(text, 'n', sizeof(text));
	strcpy(a, escaped(text, sizeof(text), 100, 0));
	text[sizeof(text) - 1] = 'm';
	strcpy(b, escaped(text, sizeof(text), 100, 0));
	cr_expect_eq(strlen(a), 100);
	cr_expect_str_neq(a, b);
	cr_expect_eq(memcmp(a, b, 100 - FX_ESCAPE_MARK_SIZE), 0);
}
