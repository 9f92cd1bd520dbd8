/* SPDX-License-Identifier: MIT */
/*
 * switches: three threads, one of which computes, one sleeps again and again, and one that is bound to the first one's
 * processor computes against it. Each prints its name, its number, how often the kernel says that it gave up the processor
 * and how often that was taken from it, and its processor time in ns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAPS = 50 };

static volatile unsigned sink;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void compute(double ns)
{
	double end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			sink = sink * 1664525u + 1013904223u;
}

/* Only writes, so that nothing is switched between the two. */
static void print(const char *name)
{
	struct rusage usage;
	char line[128];
	int length;

	getrusage(RUSAGE_THREAD, &usage);
	length = snprintf(line, sizeof(line), "%s %ld %ld %ld %.0f\n", name, syscall(SYS_gettid),
			  usage.ru_nvcsw, usage.ru_nivcsw, now(CLOCK_THREAD_CPUTIME_ID));
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(1);
}

static void bind_to_one(void)
{
	cpu_set_t set;
	int first = 0;

	sched_getaffinity(0, sizeof(set), &set);
	while (!CPU_ISSET(first, &set))
		first++;
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *compute_main(void *name)
{
	bind_to_one();
	pthread_setname_np(pthread_self(), name);
	compute(1e8);
	print(name);
	return NULL;
}

static void *sleep_main(void *name)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
	print(name);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, compute_main, "computes");
	pthread_create(&threads[1], NULL, compute_main, "starves");
	pthread_create(&threads[2], NULL, sleep_main, "sleeps");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
