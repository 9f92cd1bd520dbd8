/* SPDX-License-Identifier: MIT */
/* The room that compilers leave for a call where a function begins, and what only looks like it. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "preload/hooks/nops.h"

#if defined(__x86_64__)

/* Where the room begins among so many bytes, and how large it is: "4+5"; "": there is none. */
static const char *room(const char *bytes, size_t size)
{
	static char told[16];
	uint8_t code[32], *at;
	size_t length = 99;

	memcpy(code, bytes, size);
	memset(code + size, 0x90, sizeof(code) - size); /* which is not to be looked at */
	at = fx_nops_room(code, size, &length);
	told[0] = 0;
	if (at)
		snprintf(told, sizeof(told), "%d+%zu", (int)(at - code), length);
	else
		cr_assert_eq(length, 0);
	return told;
}

#define ROOM(bytes) room(bytes, sizeof(bytes) - 1)

Test(nops, as_compilers_leave_them)
{
	cr_assert_str_eq(ROOM("\x90\x90\x90\x90\x90"), "0+5");
	cr_assert_str_eq(ROOM("\x90\x90\x90\x90\x90\x90\x90\x90"), "0+5");
	cr_assert_str_eq(ROOM("\xf3\x0f\x1e\xfa\x90\x90\x90\x90\x90"), "4+5");
	cr_assert_str_eq(ROOM("\x41\x52\x0f\x1f\x44\x00\x00\x41\x5a"), "2+5");
	cr_assert_str_eq(ROOM("\xf3\x0f\x1e\xfa\x41\x52\x0f\x1f\x44\x00\x00"), "6+5");
	/* clang's sled */
	cr_assert_str_eq(ROOM("\xeb\x09\x66\x0f\x1f\x84\x00\x00\x02\x00\x00"), "0+11");
}

/* Every form of the long one that assemblers write (Intel's manual, volume 2, table 4-12). */
Test(nops, of_every_length)
{
	cr_assert_str_eq(ROOM("\x66\x90\x0f\x1f\x00"), "0+5");
	cr_assert_str_eq(ROOM("\x0f\x1f\x40\x00\x90"), "0+5");
	cr_assert_str_eq(ROOM("\x0f\x1f\x44\x00\x00"), "0+5");
	cr_assert_str_eq(ROOM("\x66\x0f\x1f\x44\x00\x00"), "0+6");
	cr_assert_str_eq(ROOM("\x0f\x1f\x80\x00\x00\x00\x00"), "0+7");
	cr_assert_str_eq(ROOM("\x0f\x1f\x84\x00\x00\x00\x00\x00"), "0+8");
	cr_assert_str_eq(ROOM("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"), "0+10");
	cr_assert_str_eq(ROOM("\x0f\x1f\xc0\x90\x90"), "0+5");
	cr_assert_str_eq(ROOM("\x0f\x1f\x04\x25\x01\x02\x03\x04"), "0+8");
	cr_assert_str_eq(ROOM("\x0f\x1f\x05\x01\x02\x03\x04"), "0+7");
}

Test(nops, too_little_room)
{
	cr_assert_str_eq(ROOM(""), "");
	cr_assert_str_eq(ROOM("\x90\x90\x90\x90"), "");
	cr_assert_str_eq(ROOM("\x90\x90\x90\x90\xc3"), "");
	cr_assert_str_eq(ROOM("\xf3\x0f\x1e\xfa\x90\x90"), "");
	/* cut off in the middle of one */
	cr_assert_str_eq(ROOM("\x0f\x1f\x84\x00\x00\x00\x00"), "");
	cr_assert_str_eq(ROOM("\x66\x66\x66\x66\x66"), "");
	cr_assert_str_eq(ROOM("\xeb\x09\x66\x0f\x1f\x84\x00\x00\x02\x00"), "");
}

Test(nops, something_else)
{
	cr_assert_str_eq(ROOM("\x55\x48\x89\xe5\x90\x90\x90\x90\x90"), "");
	/* pause, which has another prefix; and 0f 1f with a register field that is not 0 */
	cr_assert_str_eq(ROOM("\xf3\x90\x90\x90\x90\x90"), "");
	cr_assert_str_eq(ROOM("\x0f\x1f\x48\x00\x90\x90"), "");
	/* a jump further, or over what does something */
	cr_assert_str_eq(ROOM("\xeb\x0a\x66\x0f\x1f\x84\x00\x00\x02\x00\x00\x90"), "");
	cr_assert_str_eq(ROOM("\xeb\x09\x66\x0f\x0b\x84\x00\x00\x02\x00\x00"), "");
}

#else

Test(nops, none_is_known_here)
{
	uint8_t code[8] = {0};
	size_t size = 1;

	cr_assert_null(fx_nops_room(code, sizeof(code), &size));
	cr_assert_eq(size, 0);
}

#endif
