/* SPDX-License-Identifier: MIT */
/* Allocates before constructors have run, from an IFUNC resolver and from the earliest constructor,
 * and uses that memory to the end. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *from_resolver, *from_constructor;

static int answer(void)
{
	return 42;
}

__attribute__((used)) static int (*resolve_question(void))(void)
{
	return answer;
}

int question(void) __attribute__((ifunc("resolve_question")));

__attribute__((constructor(101))) static void construct(void)
{
	from_constructor = calloc(10, 100);
	if (from_constructor)
		strcpy(from_constructor, "constructor");
	from_resolver = aligned_alloc(4096, 4096);
}

static int is_zero(const char *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (p[i])
			return 0;
	return 1;
}

int main(void)
{
	void *aligned = NULL;

	printf("%d %s %d\n", question(), from_constructor, is_zero(from_constructor, 11, 1000));
	printf("usable %d, aligned %d\n", malloc_usable_size(from_constructor) >= 1000,
	       (uintptr_t)from_resolver % 4096 == 0);
	from_constructor = realloc(from_constructor, 100000);
	printf("%s\n", from_constructor);
	free(from_constructor);
	free(from_resolver);
	for (size_t a = 8; a <= 65536; a *= 2) {
		if (posix_memalign(&aligned, a, 100) || (uintptr_t)aligned % a)
			printf("not aligned to %zu\n", a);
		free(aligned);
	}
	printf("valloc %d\n", (uintptr_t)(aligned = valloc(10)) % 4096 == 0);
	free(aligned);
	return 0;
}
