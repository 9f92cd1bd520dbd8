/* SPDX-License-Identifier: MIT */
#include "kernel/kallsyms.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fx_kallsyms *symbols_of(const char *text)
{
	char path[] = "/tmp/fxtrace-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	struct fx_kallsyms *symbols = fx_kallsyms_read(path);
	unlink(path);
	return symbols;
}

Test(kallsyms, functions)
{
	struct fx_kallsyms *symbols = symbols_of("ffffffff81000200 t second\n"
						 "ffffffff81000000 T first\n"
						 "ffffffff81000000 t first_too\n"
						 "ffffffff81000280 D data\n"
						 "no line\n"
						 "ffffffffc0000000 t loaded\t[module]\n"
						 "ffffffffc0001000 W weak");

	cr_assert_not_null(symbols);
	cr_expect_null(fx_kallsyms_find(symbols, 0xffffffff80ffffff));
	cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff81000000), "first");
	cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff810001ff), "first");
	cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff81000290), "second");
	cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffffc0000010), "loaded");
	cr_expect_str_eq(fx_kallsyms_find(symbols, UINT64_MAX), "weak");
	fx_kallsyms_free(symbols);
}

/* As those see it who may not. */
Test(kallsyms, hidden)
{
	cr_expect_null(symbols_of("0000000000000000 T first\n0000000000000000 t second\n"));
	cr_expect_null(symbols_of(""));
	cr_expect_null(fx_kallsyms_read("/nowhere"));
}

Test(kallsyms, long_names)
{
	char text[2000] = "ffffffff81000000 T ";

	for (unsigned i = 19; i < 1900; i++)
		text[i] = 'a';
	struct fx_kallsyms *symbols = symbols_of(text);
	cr_assert_not_null(symbols);
	cr_expect_eq(strlen(fx_kallsyms_find(symbols, 0xffffffff81000000)), 512);
	fx_kallsyms_free(symbols);
}
