/* SPDX-License-Identifier: MIT */
/*
 * crowd: three hundred threads wait for one broadcast, and then for a semaphore that three others post a hundred times
 * each. Says "broadcaster TID" and "poster TID", for the tids.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define WAITERS 300
#define POSTERS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int waiting;
static bool open_;
static sem_t sem;

static void *wait_twice(void *unused)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	while (!open_)
		pthread_cond_wait(&cond, &mutex);
	waiting--;
	pthread_mutex_unlock(&mutex);
	while (sem_wait(&sem) != 0)
		;
	return unused;
}

static void *post(void *unused)
{
	printf("poster %d\n", gettid());
	for (int i = 0; i < WAITERS / POSTERS; i++)
		sem_post(&sem);
	return unused;
}

int main(void)
{
	pthread_t waiters[WAITERS], posters[POSTERS];

	sem_init(&sem, 0, 0);
	printf("broadcaster %d\n", gettid());
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&waiters[i], NULL, wait_twice, NULL);
	while (waiting < WAITERS)
		usleep(1000);
	pthread_mutex_lock(&mutex);
	open_ = true;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	while (waiting)
		usleep(1000);
	for (int i = 0; i < POSTERS; i++)
		pthread_create(&posters[i], NULL, post, NULL);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiters[i], NULL);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(posters[i], NULL);
	return 0;
}
