/* SPDX-License-Identifier: MIT */
/* Three threads that record as fast as they can, in bursts, for ever, and one that sleeps. With an argument, they begin
 * when a file of that name is there, and each ends after a second or so (some hundred megabytes in all) in a pause. */
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

static int burst(int turns)
{
	volatile int sum = 0;

	for (int i = 0; i < turns; i++)
		sum += branch(sum);
	return sum;
}

static void *work(void *once)
{
	if (once) {
		burst(4000000);
		pause();
	}
	for (;;) {
		burst(10000);
		usleep(1000);
	}
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
		pthread_create(&thread, NULL, work, argc > 1 ? argv[1] : NULL);
	sleeper(NULL);
	return 0;
}
