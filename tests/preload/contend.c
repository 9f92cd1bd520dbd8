/* SPDX-License-Identifier: MIT */
/* Threads that wait for one another by every kind of lock. Each wait is arranged, not a race. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_US 30000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int go;

static void *wait_mutex(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *wait_rwlock(void *unused)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

static void *wait_semaphore(void *unused)
{
	sem_wait(&semaphore);
	return unused;
}

static void *wait_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void release_condition(void)
{
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}

static void meet(void *(*waiter)(void *), int count, void (*hold)(void), void (*release)(void))
{
	pthread_t t[2];

	hold();
	for (int i = 0; i < count; i++)
		pthread_create(&t[i], NULL, waiter, NULL);
	usleep(WAIT_US);
	release();
	for (int i = 0; i < count; i++)
		pthread_join(t[i], NULL);
}

static void nothing(void)
{
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
}

static void release_mutex(void)
{
	pthread_mutex_unlock(&mutex);
}

static void hold_rwlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
}

static void release_rwlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}

static void release_semaphore(void)
{
	sem_post(&semaphore);
}

int main(void)
{
	pid_t pid;

	sem_init(&semaphore, 0, 0);
	meet(wait_mutex, 1, hold_mutex, release_mutex);
	meet(wait_rwlock, 1, hold_rwlock, release_rwlock);
	meet(wait_semaphore, 1, nothing, release_semaphore);
	meet(wait_condition, 2, nothing, release_condition);
	for (int i = 0; i < 1000; i++)
		wait_mutex(NULL); /* does not wait: not shown */
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return 0;
}
