/* SPDX-License-Identifier: MIT */
/*
 * switching THREADS ROUNDS: so many threads that compute a little, give their processor up, and sleep, so many times. Each prints, as
 * targets/switches.c does, its name, its number, how often the kernel says that it gave up the processor and how often that was taken
 * from it, and its processor time in ns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t all;
static long rounds;

static void print(const char *name)
{
	struct rusage usage;
	struct timespec cpu;
	char line[128];
	int length;

	getrusage(RUSAGE_THREAD, &usage);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	length = snprintf(line, sizeof(line), "%s %ld %ld %ld %lld\n", name, syscall(SYS_gettid),
			  usage.ru_nvcsw, usage.ru_nivcsw,
			  (long long)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(1);
}

static void *one_main(void *opaque)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	volatile unsigned sink = 0;
	char name[16];

	snprintf(name, sizeof(name), "one%ld", (long)opaque);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&all);
	for (long i = 0; i < rounds; i++) {
		for (unsigned j = 0; j < 20000; j++)
			sink = sink + j;
		sched_yield();
		nanosleep(&nap, NULL);
	}
	print(name);
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[1]) : 0;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t attr;

	if (count <= 0 || !threads)
		return 2;
	rounds = atol(argv[2]);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&all, NULL, (unsigned)count);
	for (long i = 0; i < count; i++) {
		if (pthread_create(&threads[i], &attr, one_main, (void *)i))
			return 1;
	}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
