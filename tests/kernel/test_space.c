/* SPDX-License-Identifier: MIT */
/* Threads of a process that ran before its records were read: each is counted once, by what /proc said or by a record. */
#include "kernel/space.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"

static pthread_barrier_t barrier;

static void *thread_waits(void *nothing)
{
	pthread_barrier_wait(&barrier);
	return nothing;
}

Test(space, threads_are_counted_once)
{
	uint64_t before = fx_boottime_ns(), after;
	uint32_t pid = (uint32_t)getpid(), others;
	struct fx_spaces *spaces;
	pthread_t thread;

	cr_assert_eq(fx_spaces_create(NULL, &spaces), 0);
	pthread_barrier_init(&barrier, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, thread_waits, NULL), 0);
	fx_space_read(spaces, pid);
	after = fx_boottime_ns() + 1;
	others = fx_space_known(spaces, pid)->others;
	cr_expect_geq(others, 1);
	fx_space_thread(spaces, pid, before);
	cr_expect_eq(fx_space_known(spaces, pid)->others, others);
	cr_expect_not(fx_space_end(spaces, pid, false, before));
	cr_expect_eq(fx_space_known(spaces, pid)->others, others);
	fx_space_thread(spaces, pid, after);
	cr_expect_eq(fx_space_known(spaces, pid)->others, others + 1);
	cr_expect_not(fx_space_end(spaces, pid, false, after));
	cr_expect_eq(fx_space_known(spaces, pid)->others, others);
	/* The first is among those that were counted, even if it had ended; the process ends with the last. */
	cr_expect_not(fx_space_end(spaces, pid, true, before));
	while (others-- > 1)
		cr_expect_not(fx_space_end(spaces, pid, false, after));
	cr_expect(fx_space_end(spaces, pid, false, after));
	cr_expect_null(fx_space_known(spaces, pid));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	fx_spaces_destroy(spaces);
}

static void seen_count(void *opaque, struct fx_space *space)
{
	unsigned *seen = opaque;

	(void)space;
	(*seen)++;
}

/* Those that a process has started before anybody knew that it is of interest are, too; what it had started as another program is not, nor
 * who has only been given the number of one that was. */
Test(space, what_it_has_started_is_its_own)
{
	struct fx_spaces *spaces;
	unsigned seen = 0;

	cr_assert_eq(fx_spaces_create(NULL, &spaces), 0);
	fx_space_fork(spaces, 10, 11); /* by the program that was there before */
	fx_space_exec(spaces, 10);
	fx_space_fork(spaces, 10, 12);
	fx_space_exec(spaces, 12);
	fx_space_fork(spaces, 12, 13);
	fx_space_fork(spaces, 10, 14);
	fx_space_fork(spaces, 1, 14); /* another one, later */
	fx_space_own(spaces, 10, seen_count, &seen);
	fx_space_own(spaces, 10, seen_count, &seen);
	cr_expect_eq(seen, 3);
	cr_expect_not(fx_space_known(spaces, 11)->is_own);
	cr_expect(fx_space_known(spaces, 12)->is_own);
	cr_expect(fx_space_known(spaces, 13)->is_own);
	cr_expect_not(fx_space_known(spaces, 14)->is_own);
	fx_space_fork(spaces, 13, 15);
	cr_expect(fx_space_known(spaces, 15)->is_own);
	fx_spaces_destroy(spaces);
}

/* One that was forked since is counted by its records alone. */
Test(space, forked_threads_are_counted)
{
	uint64_t before = fx_boottime_ns();
	uint32_t pid = (uint32_t)getpid();
	struct fx_spaces *spaces;

	cr_assert_eq(fx_spaces_create(NULL, &spaces), 0);
	fx_space_read(spaces, pid);
	fx_space_fork(spaces, 1, pid);
	fx_space_thread(spaces, pid, before);
	cr_expect_eq(fx_space_known(spaces, pid)->others, 1);
	fx_spaces_destroy(spaces);
}
