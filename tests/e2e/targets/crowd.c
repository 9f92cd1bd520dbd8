/* SPDX-License-Identifier: MIT */
/* 1,000 threads that are there at the same time; each makes a call of its own and a function's. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 1000 };

static pthread_barrier_t all_there;

static __attribute__((noinline)) int member(int number)
{
	return number % 7;
}

static void *thread_main(void *number)
{
	char path[32];
	int refused, n = (int)(long)number;

	pthread_barrier_wait(&all_there);
	snprintf(path, sizeof(path), "/no/such/%d", n);
	refused = open(path, O_RDONLY) == -1 && errno == ENOENT;
	pthread_barrier_wait(&all_there);
	return (void *)(long)(refused * member(n));
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t attributes;
	long sum = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (long i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], &attributes, thread_main, (void *)i) != 0)
			_exit(77);
	}
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%d threads, %ld\n", THREADS, sum);
	return 0;
}
