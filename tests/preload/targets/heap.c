/* SPDX-License-Identifier: MIT */
/* Holds blocks in two threads, frees half of them in a third; says how many it holds in the end. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 2000

static void *blocks[2][BLOCKS];

static void *allocate(void *row)
{
	void **b = row;

	for (int i = 0; i < BLOCKS; i++)
		b[i] = i % 3 ? malloc(1000) : calloc(10, 200);
	for (int i = 0; i < BLOCKS; i += 10)
		b[i] = realloc(b[i], 5000);
	return NULL;
}

static void *release(void *row)
{
	void **b = row;

	for (int i = 0; i < BLOCKS; i += 2) {
		free(b[i]);
		b[i] = NULL;
	}
	return NULL;
}

static void run(void *(*f)(void *), void *row)
{
	pthread_t t;

	pthread_create(&t, NULL, f, row);
	pthread_join(t, NULL);
}

int main(void)
{
	size_t bytes = 0, count = 0;

	for (int i = 0; i < 2; i++)
		run(allocate, blocks[i]);
	run(release, blocks[0]);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < BLOCKS; k++) {
			if (!blocks[i][k])
				continue;
			bytes += malloc_usable_size(blocks[i][k]);
			count++;
		}
	}
	printf("%zu %zu\n", bytes, count);
	return 0;
}
