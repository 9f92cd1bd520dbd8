/* SPDX-License-Identifier: MIT */
/*
 * paired THREADS ROUNDS: calls of several names and depths, far more than a small buffer can take, by threads that end
 * at any moment of them. Compile with -finstrument-functions.
 */
#include <pthread.h>
#include <stdlib.h>

#define HIDDEN	__attribute__((no_instrument_function))
#define VISIBLE __attribute__((noinline))

static unsigned long rounds;

VISIBLE static void leaf(void)
{
	__asm__ volatile("");
}

VISIBLE static void row(void)
{
	for (int i = 0; i < 40; i++)
		leaf();
}

VISIBLE static void ladder(int rungs)
{
	if (rungs)
		ladder(rungs - 1);
	else
		row();
	__asm__ volatile("");
}

VISIBLE static void *thread_main(void *unused)
{
	for (unsigned long i = 0; i < rounds; i++) {
		ladder((int)(i % 30));
		row();
	}
	return unused;
}

HIDDEN int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = argc > 2 ? atoi(argv[1]) : 0;

	if (count < 1 || count > 64)
		return 2;
	rounds = strtoul(argv[2], NULL, 10);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0)
			return 77;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
