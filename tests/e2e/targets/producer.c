/* SPDX-License-Identifier: MIT */
/*
 * producer THREADS CALLS: each thread calls work() CALLS times, and nothing else that is
 * instrumented. Compile with -finstrument-functions.
 */
#include <pthread.h>
#include <stdlib.h>

#define HIDDEN __attribute__((no_instrument_function))

static unsigned long calls;

static __attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

HIDDEN static void *thread_main(void *unused)
{
	for (unsigned long i = 0; i < calls; i++)
		work();
	return unused;
}

HIDDEN int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count;

	if (argc != 3)
		return 2;
	count = atoi(argv[1]);
	calls = strtoul(argv[2], NULL, 10);
	if (count < 1 || count > 64)
		return 2;
	for (int i = 1; i < count; i++) {
		if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0)
			return 1;
	}
	thread_main(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
