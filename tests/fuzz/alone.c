/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/alone.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "protocol/socket.h"

#define NS_PER_S UINT64_C(1000000000)

/* The moment at which every input begins; the counter runs thrice as fast. */
#define BEGINNING (1000 * NS_PER_S)

#define THREADS_MAX 256u

struct thread {
	void *(*run)(void *opaque);
	void *opaque;
	bool works; /* a writer: what it has to do can be done at any time */
	bool over;
};

struct alone_hooks alone_hooks;

static uint64_t now;
static struct thread threads[THREADS_MAX];
static unsigned thread_count;
static jmp_buf *would_wait; /* where a thread that would wait goes; NULL: it may not */

void alone_reset(void)
{
	alone_hooks = (struct alone_hooks){0};
	now = BEGINNING;
	thread_count = 0;
}

/* --- Time ------------------------------------------------------------------------------------ */

void alone_advance(uint64_t ns)
{
	now += ns;
}

uint64_t alone_now(void)
{
	return now;
}

int alone_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	now += 1000;
	*ret = (struct timespec){(time_t)(now / NS_PER_S), (long)(now % NS_PER_S)};
	return 0;
}

fx_clock_function *alone_clock_read = alone_clock_gettime;

int alone_nanosleep(const struct timespec *time, struct timespec *ret_rest)
{
	(void)ret_rest;
	now += (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
	alone_step();
	return 0;
}

uint64_t alone_counter(void)
{
	return 3 * now;
}

/* --- Threads --------------------------------------------------------------------------------- */

/* Runs a thread until it would wait, or to its end. */
static void thread_run(struct thread *t)
{
	jmp_buf here, *before = would_wait;

	would_wait = &here;
	if (setjmp(here) == 0) {
		t->run(t->opaque);
		t->over = true;
	}
	would_wait = before;
}

void alone_step(void)
{
	if (would_wait)
		return; /* a thread that sleeps */
	for (unsigned i = 0; i < thread_count; i++) {
		if (threads[i].works && !threads[i].over)
			thread_run(&threads[i]);
	}
}

/* The writer's threads are told from others by their large stacks. */
int alone_thread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *),
			void *opaque)
{
	if (thread_count == THREADS_MAX)
		return EAGAIN;
	threads[thread_count++] =
	    (struct thread){.run = run, .opaque = opaque, .works = attr != NULL};
	*ret = (pthread_t)thread_count;
	return 0;
}

int alone_thread_join(pthread_t thread, void **ret)
{
	struct thread *t = &threads[(unsigned)thread - 1];

	(void)ret;
	if (!t->over)
		thread_run(t);
	if (!t->over)
		abort(); /* joined, and waits for what can come no more */
	return 0;
}

/* A thread that waits here is begun anew the next time, which is all the same to a writer. */
int alone_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
			 const struct timespec *deadline)
{
	uint64_t until = (uint64_t)deadline->tv_sec * NS_PER_S + (uint64_t)deadline->tv_nsec;

	(void)cond;
	if (until <= now || !would_wait)
		return ETIMEDOUT;
	pthread_mutex_unlock(lock);
	longjmp(*would_wait, 1);
}

/* --- Events and peers ------------------------------------------------------------------------ */

int alone_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
	int found;

	if (alone_hooks.wait)
		alone_hooks.wait();
	alone_step();
	found = epoll_wait(fd, events, count, 0);
	if (found <= 0 && timeout_ms > 0)
		now += (uint64_t)timeout_ms * 1000000;
	return found;
}

int alone_socket_accept(int listener)
{
	return alone_hooks.accept ? alone_hooks.accept(listener) : fx_socket_accept(listener);
}

int alone_socket_peer(int fd, pid_t *ret_pid, uid_t *ret_uid)
{
	if (alone_hooks.peer)
		return alone_hooks.peer(fd, ret_pid, ret_uid);
	return fx_socket_peer(fd, ret_pid, ret_uid);
}

int alone_socket_peer_pidfd(int fd, pid_t pid)
{
	return alone_hooks.pidfd ? alone_hooks.pidfd(fd, pid) : fx_socket_peer_pidfd(fd, pid);
}

void alone_look(const volatile void *word)
{
	if (alone_hooks.look)
		alone_hooks.look(word);
}

FILE *alone_stderr(void)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	return nowhere ? nowhere : stderr;
}
