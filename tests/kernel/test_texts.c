/* SPDX-License-Identifier: MIT */
/* Texts of system calls: which arguments are some, and what a record of one says, whole and cut. */
#include "kernel/texts.h"

#include <asm/unistd.h>
#include <criterion/criterion.h>
#include <string.h>

#include "kernel/call-table.h"

Test(texts, arguments)
{
	cr_expect_eq(fx_call_texts(__NR_openat), 1u << 1);
	cr_expect_eq(fx_call_texts(__NR_linkat), 1u << 1 | 1u << 3);
	cr_expect_eq(fx_call_texts(__NR_read), 0);
	cr_expect_eq(fx_call_texts(-1), 0);
	cr_expect_eq(fx_call_texts(100000), 0);
}

/* As a program in the kernel writes it. */
static size_t record_write(uint8_t *to, uint32_t numbers, const char *text)
{
	uint32_t length = (uint32_t)strlen(text) + 1;

	memcpy(to, &numbers, 4);
	memcpy(to + 4, &length, 4);
	memcpy(to + 8, &(uint64_t){0x1234}, 8);
	memcpy(to + FX_TEXTS_HEAD, text, length);
	return FX_TEXTS_HEAD + length;
}

Test(texts, record)
{
	uint8_t bytes[64];
	size_t size = record_write(bytes, 3u << FX_TEXTS_ARGUMENT_SHIFT, "/a/path");
	struct fx_text_found text;

	cr_assert(fx_text_read(bytes, size, &text));
	cr_expect_eq(text.argument, 3);
	cr_expect_eq(text.address, 0x1234);
	cr_expect_not(text.at_end);
	cr_expect_eq(text.length, 7);
	cr_expect_arr_eq(text.data, "/a/path", 7);
	for (size_t cut = 0; cut < size; cut++)
		cr_expect_not(fx_text_read(bytes, cut, &text));
	record_write(bytes, (2u | FX_TEXTS_AT_END) << FX_TEXTS_ARGUMENT_SHIFT, "");
	cr_assert(fx_text_read(bytes, size, &text));
	cr_expect_eq(text.argument, 2);
	cr_expect(text.at_end);
	cr_expect_eq(text.length, 0);
}

/* A tracepoint's number stands where a text has none; and a call has no more arguments. */
Test(texts, others)
{
	uint8_t bytes[64];
	struct fx_text_found text;
	size_t size = record_write(bytes, 17, "x");

	cr_expect_not(fx_text_read(bytes, size, &text));
	size = record_write(bytes, FX_CALL_ARGS << FX_TEXTS_ARGUMENT_SHIFT, "x");
	cr_expect_not(fx_text_read(bytes, size, &text));
}
