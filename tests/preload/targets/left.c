/* SPDX-License-Identifier: MIT */
/*
 * Waits that do not end as they should: left by siglongjmp() and cancellation, by the death of who holds a robust lock,
 * interrupted by handlers that release and wait themselves, and in a forked child whose parent's threads wait.
 * Afterwards each object is waited for once as usual. Prints "woken ADDRESS" for each wait that somebody ended.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t left, ended, inner, never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int go;
static volatile int taken, jumped;
static sigjmp_buf back;

static void woken(const void *object)
{
	printf("woken %p\n", object);
}

/* Until so many sleep, as glibc counts in the upper half of the semaphore's word. */
static void await_sleepers(sem_t *s, int count)
{
	while (__atomic_load_n((int *)s + 1, __ATOMIC_ACQUIRE) != count)
		usleep(1000);
}

static void await_condition(void)
{
	while (!(__atomic_load_n(&cond.__data.__wrefs, __ATOMIC_ACQUIRE) >> 3))
		usleep(1000);
}

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* A wait of its own inside the one that it interrupts. */
static void release_and_wait(int signal)
{
	(void)signal;
	await_sleepers(&ended, 1);
	sem_post(&ended);
	sem_wait(&inner);
}

static void *wait_and_leave(void *unused)
{
	if (sigsetjmp(back, 1) == 0)
		sem_wait(&left);
	jumped = 1;
	sem_wait(&left);
	woken(&left);
	return unused;
}

static void *wait_interrupted(void *unused)
{
	while (sem_wait(&left) != 0)
		;
	woken(&left);
	return unused;
}

static void unlock(void *m)
{
	pthread_mutex_unlock(m);
}

static void *wait_cancelled(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static void *wait_condition(void *unused)
{
	pthread_mutex_lock(&mutex);
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	woken(&cond);
	return unused;
}

static void *take_and_die(void *unused)
{
	pthread_mutex_lock(&robust);
	taken = 1;
	usleep(50000);
	return unused;
}

static void *wait_for_ever(void *unused)
{
	sem_wait(&never);
	return unused;
}

static void leave_by_jump(void)
{
	pthread_t t;

	signal(SIGUSR1, jump);
	pthread_create(&t, NULL, wait_and_leave, NULL);
	await_sleepers(&left, 1);
	pthread_kill(t, SIGUSR1);
	while (!jumped)
		usleep(1000);
	await_sleepers(&left, 1);
	sem_post(&left);
	pthread_join(t, NULL);
}

static void interrupt(void)
{
	pthread_t t;

	signal(SIGUSR2, release_and_wait);
	pthread_create(&t, NULL, wait_interrupted, NULL);
	await_sleepers(&left, 1);
	pthread_kill(t, SIGUSR2);
	sem_wait(&ended);
	woken(&ended);
	await_sleepers(&inner, 1);
	sem_post(&inner);
	woken(&inner);
	await_sleepers(&inner, 0);
	await_sleepers(&left, 1);
	sem_post(&left);
	pthread_join(t, NULL);
}

static void leave_by_cancellation(void)
{
	pthread_t t;

	pthread_create(&t, NULL, wait_cancelled, NULL);
	await_condition();
	pthread_cancel(t);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, wait_condition, NULL);
	await_condition();
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
}

/* Whose end gives it. */
static int inherit_from_the_dead(void)
{
	pthread_mutexattr_t a;
	pthread_t t;
	int ret;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_create(&t, NULL, take_and_die, NULL);
	while (!taken)
		usleep(1000);
	ret = pthread_mutex_lock(&robust);
	woken(&robust);
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
	pthread_join(t, NULL);
	return ret;
}

/* What waits in the parent does not in the child, where the same objects are other ones. */
static void fork_meanwhile(void)
{
	pthread_t t;
	pid_t pid;

	pthread_create(&t, NULL, wait_for_ever, NULL);
	await_sleepers(&never, 1);
	pid = fork();
	if (pid == 0) {
		sem_post(&never);
		sem_wait(&never);
		pthread_create(&t, NULL, wait_interrupted, NULL);
		await_sleepers(&left, 1);
		sem_post(&left);
		pthread_join(t, NULL);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	sem_post(&never);
	woken(&never);
	pthread_join(t, NULL);
}

int main(void)
{
	sem_init(&left, 0, 0);
	sem_init(&ended, 0, 0);
	sem_init(&inner, 0, 0);
	sem_init(&never, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 4096);
	leave_by_jump();
	interrupt();
	leave_by_cancellation();
	if (inherit_from_the_dead() != EOWNERDEAD)
		return 1;
	fork_meanwhile();
	return 0;
}
