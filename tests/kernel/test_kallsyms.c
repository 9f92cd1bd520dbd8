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
	struct fx_kallsyms *symbols = fx_kallsyms_read(path, NULL);
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
	cr_expect_null(fx_kallsyms_read("/nowhere", NULL));
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

/* --- Kept ----------------------------------------------------------------------------------------- */

#define COUNT 1000u

/* With what lies before and behind the text. */
static void listing_write(const char *path, const char *last)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fprintf(file, "ffffffff80000000 t before\nffffffff81000000 T _stext\n");
	for (unsigned i = 1; i < COUNT; i++)
		fprintf(file, "%llx t function_%060u\n", 0xffffffff81000000 + 16ull * i, i);
	fprintf(file, "ffffffff82000000 T _etext\nffffffffc0000000 t %s\t[module]\n", last);
	fclose(file);
}

Test(kallsyms, kept)
{
	char top[] = "/tmp/fxtrace-kallsyms-XXXXXX", folder[64], path[64], name[80], command[128];
	struct fx_kallsyms *symbols;

	cr_assert_not_null(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/caches", top);
	snprintf(path, sizeof(path), "%s/kallsyms", top);
	listing_write(path, "loaded");
	for (unsigned round = 0; round < 2; round++) {
		symbols = fx_kallsyms_read(path, folder);
		cr_assert_not_null(symbols);
		cr_expect_eq(fx_kallsyms_is_whole(symbols), round == 0);
		snprintf(name, sizeof(name), "function_%060u", COUNT - 1);
		cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff81000007), "_stext");
		cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff81ffffff), name);
		cr_expect_eq(fx_kallsyms_is_whole(symbols), round == 0);
		/* What is not the kernel's own text is as it is now. */
		cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffffc0000010),
				 round == 0 ? "loaded" : "loaded_anew");
		cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff80000010), "before");
		cr_expect_null(fx_kallsyms_find(symbols, 0x1000));
		cr_expect_str_eq(fx_kallsyms_find(symbols, 0xffffffff81000010 + 16),
				 "function_"
				 "000000000000000000000000000000000000000000000000000000000002");
		fx_kallsyms_free(symbols);
		listing_write(path, "loaded_anew");
	}
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	cr_expect_eq(system(command), 0);
}

/* Without an end of the text nothing is. */
Test(kallsyms, not_kept)
{
	char top[] = "/tmp/fxtrace-kallsyms-XXXXXX", folder[64], path[64], command[128];

	cr_assert_not_null(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/caches", top);
	snprintf(path, sizeof(path), "%s/kallsyms", top);
	listing_write(path, "loaded");
	snprintf(command, sizeof(command), "sed -i /_etext/d '%s'", path);
	cr_assert_eq(system(command), 0);
	for (unsigned round = 0; round < 2; round++) {
		struct fx_kallsyms *symbols = fx_kallsyms_read(path, folder);

		cr_assert_not_null(symbols);
		cr_expect(fx_kallsyms_is_whole(symbols));
		fx_kallsyms_free(symbols);
	}
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	cr_expect_eq(system(command), 0);
}
