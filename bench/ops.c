/* SPDX-License-Identifier: MIT */
/*
 * ops NAME: ns of an operation that libfxtrace.so wraps, or of an event of the program's own, in a program that is not
 * instrumented.
 * ops NAME COUNT: the same by the wall clock, the median of GOES goes that have COUNT operations together: also
 * what another process does to trace it counts.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fxtrace/event.h>

#include "bench/timing.h"

static void lock_pair(void *mutex, long count)
{
	while (count--) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
	}
}

static void rwlock_pair(void *rwlock, long count)
{
	while (count--) {
		pthread_rwlock_rdlock(rwlock);
		pthread_rwlock_unlock(rwlock);
	}
}

static void spin_pair(void *spin, long count)
{
	while (count--) {
		pthread_spin_lock(spin);
		pthread_spin_unlock(spin);
	}
}

static void sem_pair(void *sem, long count)
{
	while (count--) {
		sem_wait(sem);
		sem_post(sem);
	}
}

static void write_one(void *fd, long count)
{
	while (count--)
		if (write(*(int *)fd, "x", 1) != 1)
			exit(1);
}

/* What the loops around the events take. */
static void nothing_each(void *unused, long count)
{
	(void)unused;
	while (count--)
		__asm__ volatile("");
}

static void duration_each(void *unused, long count)
{
	(void)unused;
	while (count--) {
		TRACE_DURATION("bench", "duration");
	}
}

static void duration_two(void *unused, long count)
{
	(void)unused;
	while (count--) {
		TRACE_DURATION("bench", "duration2", "left", TA_INT64(count), "seven", TA_INT32(7));
	}
}

static void instant_each(void *unused, long count)
{
	(void)unused;
	while (count--)
		TRACE_INSTANT("bench", "instant", TRACE_SCOPE_THREAD);
}

static void counter_each(void *unused, long count)
{
	(void)unused;
	while (count--)
		TRACE_COUNTER("bench", "counter", 0, "left", TA_INT64(count));
}

/* A byte into a pipe, and out of it: halves of the pair are not told apart. */
static void pipe_pair(void *ends, long count)
{
	const int *fds = ends;
	char byte = 0;

	while (count--) {
		if (write(fds[1], &byte, 1) != 1 || read(fds[0], &byte, 1) != 1)
			abort();
	}
}

/* Half of a duration elsewhere. */
static void vthread_each(void *unused, long count)
{
	const uint64_t ticks = TRACE_TICKS();

	(void)unused;
	while (count--)
		TRACE_VTHREAD_DURATION_BEGIN("bench", "virtual", "bench", 1, ticks + 1);
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
	const long asked = argc == 3 ? atol(argv[2]) : 0;
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_spinlock_t spin;
	static sem_t sem;
	int null = open("/dev/null", O_WRONLY);
	int ends[2] = {-1, -1};
	const struct {
		const char *name;
		void (*operation)(void *, long);
		void *argument;
		long count;
	} ops[] = {
	    {"mutex", lock_pair, &mutex, 200000},	{"rwlock", rwlock_pair, &rwlock, 200000},
	    {"spin", spin_pair, (void *)&spin, 200000}, {"sem", sem_pair, &sem, 200000},
	    {"write", write_one, &null, 40000},		{"malloc", heap_pair, NULL, 50000},
	    {"duration", duration_each, NULL, 100000},	{"duration2", duration_two, NULL, 60000},
	    {"nothing", nothing_each, NULL, 150000},	{"instant", instant_each, NULL, 150000},
	    {"counter", counter_each, NULL, 80000},	{"vthread", vthread_each, NULL, 80000},
	    {"pipe", pipe_pair, ends, 20000},
	};

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&sem, 0, 1);
	if (pipe(ends) < 0)
		abort();
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if ((argc == 2 || asked > 0) && !strcmp(argv[1], ops[i].name)) {
			printf("%.2f\n", asked
					     ? timing_wall(ops[i].operation, ops[i].argument, asked)
					     : timing_measure(ops[i].operation, ops[i].argument,
							      ops[i].count));
			return 0;
		}
	}
	fprintf(stderr,
		"usage: ops "
		"mutex|rwlock|spin|sem|write|malloc|nothing|duration|duration2|instant|counter|"
		"vthread|pipe [COUNT]\n");
	return 2;
}
