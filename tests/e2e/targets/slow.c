/* SPDX-License-Identifier: MIT */
/* slow WAY MS: one waits for another that sleeps so long: "event": a thread, at an eventfd; "accept": a process, for a connection;
 * "lock", "semaphore", "rwlock", "barrier" and "condition": a process, for what it shares with another. */
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned ms;
static int event;

static void *adds(void *unused)
{
	(void)unused;
	usleep(1000 * ms);
	return eventfd_write(event, 1) == 0 ? &event : NULL;
}

static int play_event(void)
{
	pthread_t thread;
	uint64_t got = 0;
	void *good = NULL;

	event = eventfd(0, 0);
	if (pthread_create(&thread, NULL, adds, NULL) != 0)
		return 1;
	eventfd_read(event, &got);
	pthread_join(thread, &good);
	return got != 1 || !good;
}

static int play_accept(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int listening = socket(AF_INET, SOCK_STREAM, 0), fd, status = 1;
	socklen_t length = sizeof(address);
	char byte;

	if (bind(listening, (struct sockaddr *)&address, length) < 0 || listen(listening, 1) < 0)
		return 1;
	getsockname(listening, (struct sockaddr *)&address, &length);
	if (fork() == 0) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		usleep(1000 * ms);
		_exit(connect(fd, (struct sockaddr *)&address, length) < 0 ||
		      write(fd, "", 1) != 1);
	}
	fd = accept(listening, NULL, NULL);
	if (read(fd, &byte, 1) != 1)
		return 1;
	wait(&status);
	return status != 0;
}

static int play_shared(int is_lock)
{
	struct shared {
		pthread_mutex_t lock;
		sem_t sem, held;
	} *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	if (s == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->lock, &attr);
	sem_init(&s->sem, 1, 0);
	sem_init(&s->held, 1, 0);
	if (fork() == 0) {
		pthread_mutex_lock(&s->lock);
		sem_post(&s->held);
		usleep(1000 * ms);
		pthread_mutex_unlock(&s->lock);
		sem_post(&s->sem);
		_exit(0);
	}
	if (is_lock) {
		while (sem_trywait(&s->held) != 0)
			usleep(100);
		pthread_mutex_lock(&s->lock);
	} else {
		sem_wait(&s->sem);
	}
	wait(NULL);
	return 0;
}

static int play_others(int is_lock)
{
	struct shared {
		pthread_rwlock_t lock;
		pthread_barrier_t barrier;
		sem_t held;
	} *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_rwlockattr_t lock;
	pthread_barrierattr_t barrier;

	if (s == MAP_FAILED)
		return 1;
	pthread_rwlockattr_init(&lock);
	pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&s->lock, &lock);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&s->barrier, &barrier, 2);
	sem_init(&s->held, 1, 0);
	if (fork() == 0) {
		pthread_rwlock_wrlock(&s->lock);
		sem_post(&s->held);
		usleep(1000 * ms);
		pthread_rwlock_unlock(&s->lock);
		if (!is_lock)
			pthread_barrier_wait(&s->barrier);
		_exit(0);
	}
	while (is_lock && sem_trywait(&s->held) != 0)
		usleep(100);
	if (is_lock)
		pthread_rwlock_rdlock(&s->lock);
	else
		pthread_barrier_wait(&s->barrier);
	wait(NULL);
	return 0;
}

static int play_condition(void)
{
	struct shared {
		pthread_mutex_t lock;
		pthread_cond_t cond;
		int done;
	} *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t lock;
	pthread_condattr_t cond;

	if (s == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&lock);
	pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->lock, &lock);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->cond, &cond);
	if (fork() == 0) {
		usleep(1000 * ms);
		pthread_mutex_lock(&s->lock);
		s->done = 1;
		pthread_cond_signal(&s->cond);
		pthread_mutex_unlock(&s->lock);
		_exit(0);
	}
	pthread_mutex_lock(&s->lock);
	while (!s->done)
		pthread_cond_wait(&s->cond, &s->lock);
	pthread_mutex_unlock(&s->lock);
	wait(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	ms = (unsigned)atoi(argv[2]);
	if (strcmp(argv[1], "lock") == 0 || strcmp(argv[1], "semaphore") == 0)
		return play_shared(strcmp(argv[1], "lock") == 0);
	if (strcmp(argv[1], "rwlock") == 0 || strcmp(argv[1], "barrier") == 0)
		return play_others(strcmp(argv[1], "rwlock") == 0);
	if (strcmp(argv[1], "condition") == 0)
		return play_condition();
	return strcmp(argv[1], "event") == 0 ? play_event() : play_accept();
}
