/* SPDX-License-Identifier: MIT */
/*
 * sequence THREADS CALLS: main waits while each of THREADS threads calls ftruncate(-1, I) for
 * I = 0 .. CALLS - 1, all at once.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t go;
static long calls;

static void *thread_main(void *unused)
{
	pthread_barrier_wait(&go);
	for (long i = 0; i < calls; i++)
		(void)!ftruncate(-1, i);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count;

	if (argc != 3)
		return 2;
	count = atoi(argv[1]);
	calls = atol(argv[2]);
	if (count < 1 || count > 64)
		return 2;
	pthread_barrier_init(&go, NULL, (unsigned)count);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0)
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
