/* SPDX-License-Identifier: MIT */
/* Arguments of system calls as what they are. */
#include "kernel/shown.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_text(const char *kind, uint64_t value, const char *expected)
{
	char text[FX_SHOWN_MAX];
	size_t length = 0;

	cr_assert_eq(fx_shown(kind, value, text, &length), FX_SHOWN_TEXT, "%s", kind);
	cr_expect(length == strlen(expected) && memcmp(text, expected, length) == 0,
		  "%s: %.*s, not %s", kind, (int)length, text, expected);
}

static enum fx_shown_as shown_as(const char *kind)
{
	char text[FX_SHOWN_MAX];
	size_t length;

	return fx_shown(kind, 7, text, &length);
}

Test(shown, names)
{
	expect_text("open_flags", 0, "O_RDONLY");
	expect_text("open_flags", 02000101, "O_WRONLY|O_CREAT|O_CLOEXEC");
	expect_text("dirfd", (uint32_t)-100, "AT_FDCWD");
	expect_text("mmap_prot", 3, "PROT_READ|PROT_WRITE");
	expect_text("whence", 2, "SEEK_END");
	expect_text("whence", 77, "77");
	expect_text("mode", 0644, "0644");
	expect_text("sock_type", 02000001, "SOCK_STREAM|SOCK_CLOEXEC");
}

Test(shown, numbers)
{
	cr_expect_eq(shown_as("fd"), FX_SHOWN_INT);
	cr_expect_eq(shown_as("dirfd"), FX_SHOWN_INT);
	cr_expect_eq(shown_as("size"), FX_SHOWN_LONG);
	cr_expect_eq(shown_as("path"), FX_SHOWN_POINTER);
	cr_expect_eq(shown_as("plain"), FX_SHOWN_UNKNOWN);
}

/* No text is longer than its room, whatever bits there are. */
Test(shown, all_bits)
{
	char text[FX_SHOWN_MAX + 1];
	size_t length = 0;

	text[FX_SHOWN_MAX] = 0x55;
	cr_assert_eq(fx_shown("mount_flags", UINT64_MAX, text, &length), FX_SHOWN_TEXT);
	cr_expect_leq(length, FX_SHOWN_MAX);
	cr_expect_eq(text[FX_SHOWN_MAX], 0x55);
}
