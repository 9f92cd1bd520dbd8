/* SPDX-License-Identifier: MIT */
/* What lines of sampled stacks are shown as. */
#include "convert/sample.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_function(const char *line, const char *expected)
{
	char name[FX_SAMPLE_NAME_MAX];
	size_t length = fx_sample_function(line, strlen(line), name, sizeof(name));

	cr_expect(length == strlen(expected) && memcmp(name, expected, length) == 0,
		  "%s: %.*s, not %s", line, (int)length, name, expected);
}

Test(sample, functions)
{
	expect_function("main", "main");
	expect_function("operator+(a, b)", "operator+(a, b)");
	expect_function("a+0x", "a+0x");
	expect_function("a+0xg", "a+0xg");
	expect_function("gzip+0x4330", "[gzip]");
	expect_function("[vdso]+0xbe1", "[vdso]");
	expect_function("0x7f0123", "[unknown]");
	expect_function("0x", "0x");
	expect_function("", "");
}

Test(sample, long_names)
{
	char line[3000], name[FX_SAMPLE_NAME_MAX];

	memset(line, 'a', sizeof(line));
	cr_expect_eq(fx_sample_function(line, sizeof(line), name, sizeof(name)), sizeof(name));
	memcpy(line + sizeof(line) - 5, "+0x12", 5);
	cr_expect_eq(fx_sample_function(line, sizeof(line), name, sizeof(name)), sizeof(name));
	cr_expect_eq(name[0], '[');
	cr_expect_eq(name[sizeof(name) - 1], ']');
}

Test(sample, in_the_kernel)
{
	cr_expect(fx_sample_in_kernel("[kernel]\nread", 13));
	cr_expect(fx_sample_in_kernel("vfs_read_[k]\nread", 17));
	cr_expect(fx_sample_in_kernel("[kernel]", 8));
	cr_expect_not(fx_sample_in_kernel("read\nvfs_read_[k]", 17));
	cr_expect_not(fx_sample_in_kernel("kernel", 6));
	cr_expect_not(fx_sample_in_kernel("", 0));
}
