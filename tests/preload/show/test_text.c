/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <criterion/criterion.h>

#include "preload/show/text.h"

static struct fx_text text;
static char buffer[16];

static void begin(void)
{
	memset(buffer, '#', sizeof buffer);
	text = FX_TEXT(buffer);
}

static void expect(const char *want)
{
	cr_assert_eq(fx_text_length(&text), strlen(want), "length of \"%.*s\"",
		     (int)fx_text_length(&text), buffer);
	cr_assert_arr_eq(buffer, want, strlen(want));
}

TestSuite(text, .init = begin);

Test(text, numbers)
{
	fx_text_number(&text, 0, 10);
	fx_text_char(&text, ' ');
	fx_text_number(&text, 0x1ff, 16);
	fx_text_char(&text, ' ');
	fx_text_number(&text, 0644, 8);
	fx_text_char(&text, ' ');
	fx_text_signed(&text, -12);
	expect("0 1ff 644 -12");
}

Test(text, extremes)
{
	char large[64];

	text = FX_TEXT(large);
	fx_text_signed(&text, INT64_MIN);
	fx_text_char(&text, ' ');
	fx_text_number(&text, UINT64_MAX, 16);
	cr_assert_eq(fx_text_length(&text), 37);
	cr_assert_arr_eq(large, "-9223372036854775808 ffffffffffffffff", 37);
}

Test(text, what_does_not_fit_is_left_out)
{
	fx_text_string(&text, "0123456789abcdefgh");
	expect("0123456789abcdef");
	fx_text_bytes(&text, "xyz", 3);
	fx_text_number(&text, 7, 10);
	expect("0123456789abcdef");
}

Test(text, cut)
{
	/* a, then three characters of 2, 3 and 4 bytes */
	const char *s = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
	const size_t cuts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};

	for (size_t max = 0; max <= 10; max++)
		cr_assert_eq(fx_text_cut(s, 10, max), cuts[max], "cut at %zu: %zu", max,
			     fx_text_cut(s, 10, max));
	cr_assert_eq(fx_text_cut("plain", 5, 3), 3);
	/* Not UTF-8: cut anywhere, and never before the beginning. */
	cr_assert_eq(fx_text_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
	cr_assert_eq(fx_text_cut("\x80\x80", 2, 1), 1);
}
