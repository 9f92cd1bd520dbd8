/* SPDX-License-Identifier: MIT */
/* ops NAME: ns of an operation that libfxtrace.so wraps, in a program that is not instrumented. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/timing.h"

static void lock_pair(void *mutex, long count)
{
	while (count--) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
	}
}

static void write_one(void *fd, long count)
{
	while (count--)
		if (write(*(int *)fd, "x", 1) != 1)
			exit(1);
}

static void heap_pair(void *unused, long count)
{
	(void)unused;
	while (count--) {
		void *volatile p = malloc(64);

		free(p);
	}
}

int main(int argc, char **argv)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int null = open("/dev/null", O_WRONLY);
	const struct {
		const char *name;
		void (*operation)(void *, long);
		void *argument;
		long count;
	} ops[] = {
	    {"mutex", lock_pair, &mutex, 200000},
	    {"write", write_one, &null, 40000},
	    {"malloc", heap_pair, NULL, 50000},
	};

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (argc == 2 && !strcmp(argv[1], ops[i].name)) {
			printf("%.2f\n",
			       timing_measure(ops[i].operation, ops[i].argument, ops[i].count));
			return 0;
		}
	}
	fprintf(stderr, "usage: ops mutex|write|malloc\n");
	return 2;
}
