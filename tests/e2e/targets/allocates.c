/* SPDX-License-Identifier: MIT */
/*
 * Uses every entry point of its allocator from several threads, checks what it gets, keeps some and
 * prints how many bytes and blocks it has kept; and whose they are: mallctl or the like tell.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 2000, KEPT = 500, SIZE = 4096 };

extern char mallctl[] __attribute__((weak));
extern char tc_malloc[] __attribute__((weak));
extern char mi_malloc[] __attribute__((weak));

static void *kept[THREADS][KEPT];

static void check(int good, const char *what)
{
	if (!good) {
		printf("wrong: %s\n", what);
		exit(1);
	}
}

static void *checked(void *block, size_t alignment, size_t size, const char *what)
{
	check(block && (uintptr_t)block % alignment == 0 && malloc_usable_size(block) >= size,
	      what);
	memset(block, 0xa5, size);
	return block;
}

static void *work(void *mine)
{
	void **keep = mine, *block;

	for (size_t i = 1; i <= ROUNDS; i++) {
		free(checked(malloc(i), 8, i, "malloc"));
		block = checked(aligned_alloc(64, 64 * i), 64, 64 * i, "aligned_alloc");
		free(checked(realloc(block, 2 * i), 8, 2 * i, "realloc"));
		check(posix_memalign(&block, 4096, i) == 0, "posix_memalign");
		free(checked(block, 4096, i, "posix_memalign"));
		block = calloc(i, 3);
		check(block && memchr(block, 1, 1) == NULL && ((char *)block)[3 * i - 1] == 0,
		      "calloc");
		free(block);
		free(NULL);
	}
	for (int i = 0; i < KEPT; i++)
		keep[i] = checked(malloc(SIZE), 16, SIZE, "kept");
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		check(pthread_create(&threads[i], NULL, work, kept[i]) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s %d %d\n",
	       mallctl	   ? "jemalloc"
	       : tc_malloc ? "tcmalloc"
	       : mi_malloc ? "mimalloc"
			   : "libc",
	       THREADS * KEPT * SIZE, THREADS * KEPT);
	return 0;
}
