/* SPDX-License-Identifier: MIT */
/*
 * What the measuring programs share: ns per operation as the median of ROUNDS rounds in one process.
 *
 * A round is timed by its thread's processor time, so that what else runs on the machine counts little.
 * Between rounds the thread rests, so that the manager saves what was recorded, as it would in a program
 * that does something else as well; the first rounds, which touch the buffer's pages for the first
 * time, do not count. Nothing here is instrumented.
 */
#ifndef FX_BENCH_TIMING_H
#define FX_BENCH_TIMING_H

#include <stdlib.h>
#include <time.h>

#define PLAIN  __attribute__((no_instrument_function, noinline, unused))
#define WARMUP 12
#define ROUNDS 21
#define REST   (12 * 1000 * 1000) /* ns */

PLAIN static double timing_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

PLAIN static int timing_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which `part` of them lie. */
PLAIN static double timing_quantile(double *values, int count, double part)
{
	qsort(values, (size_t)count, sizeof *values, timing_compare);
	return values[(int)((count - 1) * part)];
}

/* Median ns of one of the `count` things that one `operation(argument, count)` does. */
PLAIN static double timing_measure(void (*operation)(void *argument, long count), void *argument,
				   long count)
{
	const struct timespec rest = {.tv_nsec = REST};
	double rounds[ROUNDS];

	for (int i = -WARMUP; i < ROUNDS; i++) {
		double start = timing_read(CLOCK_THREAD_CPUTIME_ID);

		operation(argument, count);
		if (i >= 0)
			rounds[i] = (timing_read(CLOCK_THREAD_CPUTIME_ID) - start) / (double)count;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
	}
	return timing_quantile(rounds, ROUNDS, 0.5);
}

#define GOES 20

/* The same by the wall clock, of GOES goes that have `count` of them together. The first go, which touches everything for the first time,
 * does not count. */
PLAIN static double timing_wall(void (*operation)(void *argument, long count), void *argument,
				long count)
{
	double go[GOES];

	count = count < GOES ? 1 : count / GOES;
	for (int i = -1; i < GOES; i++) {
		double start = timing_read(CLOCK_MONOTONIC);

		operation(argument, count);
		if (i >= 0)
			go[i] = (timing_read(CLOCK_MONOTONIC) - start) / (double)count;
	}
	return timing_quantile(go, GOES, 0.5);
}

#endif
