/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned to_fail; /* the allocation of a table that fails, from 1 on */

static void *failing_malloc(size_t size)
{
	return to_fail > 0 && --to_fail == 0 ? NULL : malloc(size);
}

#define uthash_malloc(size) failing_malloc(size)

#include "lists/hashes.h"

#define COUNT 1000

struct entry {
	unsigned key;
	UT_hash_handle hh;
};

static struct entry entries[COUNT];

/* What a program does whose Nth allocation fails; its status if it comes to its end. */
static int fill(unsigned n)
{
	struct entry *table = NULL, *found;

	to_fail = n;
	for (unsigned i = 0; i < COUNT; i++) {
		entries[i].key = i;
		HASH_ADD(hh, table, key, sizeof(entries[i].key), &entries[i]);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		HASH_FIND(hh, table, &i, sizeof(i), found);
		if (found != &entries[i])
			return 2;
	}
	HASH_CLEAR(hh, table);
	return 0;
}

/* The status of a child that does it, and what it says. */
static int said(unsigned n, char *text, size_t size)
{
	int status, ends[2];
	size_t length = 0;
	ssize_t got;
	pid_t child;

	cr_assert_eq(pipe(ends), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		_exit(fill(n));
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = 0;
	close(ends[0]);
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(hashes, without_memory_the_program_ends_and_says_so)
{
	char text[256];
	static const char expected[] = "fxtrace: Cannot allocate memory\n";
	unsigned n = 1;

	while (said(n, text, sizeof(text)) == 1) {
#ifdef __SANITIZE_ADDRESS__ /* it has its own to say behind that */
		text[sizeof(expected) - 1] = 0;
#endif
		cr_expect_str_eq(text, expected, "of allocation %u: %s", n, text);
		n++;
	}
	cr_expect_gt(n, 4, "a table, its buckets, and twice as many more than once");
	cr_expect_eq(said(n, text, sizeof(text)), 0, "nothing failed before allocation %u", n);
	cr_expect_str_eq(text, "");
}
