/* SPDX-License-Identifier: MIT */
/*
 * What the measuring programs share: ns per operation as the median of ROUNDS rounds in one process.
 * Nothing here is instrumented.
 */
#ifndef FX_BENCH_TIMING_H
#define FX_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

#define PLAIN  __attribute__((no_instrument_function, noinline, unused))
#define ROUNDS 21

PLAIN static double timing_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

PLAIN static int timing_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

PLAIN static double timing_median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, timing_compare);
	return values[count / 2];
}

/* Median ns of one `operation(argument)` that does `count` things each time it is called. */
PLAIN static double timing_measure(void (*operation)(void *argument, long count), void *argument,
				   long count)
{
	double rounds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double start = timing_now();

		operation(argument, count);
		rounds[i] = (timing_now() - start) / (double)count;
	}
	return timing_median(rounds, ROUNDS);
}

#endif
