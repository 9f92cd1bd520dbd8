/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/json-text.h"
#include "convert/texts.h"
#include "convert/utf8.h"

static void check_clean(const char *in, size_t length, const char *want)
{
	char out[100];
	size_t size = fx_utf8_clean(in, length, out);

	cr_assert_leq(size, FX_UTF8_CLEAN_MAX(length));
	cr_assert_eq(size, strlen(want));
	cr_assert_arr_eq(out, want, size);
	cr_assert_eq(fx_utf8_is_clean(in, length), length == size && memcmp(in, want, size) == 0);
}

Test(utf8, what_is_whole_stays)
{
	check_clean("", 0, "");
	check_clean("plain\n\x7f", 7, "plain\n\x7f");
	check_clean("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

Test(utf8, each_bad_byte_is_replaced)
{
	check_clean("a\0b", 3,
		    "a\xef\xbf\xbd"
		    "b");
	check_clean("\xff", 1, "\xef\xbf\xbd");
	check_clean("\xc0\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd");			/* overlong */
	check_clean("\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd");			/* cut off */
	check_clean("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
}

Test(strings, each_text_has_one_number)
{
	struct fx_texts *strings = fx_texts_new();
	uint32_t first = fx_texts_add(strings, "first", 5);
	uint32_t second = fx_texts_add(strings, "second", 6);
	uint32_t bad = fx_texts_add(strings, "\xff", 1);

	cr_assert_neq(first, 0);
	cr_assert_neq(first, second);
	cr_assert_eq(fx_texts_add(strings, "first and more", 5), first);
	cr_assert_eq(fx_texts_add(strings, "\xfe", 1), bad, "both are one U+FFFD");
	cr_assert_eq(fx_texts_count(strings), 3);
	cr_assert_str_eq(fx_texts_get(strings, second)->data, "second");
	cr_assert_eq(fx_texts_get(strings, second)->length, 6);
	cr_assert_eq(fx_texts_get(strings, second)->id, second);
	cr_assert_str_eq(fx_texts_get(strings, bad)->data, "\xef\xbf\xbd");
	fx_texts_free(strings);
}

static int json_fd;
static struct fx_sink *json;

static void open_json(void)
{
	json_fd = memfd_create("json", 0);
	cr_assert_eq(fx_sink_open(dup(json_fd), FX_PACKING_NONE, &json), 0);
}

static void expect_json(const char *want)
{
	char got[300] = "";

	cr_assert_eq(fx_sink_close(json), 0);
	cr_assert_geq(pread(json_fd, got, sizeof(got) - 1, 0), 0);
	cr_assert_str_eq(got, want);
	close(json_fd);
}

Test(json, strings_are_escaped, .init = open_json)
{
	fx_json_string(json, "a\"b\\c\n\x01\x7f\xc3\xa9\xff", 11);
	fx_json_string(json, "\0", 1);
	expect_json("\"a\\\"b\\\\c\\n\\u0001\\u007f\xc3\xa9\xef\xbf\xbd\"\"\xef\xbf\xbd\"");
}

Test(json, numbers, .init = open_json)
{
	fx_json_uint(json, 0);
	fx_json_raw(json, " ");
	fx_json_uint(json, UINT64_MAX);
	fx_json_raw(json, " ");
	fx_json_int(json, INT64_MIN);
	fx_json_raw(json, " ");
	fx_json_double(json, 0.1);
	fx_json_raw(json, " ");
	fx_json_double(json, -INFINITY);
	fx_json_double(json, NAN);
	fx_json_hex(json, 0xabc);
	expect_json("0 18446744073709551615 -9223372036854775808 0.10000000000000001 "
		    "\"-Infinity\"\"NaN\"\"0xabc\"");
}

Test(json, times_have_three_decimals, .init = open_json)
{
	fx_json_time(json, 0);
	fx_json_raw(json, " ");
	fx_json_time(json, 5);
	fx_json_raw(json, " ");
	fx_json_time(json, 1020);
	fx_json_raw(json, " ");
	fx_json_time(json, UINT64_MAX);
	expect_json("0.000 0.005 1.020 18446744073709551.615");
}

Test(sink, errors_stay)
{
	struct fx_sink *sink;
	char data[4096] = {0};

	cr_assert_eq(fx_sink_open(STDERR_FILENO + 100, FX_PACKING_NONE, &sink), 0);
	for (int i = 0; i < 1000; i++)
		fx_sink_write(sink, data, sizeof(data));
	cr_assert_eq(fx_sink_error(sink), -EBADF);
	cr_assert_eq(fx_sink_size(sink), 1000 * sizeof(data));
	cr_assert_eq(fx_sink_close(sink), -EBADF);
}

Test(sink, a_reservation_may_be_larger_than_the_buffer)
{
	int fd = memfd_create("large", 0);
	size_t size = 5 << 20;
	struct fx_sink *sink;
	unsigned char *place, last[2];

	cr_assert_eq(fx_sink_open(dup(fd), FX_PACKING_NONE, &sink), 0);
	fx_sink_write(sink, "x", 1);
	place = fx_sink_reserve(sink, size);
	cr_assert_not_null(place);
	memset(place, 'y', size);
	fx_sink_commit(sink, size);
	fx_sink_write(sink, "z", 1);
	cr_assert_eq(fx_sink_close(sink), 0);
	cr_assert_eq(pread(fd, last, 2, (off_t)size), 2);
	cr_assert_eq(last[0], 'y');
	cr_assert_eq(last[1], 'z');
	close(fd);
}
