/* SPDX-License-Identifier: MIT */
/*
 * shares [threads|children|library FILE]: computes in functions of known shares of processor time, and prints those that it
 * has measured itself: sixty, thirty and ten hundredths. "threads" does so in three threads, one for each, which are named
 * after them; "children" in three children that run on in this image; "library" in a function of an object that is opened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_NS 100000000.0

static volatile unsigned sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Asks the clock so rarely that it is no share of its own. */
__attribute__((noinline)) static double spin(double ns)
{
	double begin = now(), end = begin + ns, at;

	do {
		for (int i = 0; i < 200000; i++)
			sink = sink * 1664525u + 1013904223u;
		at = now();
	} while (at < end);
	return at - begin;
}

#define PART(name, share)                                                                          \
	__attribute__((noinline)) static double name(void)                                         \
	{                                                                                          \
		double took = spin(ROUND_NS * (share));                                            \
                                                                                                   \
		__asm__ volatile("" ::: "memory"); /* no tail call */                              \
		return took;                                                                       \
	}
PART(sixty, 0.6)
PART(thirty, 0.3)
PART(ten, 0.1)

enum { PARTS = 3, ROUNDS = 10 };
static const struct part {
	const char *name;
	double (*run)(void);
} parts[PARTS] = {{"sixty", sixty}, {"thirty", thirty}, {"ten", ten}};
static double took[PARTS];

static void *part_main(void *opaque)
{
	const struct part *part = opaque;

	pthread_setname_np(pthread_self(), part->name);
	for (int i = 0; i < ROUNDS; i++)
		took[part - parts] += part->run();
	return NULL;
}

static void print(void)
{
	double sum = took[0] + took[1] + took[2];

	for (int i = 0; i < PARTS; i++)
		printf("%s %.4f %.0f\n", parts[i].name, took[i] / sum, took[i]);
}

static void run_threads(void)
{
	pthread_t threads[PARTS];

	for (int i = 0; i < PARTS; i++)
		pthread_create(&threads[i], NULL, part_main, (void *)&parts[i]);
	for (int i = 0; i < PARTS; i++)
		pthread_join(threads[i], NULL);
	print();
}

static void run_children(void)
{
	for (int i = 0; i < PARTS; i++) {
		fflush(stdout);
		if (fork() == 0) {
			part_main((void *)&parts[i]);
			printf("%s %d\n", parts[i].name, (int)getpid());
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (strcmp(way, "threads") == 0) {
		run_threads();
	} else if (strcmp(way, "children") == 0) {
		run_children();
#ifndef STATIC
	} else if (strcmp(way, "library") == 0 && argc > 2) {
		void *library = dlopen(argv[2], RTLD_NOW);
		void (*run)(double (*)(void)) =
		    library ? (void (*)(double (*)(void)))dlsym(library, "opened") : NULL;

		if (!run)
			return 1;
		for (int i = 0; i < ROUNDS; i++)
			run(sixty);
#endif
	} else {
		for (int i = 0; i < ROUNDS; i++) {
			for (int j = 0; j < PARTS; j++)
				took[j] += parts[j].run();
		}
		print();
	}
	return 0;
}
