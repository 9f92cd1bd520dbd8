/* SPDX-License-Identifier: MIT */
/*
 * pair [THREADS [two]]: ns per call of an empty instrumented function, one line per thread; two: of one of two integers.
 *
 * Each call takes what the one before has returned, in a register: by way of memory, a store that waits for its load hides some
 * instructions and doubles others, as they happen to lie. For the same reason it is built with functions and loops on lines of 64
 * bytes.
 */
#include <pthread.h>
#include <stdio.h>

#include "bench/timing.h"

#define CALLS 200000

static __attribute__((noinline)) int leaf(int x)
{
	__asm__ __volatile__("");
	return x + 1;
}

static __attribute__((noinline)) int leaf_of_two(int x, int y)
{
	__asm__ __volatile__("");
	return x + y;
}

PLAIN static void call_of_two(void *sink, long count)
{
	int x = *(volatile int *)sink;

	while (count--)
		x = leaf_of_two(x, 1);
	*(volatile int *)sink = x;
}

static void (*calls)(void *, long);

PLAIN static void call(void *sink, long count)
{
	int x = *(volatile int *)sink;

	while (count--)
		x = leaf(x);
	*(volatile int *)sink = x;
}

PLAIN static void *measure(void *result)
{
	volatile int sink = 0;

	*(double *)result = timing_measure(calls, (void *)&sink, CALLS);
	return NULL;
}

PLAIN int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	double result[16];
	pthread_t thread[16];

	calls = argc > 2 ? call_of_two : call;
	if (threads < 1 || threads > 16)
		return 2;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, measure, &result[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++)
		printf("%.2f\n", result[i]);
	return 0;
}
