/* SPDX-License-Identifier: MIT */
/*
 * waits ROUNDS: threads that hand a turn on, by a lock and a condition, and do a little with each: functions, which are
 * instrumented, and writes. What `fxtrace why' has much to say of.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed[THREADS];
static long turn, rounds;
static int sink;
static volatile unsigned long sum;

__attribute__((noinline)) static void leaf(unsigned long n)
{
	sum += n * 3;
}

__attribute__((noinline)) static void branch(unsigned long n)
{
	for (unsigned long i = 0; i < CALLS; i++)
		leaf(n + i);
}

static void *member(void *number)
{
	long me = (long)number;

	for (long round = 0; round < rounds; round++) {
		pthread_mutex_lock(&lock);
		while (turn % THREADS != me)
			pthread_cond_wait(&changed[me], &lock);
		branch((unsigned long)round);
		if (write(sink, "turn", 4) != 4)
			abort();
		turn++;
		pthread_cond_signal(&changed[turn % THREADS]);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	sink = open("/dev/null", O_WRONLY);
	if (argc != 2 || rounds < 1 || sink < 0) {
		fputs("usage: waits ROUNDS\n", stderr);
		return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_cond_init(&changed[i], NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, member, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
