/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <string.h>

#include "report/alike.h"

static void expect_alike(const char *text, const char *expected)
{
	char alike[200];
	size_t length = fx_alike(text, strlen(text), alike);

	cr_assert_str_eq(alike, expected);
	cr_assert_eq(length, strlen(expected));
}

Test(alike, numbers_of_one_run)
{
	expect_alike("mutex 0x55f00d", "mutex 0x*");
	expect_alike("0xA", "0x*");
	expect_alike("pipe:[12345]", "pipe:[*]");
	expect_alike("socket:[77] tcp 127.0.0.1:41532->127.0.0.1:8080",
		     "socket:[*] tcp 127.0.0.1:*->127.0.0.1:8080");
	expect_alike("tcp [::1]:65535->[::1]:32767", "tcp [::1]:*->[::1]:32767");
	expect_alike("main (tid 12)", "main (tid *)");
	expect_alike("/proc/12/maps", "/proc/*/maps");
}

Test(alike, numbers_of_every_run)
{
	const char *const texts[] = {"",
				     "0x",
				     "0xg",
				     "libc+0x2a1ca < main",
				     "a0x12",
				     "pipe:[12",
				     "[12]",
				     "worker-12",
				     "/tmp/12/a:41532",
				     "127.0.0.1:99999",
				     "127.0.0.1:415321",
				     "(tid)",
				     "/proc/self/1"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_alike(texts[i], texts[i]);
}

/* What follows the text is not looked at. */
Test(alike, ends_with_its_length)
{
	char alike[20];

	cr_assert_eq(fx_alike("pipe:[12]", 8, alike), 8);
	cr_assert_str_eq(alike, "pipe:[12");
	cr_assert_eq(fx_alike("0x12", 3, alike), 3);
	cr_assert_str_eq(alike, "0x*");
}
