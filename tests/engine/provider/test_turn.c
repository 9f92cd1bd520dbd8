/* SPDX-License-Identifier: MIT */
/* A turn: one thread at a time; who has it is told so; and a child's copy of one that another thread had is free. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "engine/provider/turn.h"

TestSuite(turn, .timeout = 60);

static struct fx_turn turn;

static void *tries(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)fx_turn_try(&turn);
}

static int other_tries(void)
{
	pthread_t thread;
	void *r;

	cr_assert_eq(pthread_create(&thread, NULL, tries, NULL), 0);
	cr_assert_eq(pthread_join(thread, &r), 0);
	return (int)(intptr_t)r;
}

Test(turn, whose_it_is)
{
	cr_expect_eq(fx_turn_try(&turn), 0);
	cr_expect_eq(fx_turn_try(&turn), -EDEADLK);
	cr_expect_eq(fx_turn_take(&turn), -EDEADLK);
	cr_expect_eq(other_tries(), -EBUSY);
	fx_turn_give(&turn);
	cr_expect_eq(fx_turn_take(&turn), 0);
	fx_turn_give(&turn);
	/* One whose thread has ended with it is held for good. */
	cr_expect_eq(other_tries(), 0);
	cr_expect_eq(fx_turn_try(&turn), -EBUSY);
}

static int in_handler;

static void handler(int number)
{
	(void)number;
	in_handler = fx_turn_take(&turn);
}

Test(turn, a_handler_does_not_wait_for_its_own_thread)
{
	signal(SIGUSR1, handler);
	cr_assert_eq(fx_turn_take(&turn), 0);
	raise(SIGUSR1);
	cr_expect_eq(in_handler, -EDEADLK);
	fx_turn_give(&turn);
	raise(SIGUSR1);
	cr_expect_eq(in_handler, 0);
}

/* What a child finds: 0, or what fx_turn_try() says. */
static int child_tries(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fx_turn_try(&turn) == 0 ? 0 : 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static uint32_t phase;

static void *holds(void *unused)
{
	(void)unused;
	fx_turn_take(&turn);
	fx_store_release(&phase, 1);
	while (fx_load_acquire(&phase) != 2)
		usleep(100);
	fx_turn_give(&turn);
	return NULL;
}

Test(turn, a_child_does_not_wait_for_threads_that_it_has_not)
{
	pthread_t thread;

	cr_expect_eq(child_tries(), 0);
	cr_assert_eq(pthread_create(&thread, NULL, holds, NULL), 0);
	while (fx_load_acquire(&phase) != 1)
		usleep(100);
	cr_expect_eq(fx_turn_try(&turn), -EBUSY);
	cr_expect_eq(child_tries(), 0);
	fx_store_release(&phase, 2);
	pthread_join(thread, NULL);
	cr_expect_eq(fx_turn_try(&turn), 0);
	/* The child's one thread is another one. */
	cr_expect_eq(child_tries(), 0);
}

#define ROUNDS 20000u

static unsigned counted; /* plain: it is the turn that makes it right */

static void *counts(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned before;

		if (fx_turn_take(&turn) != 0)
			return &turn;
		before = counted;
		__asm__ volatile("" ::: "memory");
		counted = before + 1;
		fx_turn_give(&turn);
	}
	return NULL;
}

Test(turn, one_thread_at_a_time)
{
	pthread_t threads[4];
	void *wrong;

	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, counts, NULL), 0);
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(pthread_join(threads[i], &wrong), 0);
		cr_expect_null(wrong);
	}
	cr_expect_eq(counted, 4 * ROUNDS);
}
