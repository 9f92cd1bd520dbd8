/* SPDX-License-Identifier: MIT */
/* Three threads that record as fast as they can, for a second or so (some hundred megabytes), and one that sleeps. With an argument, they begin when a file of
 * that name is there. */
#include <pthread.h>
#include <unistd.h>

__attribute__((noinline)) static int leaf(int i)
{
	return i * 3;
}

__attribute__((noinline)) static int branch(int i)
{
	return leaf(i) + leaf(i + 1);
}

static void *work(void *unused)
{
	volatile int sum = 0;

	(void)unused;
	for (int i = 0; i < 4000000; i++)
		sum += branch(sum);
	pause();
	return NULL;
}

static void *sleeper(void *unused)
{
	pause();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	/* The session runs. */
	while (argc > 1 && access(argv[1], F_OK) != 0)
		usleep(1000);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, work, NULL);
	sleeper(NULL);
	return 0;
}
