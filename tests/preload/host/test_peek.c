/* SPDX-License-Identifier: MIT */
/* Which memory can be read, without reading what cannot. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "engine/provider/engine.h"
#include "preload/host/peek.h"

#define PAGE 4096u

/* Two pages, behind them nothing. */
static char *end_of_memory(void)
{
	char *p = mmap(NULL, 3 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	munmap(p + 2 * (size_t)PAGE, PAGE);
	memset(p, 'x', 2 * (size_t)PAGE);
	return p + 2 * (size_t)PAGE;
}

Test(peek, bytes)
{
	char *end = end_of_memory();

	errno = 77;
	cr_expect(fx_peek(end - 2 * (size_t)PAGE, 2 * (size_t)PAGE));
	cr_expect(fx_peek(end - 1, 1));
	cr_expect(fx_peek(end, 0));
	cr_expect_not(fx_peek(end - 1, 2));
	cr_expect_not(fx_peek(end, 1));
	cr_expect_not(fx_peek((void *)8, 1));
	cr_expect_not(fx_peek((void *)1, 1));
	cr_expect_not(fx_peek(NULL, 1));
	cr_expect_not(fx_peek(end - 8, SIZE_MAX), "beyond the last address");
	cr_expect_eq(errno, 77);
}

Test(peek, near_what_is_good)
{
	char *end = end_of_memory();
	int local = 0;

	cr_expect(fx_peek_near(end - 16, 16, end - 100));
	cr_expect_not(fx_peek_near(end - 16, 17, end - 100));
	cr_expect(fx_peek_near(end - PAGE - 16, 32, end - 100));
	cr_expect_not(fx_peek_near(end, 16, end - 100));
	cr_expect(fx_peek_near(&local, sizeof local, end - 100));
	cr_expect_not(fx_peek_near((void *)8, 16, &local));
}

/* What a filter does not know is not asked; on this stack and beside what is good nothing need be. */
Test(peek, without_system_calls)
{
	char *end = end_of_memory();
	int local = 0;

	fx_engine_confine(FX_ASK_LOOK);
	cr_expect_not(fx_peek_near(end - 16, 16, &local));
	cr_expect(fx_peek_near(end - 16, 16, end - 100));
	cr_expect(fx_peek_near(&local, sizeof local, end - 100));
	cr_expect_eq(fx_peek_string("hello", 100), -1);
	cr_expect_not(fx_peek(end - 8, 8), "nor does this ask");
}

Test(peek, string)
{
	char *end = end_of_memory();

	cr_expect_eq(fx_peek_string("hello", 100), 5);
	cr_expect_eq(fx_peek_string("hello", 3), 3);
	cr_expect_eq(fx_peek_string((const char *)1, 100), -1);
	cr_expect_eq(fx_peek_string((char *)8, 100), -1);
	cr_expect_eq(fx_peek_string(end - 4, 4), 4);
	cr_expect_eq(fx_peek_string(end - 4, 5), -1, "it goes on where there is nothing");
	end[-1] = 0;
	cr_expect_eq(fx_peek_string(end - PAGE - 3, 2 * (size_t)PAGE), PAGE + 2);
}

Test(peek, strings)
{
	char *end = end_of_memory();
	char **last = (char **)end - 2;
	char *bad[] = {"one", (char *)8, NULL};
	char *good[] = {"one", end - 1, NULL};

	cr_expect(fx_peek_strings(good));
	cr_expect_not(fx_peek_strings(bad));
	cr_expect_not(fx_peek_strings((char **)8));
	last[0] = good[0];
	last[1] = good[0];
	cr_expect_not(fx_peek_strings(last), "it does not end where its memory does");
	last[1] = NULL;
	cr_expect(fx_peek_strings(last));
}
