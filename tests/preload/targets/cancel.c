/* SPDX-License-Identifier: MIT */
/* Cancels threads inside wrapped cancellation points, and ends threads in every way; prints which cleanup
 * handlers ran and what join returned. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipes[2];
static sem_t ready, never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void wait_read(void)
{
	char c;

	if (read(pipes[0], &c, 1) < 0)
		return;
}

static void wait_poll(void)
{
	struct pollfd p = {.fd = pipes[0], .events = POLLIN};

	poll(&p, 1, -1);
}

static void wait_select(void)
{
	select(0, NULL, NULL, NULL, NULL);
}

static void wait_sleep(void)
{
	sleep(1000);
}

static void wait_nanosleep(void)
{
	nanosleep(&(struct timespec){1000, 0}, NULL);
}

static void wait_sem(void)
{
	sem_wait(&never);
}

static void unlock(void *m)
{
	printf("unlock: %d\n", pthread_mutex_unlock(m));
}

static void wait_cond(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
}

static void *sleeper(void *unused)
{
	wait_sleep();
	return unused;
}

static void cancel_and_join(void *thread)
{
	void *value;

	pthread_cancel(*(pthread_t *)thread);
	pthread_join(*(pthread_t *)thread, &value);
	printf("inner: %d\n", value == PTHREAD_CANCELED);
}

static void wait_join(void)
{
	pthread_t t;

	pthread_create(&t, NULL, sleeper, NULL);
	pthread_cleanup_push(cancel_and_join, &t);
	pthread_join(t, NULL);
	pthread_cleanup_pop(0);
}

static const struct {
	const char *name;
	void (*wait)(void);
} points[] = {
    {"read", wait_read},
    {"poll", wait_poll},
    {"select", wait_select},
    {"sleep", wait_sleep},
    {"nanosleep", wait_nanosleep},
    {"sem_wait", wait_sem},
    {"pthread_cond_wait", wait_cond},
    {"pthread_join", wait_join},
};

static void handler(void *what)
{
	printf("cleanup of %s, errno %d\n", (const char *)what, errno);
}

static void *blocked(void *number)
{
	size_t i = (uintptr_t)number;

	pthread_cleanup_push(handler, (void *)points[i].name);
	errno = 0;
	sem_post(&ready);
	points[i].wait();
	pthread_cleanup_pop(0);
	return NULL;
}

/* A thread that is cancelled before it waits is cancelled at the call. */
static void *pending(void *number)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	return blocked(number);
}

static void cancel_in(size_t i, void *(*body)(void *), int with_cancel)
{
	void *value;
	pthread_t t;

	pthread_create(&t, NULL, body, (void *)i);
	if (with_cancel) {
		sem_wait(&ready);
		usleep(20000);
		pthread_cancel(t);
	}
	printf("join after %s: %d", points[i].name, pthread_join(t, &value));
	printf(", cancelled %d\n", value == PTHREAD_CANCELED);
}

static void *return_value(void *value)
{
	return value;
}

/* Through frames of qsort(), which libc compiled. */
static int exit_from_comparison(const void *a, const void *b)
{
	(void)b;
	pthread_exit(*(void *const *)a);
}

static void deep_exit(void *value)
{
	void *pair[2] = {value, value};

	qsort(pair, 2, sizeof pair[0], exit_from_comparison);
	printf("not reached\n");
}

static void *exit_value(void *value)
{
	pthread_cleanup_push(handler, "exit");
	deep_exit(value);
	pthread_cleanup_pop(0);
	return NULL;
}

static pthread_key_t key;

static void destroy(void *value)
{
	printf("destructor %s\n", (char *)value);
}

static void *with_key(void *value)
{
	pthread_setspecific(key, "of a key");
	return value;
}

static void end_in_every_way(void)
{
	void *(*const ways[])(void *) = {return_value, exit_value, with_key};
	struct timespec soon;
	pthread_attr_t attr;
	pthread_t t;
	void *value;

	pthread_key_create(&key, destroy);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		pthread_create(&t, NULL, ways[i], (void *)0x1234);
		printf("join: %d", pthread_join(t, &value));
		printf(" value %p\n", value);
	}
	pthread_create(&t, NULL, sleeper, NULL);
	clock_gettime(CLOCK_REALTIME, &soon);
	printf("tryjoin: %d\n", pthread_tryjoin_np(t, NULL));
	printf("timedjoin: %d\n", pthread_timedjoin_np(t, NULL, &soon));
	printf("join self: %d\n", pthread_join(pthread_self(), NULL));
	pthread_cancel(t);
	printf("join: %d\n", pthread_join(t, NULL));
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 100; i++)
		while (pthread_create(&t, &attr, return_value, NULL))
			usleep(1000);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (pipe(pipes) != 0)
		return 1;
	sem_init(&ready, 0, 0);
	sem_init(&never, 0, 0);
	for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
		cancel_in(i, blocked, 1);
		if (points[i].wait != wait_join && points[i].wait != wait_cond)
			cancel_in(i, pending, 0);
		while (sem_trywait(&ready) == 0)
			continue;
	}
	end_in_every_way();
	fflush(stdout);
	pthread_exit(NULL);
}
