/* SPDX-License-Identifier: MIT */
/* REFUSE=FIRST-LAST: these requests for memory get none, of fxtrace's own, counted from 1. To be preloaded. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static long first = -1, last, count;

static int refused(void)
{
	long n;

	if (first < 0) {
		char *at =
		    strcmp(program_invocation_short_name, "fxtrace") ? NULL : getenv("REFUSE");

		first = at ? strtol(at, &at, 10) : 0;
		last = at ? atol(at + 1) : 0;
	}
	if (first == 0)
		return 0;
	n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (n < first || n > last)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return refused() ? NULL : __libc_realloc(old, size);
}
