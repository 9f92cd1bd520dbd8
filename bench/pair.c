/* SPDX-License-Identifier: MIT */
/* pair [THREADS]: ns per call of an empty instrumented function, one line per thread. */
#include <pthread.h>
#include <stdio.h>

#include "bench/timing.h"

#define CALLS 200000

static __attribute__((noinline)) int leaf(int x)
{
	__asm__ __volatile__("");
	return x + 1;
}

PLAIN static void call(void *sink, long count)
{
	volatile int *x = sink;

	while (count--)
		*x = leaf(*x);
}

PLAIN static void *measure(void *result)
{
	volatile int sink = 0;

	*(double *)result = timing_measure(call, (void *)&sink, CALLS);
	return NULL;
}

PLAIN int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	double result[16];
	pthread_t thread[16];

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
