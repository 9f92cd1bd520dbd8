/* SPDX-License-Identifier: MIT */
/* Threads that have a mutex by turns: none is said to wait for itself, whenever it is looked at. */
#include <criterion/criterion.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "where/frozen.h"
#include "where/waits.h"

enum { THREADS = 3, SEEN = 2000, LOOKS_MAX = 400000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t *tids; /* of the child's threads, which this process sees too */

static void *take_turns(void *tid)
{
	*(pid_t *)tid = (pid_t)syscall(SYS_gettid);
	for (;;) {
		pthread_mutex_lock(&mutex);
		sched_yield(); /* others come and wait */
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static pid_t turns_child(void)
{
	pthread_t thread;
	pid_t pid;

	tids = mmap(NULL, sizeof(*tids) * THREADS, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(tids, MAP_FAILED);
	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < THREADS - 1; i++)
		pthread_create(&thread, NULL, take_turns, (void *)&tids[i]);
	take_turns(&tids[THREADS - 1]);
	_exit(1);
}

/* A thread that waits for the mutex; false: it does not. */
static bool waiting_thread(pid_t pid, pid_t tid, struct fx_where_thread *ret)
{
	static char stack[] = "__lll_lock_wait\npthread_mutex_lock\ntake_turns";
	struct fx_call_place place;

	if (fx_call_read(pid, tid, &place) < 0 || place.call != SYS_futex ||
	    ((int)place.args[1] & FUTEX_CMD_MASK) != FUTEX_WAIT)
		return false;
	*ret = (struct fx_where_thread){.pid = pid,
					.tid = tid,
					.state = 'S',
					.in_call = true,
					.call = place.call,
					.stack = stack};
	memcpy(ret->args, place.args, sizeof(place.args));
	return true;
}

Test(holders, nobody_waits_for_itself, .timeout = 600)
{
	pid_t pid = turns_child();
	unsigned seen = 0, known = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		while (__atomic_load_n(&tids[i], __ATOMIC_RELAXED) == 0)
			usleep(1000);
	}
	for (unsigned i = 0; i < LOOKS_MAX && seen < SEEN; i++) {
		struct fx_where_thread thread;

		if (!waiting_thread(pid, tids[i % THREADS], &thread))
			continue;
		seen++;
		fx_where_find_wait(&thread);
		cr_assert_eq(thread.wait, FX_WAITS_MUTEX);
		cr_assert_neq(thread.holder, thread.tid, "look %u: a thread waits for itself", i);
		known += thread.holder != 0;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_log_info("%u waits seen, of %u the holder is known", seen, known);
	cr_assert_gt(seen, 0, "they never wait");
}
