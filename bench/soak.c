/* SPDX-License-Identifier: MIT */
/*
 * soak SECONDS: calls instrumented functions for that long, as fast as it can, and prints how many calls
 * that were.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/timing.h"

#define BATCH 4096 /* calls between two looks at the clock */

static __attribute__((noinline)) int leaf(int x)
{
	__asm__ __volatile__("");
	return x + 1;
}

/* Two calls, one inside the other. */
static __attribute__((noinline)) int branch(int x)
{
	return leaf(x) + 1;
}

PLAIN int main(int argc, char **argv)
{
	/* Not atof(), a function of a header: where that is inlined, clang has it call the hooks. */
	double end = timing_read(CLOCK_MONOTONIC) + (argc == 2 ? strtod(argv[1], NULL) : 0) * 1e9;
	unsigned long calls = 0;
	volatile int sink = 0;

	do {
		for (int i = 0; i < BATCH / 2; i++)
			sink = branch(sink);
		calls += BATCH;
	} while (timing_read(CLOCK_MONOTONIC) < end);
	printf("%lu\n", calls);
	return 0;
}
