/* SPDX-License-Identifier: MIT */
/* steady THREADS SECONDS: threads that compute all the time, with a burst of getppid() about every millisecond; says how many calls there were,
 * and for how many milliseconds it had a processor. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BURST 8

static double seconds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *steady(void *opaque)
{
	double end = now() + seconds;
	unsigned long *calls = opaque;

	for (double at = now(); at < end; at = now()) {
		for (int i = 0; i < BURST; i++)
			syscall(SYS_getppid);
		*calls += BURST;
		while (now() < at + 1e-3)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t *threads = calloc(count + 1, sizeof(*threads));
	unsigned long *calls = calloc(count + 1, sizeof(*calls)), sum = 0;
	struct timespec used;

	if (!count || !threads || !calls)
		return 2;
	seconds = atof(argv[2]);
	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, steady, &calls[i]))
			return 1;
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += calls[i];
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%lu %ld\n", sum, used.tv_sec * 1000 + used.tv_nsec / 1000000);
	return 0;
}
