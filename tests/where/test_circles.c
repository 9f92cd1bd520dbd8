/* SPDX-License-Identifier: MIT */
/* Which threads wait in a circle. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "where/circles.h"

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;

static void *lock_both(void *first)
{
	size_t i = first ? 1 : 0;

	pthread_mutex_lock(&mutexes[i]);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&mutexes[1 - i]);
	return NULL;
}

/* A child whose two threads wait for each other, once they do. */
static pid_t stuck_child(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, lock_both, &both);
	lock_both(NULL);
	_exit(1);
}

static void look(struct fx_where *where, pid_t pid)
{
	cr_assert_eq(fx_where_init(where), 0);
	cr_assert_eq(fx_where_add(where, pid), 0);
	cr_assert_eq(fx_where_find_circles(where), 0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(circles, two_that_wait_for_each_other)
{
	struct fx_where where;
	pid_t pid = stuck_child();

	for (int looks = 0;; looks++) {
		cr_assert(looks < 3000, "they do not wait");
		look(&where, pid);
		if (where.circles)
			break;
		fx_where_destroy(&where);
		usleep(10000);
	}
	end(pid);
	cr_expect_eq(where.circles, 1);
	cr_assert_eq(where.threads.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct fx_where_thread *thread = &where.threads.items[i];

		cr_expect_eq(thread->circle, 1);
		cr_expect_eq(thread->wait, FX_WAITS_MUTEX);
		cr_expect_eq(thread->holder, where.threads.items[1 - i].tid);
	}
	fx_where_destroy(&where);
}

/* They who are said to wait for each other do not: one runs, and is not in the call any more. */
Test(circles, one_that_has_gone_on)
{
	struct fx_where where;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	cr_assert_eq(fx_where_init(&where), 0);
	cr_assert_eq(fx_vector_reserve(&where.threads, 2), 0);
	where.threads.count = 2;
	where.threads.items[0] = (struct fx_where_thread){
	    .pid = getpid(), .tid = getpid(), .call = SYS_futex, .in_call = true, .holder = pid};
	where.threads.items[1] = (struct fx_where_thread){
	    .pid = pid, .tid = pid, .call = SYS_futex, .in_call = true, .holder = getpid()};
	cr_expect_eq(fx_where_find_circles(&where), 0);
	cr_expect_eq(where.circles, 0);
	cr_expect(where.threads.items[0].circle == 0 && where.threads.items[1].circle == 0);
	end(pid);
	fx_where_destroy(&where);
}

/* Of a chain that leads into no circle nobody is in one. */
Test(circles, a_chain)
{
	struct fx_where where;

	cr_assert_eq(fx_where_init(&where), 0);
	cr_assert_eq(fx_vector_reserve(&where.threads, 2), 0);
	where.threads.count = 2;
	where.threads.items[0] = (struct fx_where_thread){.pid = 1, .tid = 10, .holder = 11};
	where.threads.items[1] = (struct fx_where_thread){.pid = 1, .tid = 11, .holder = 12};
	cr_expect_eq(fx_where_find_circles(&where), 0);
	cr_expect_eq(where.circles, 0);
	fx_where_destroy(&where);
}
