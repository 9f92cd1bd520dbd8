/* SPDX-License-Identifier: MIT */
/*
 * turns THREADS [CALLS]: threads that call member() so often, 100 times unless told, all at once and then one after
 * another, while the others wait. Status 77: there is no room for them. Compile with -finstrument-functions.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t turn;
static int calls;

__attribute__((noinline)) static int member(int i)
{
	return i * 3;
}

/* All at once; then one after another, while the others wait with what they hold. */
__attribute__((no_instrument_function)) static void *work(void *number)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	volatile int sum = 0;

	pthread_barrier_wait(&turn);
	for (int i = 0; i < calls; i++)
		sum += member(i);
	pthread_barrier_wait(&turn);
	pthread_mutex_lock(&one);
	for (int i = 0; i < calls; i++)
		sum += member(i);
	pthread_mutex_unlock(&one);
	pthread_barrier_wait(&turn);
	return number;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t *thread = calloc((size_t)threads, sizeof(*thread));
	pthread_attr_t attr;

	calls = argc > 2 ? atoi(argv[2]) : 100;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&turn, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], &attr, work, NULL))
			exit(77);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	puts("done");
	return 0;
}
