/* SPDX-License-Identifier: MIT */
/* A token goes from a thread on each processor to one on the next, N times round; then one thread wanders over all of
 * them, N times round. Compile with -finstrument-functions. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#define PROCESSORS_MAX 256

static int rounds, count, processors[PROCESSORS_MAX];
static sem_t turns[PROCESSORS_MAX];

__attribute__((noinline)) static int leaf(int i)
{
	return i * 3;
}

static void go_to(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *pass(void *number)
{
	int own = (int)(long)number;
	volatile int sum = 0;

	go_to(processors[own]);
	for (int i = 0; i < rounds; i++) {
		sem_wait(&turns[own]);
		sum += leaf(i);
		sem_post(&turns[(own + 1) % count]);
	}
	return NULL;
}

static void wander(void)
{
	volatile int sum = 0;

	for (int i = 0; i < rounds * count; i++) {
		sum += leaf(i);
		go_to(processors[i % count]);
		sum += leaf(i);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[PROCESSORS_MAX];
	cpu_set_t allowed;

	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE && count < PROCESSORS_MAX; i++) {
		if (CPU_ISSET(i, &allowed))
			processors[count++] = i;
	}
	for (int i = 0; i < count; i++)
		sem_init(&turns[i], 0, i == 0);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, pass, (void *)(long)i);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	wander();
	return 0;
}
