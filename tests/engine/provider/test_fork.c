/* SPDX-License-Identifier: MIT */
/* A child, however it was made, leaves its parent's buffer alone and attaches itself once. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/syscall.h"
#include "engine/provider/frame.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define CHILD_RECORDS 300u

static struct fm_manager m, child_manager;
static uint32_t reattached;

/* What the protocol does: a new buffer at another address. */
static int reattach(void)
{
	reattached++;
	fm_start(&child_manager, &(struct fm_config){0});
	return 0;
}

static int refuse(void)
{
	reattached++;
	return -ECONNREFUSED;
}

static void start(int (*hook)(void))
{
	fm_start(&m, &(struct fm_config){0});
	fx_engine.reattach = hook;
	for (uint32_t i = 0; i < 100; i++)
		cr_assert(produce(0, i));
}

/* The exit status of a child: 0, or the line of what failed. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ % 250 + 1);                                                 \
	} while (0)

static void child_traces(void)
{
	struct produced_all got;

	for (uint32_t i = 0; i < CHILD_RECORDS; i++)
		CHECK(produce(1, i));
	CHECK(reattached == 1);
	CHECK(child_manager.header->pid == (uint32_t)fx_getpid());
	produced_init(&got, 2, 1000);
	produced_read(&got, &child_manager);
	CHECK(got.total == CHILD_RECORDS);
	CHECK(got.writers[1].ordered);
	CHECK(fm_dropped(&child_manager) == 0);
}

static void wait_for(long pid)
{
	int status;

	cr_assert_gt(pid, 0);
	cr_assert_eq(waitpid((pid_t)pid, &status, 0), (pid_t)pid);
	cr_assert(WIFEXITED(status), "the child was killed by signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "line %d (mod 250) failed in the child",
		     WEXITSTATUS(status) - 1);
}

static void check_parent(uint64_t before, uint32_t records)
{
	struct produced_all got;

	cr_assert_eq(fm_checksum(&m), before, "the child wrote into its parent's buffer");
	cr_assert_eq(reattached, 0);
	cr_assert(produce(0, 100));
	produced_init(&got, 2, 1000);
	produced_read(&got, &m);
	cr_assert_eq(got.total, records + 1);
	cr_assert_eq(got.writers[1].count, 0);
	produced_destroy(&got);
}

/* Emulators say yes to any advice, and wipe nothing: children of raw system calls record as their parents there
 * (engine/provider/wiped.h). */
static void need_wiping(void)
{
	const int unknown = 0x7ffffff1;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(page != MAP_FAILED);
	if (madvise(page, 4096, unknown) == 0)
		cr_skip_test("the emulator wipes no memory of children");
	munmap(page, 4096);
}

static void check_clone(unsigned long flags)
{
	uint64_t before;
	long pid;

	start(reattach);
	before = fm_checksum(&m);
	pid = fx_syscall6(SYS_clone, (long)(flags | SIGCHLD), 0, 0, 0, 0, 0);
	if (pid == 0) {
		child_traces();
		_exit(0);
	}
	wait_for(pid);
	check_parent(before, 100);
}

Test(fork, raw_clone)
{
	need_wiping();
	check_clone(0);
}

Test(fork, raw_clone_that_stops_the_parent)
{
	need_wiping();
	check_clone(CLONE_VFORK);
}

Test(fork, raw_fork)
{
	uint64_t before;
	pid_t pid;

	need_wiping();
	start(reattach);
	before = fm_checksum(&m);
	pid = fork();
	if (pid == 0) {
		child_traces();
		_exit(0);
	}
	wait_for(pid);
	check_parent(before, 100);
}

Test(fork, a_fork_that_is_announced_attaches_without_an_event)
{
	struct fx_fork state;
	uint64_t before;
	pid_t pid;

	start(reattach);
	before = fm_checksum(&m);
	fx_engine_before_fork(&state, false);
	pid = fork();
	if (pid == 0) {
		fx_engine_after_fork(&state);
		CHECK(reattached == 1);
		CHECK(child_manager.header->packet_head == 1);
		/* the parent's place is left to what the fork may have interrupted */
		CHECK(fm_slot(&child_manager, 0)->tid == 0);
		CHECK(fm_slot(&child_manager, 1)->tid == (uint32_t)fx_gettid());
		CHECK(child_manager.header->threads_used == 2);
		child_traces();
		_exit(0);
	}
	fx_engine_after_fork(&state); /* by mistake in the parent: nothing */
	wait_for(pid);
	check_parent(before, 100);
}

Test(fork, a_child_that_is_refused_is_silent)
{
	uint64_t before;
	pid_t pid;

	need_wiping();
	start(refuse);
	before = fm_checksum(&m);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 10; i++)
			CHECK(!produce(1, 0));
		CHECK(reattached == 1);
		_exit(0);
	}
	wait_for(pid);
	check_parent(before, 100);
}

Test(fork, grandchildren_attach_too)
{
	uint64_t before;
	pid_t pid;

	start(reattach);
	before = fm_checksum(&m);
	for (int generation = 0; generation < 4; generation++) {
		struct fx_fork state;

		fx_engine_before_fork(&state, false);
		pid = fork();
		if (pid != 0) {
			if (generation == 0)
				break;
			wait_for(pid);
			_exit(0);
		}
		reattached = 0;
		fx_engine_after_fork(&state);
		child_traces();
	}
	if (pid == 0)
		_exit(0);
	wait_for(pid);
	check_parent(before, 100);
}

/* vfork: the child runs on the parent's thread, in its memory. */
Test(fork, a_suspended_thread_records_nothing_and_goes_on_afterwards)
{
	uint64_t before;

	start(reattach);
	before = fm_checksum(&m);
	fx_thread_suspend();
	cr_assert_not(produce(1, 0));
	fx_thread_resume();
	check_parent(before, 100);
}

Test(fork, a_thread_that_was_suspended_over_a_restart_begins_anew)
{
	start(reattach);
	fx_frame_push(fx_self, 0x400000, 0x1000, 0);
	fx_thread_suspend();
	fm_state(&m, 2, FX_CAT_USER);
	fx_thread_resume();
	cr_assert(produce(0, 100));
	cr_assert_eq(fx_self->top, &fx_self->slot->frames[1], "a call of the epoch before is open");
}

/*
 * What a handler's fork interrupted is finished by the child too: a record, an open call. Neither may
 * go into the parent's buffer, or harm the child's.
 */
Test(fork, what_the_fork_interrupted_goes_nowhere)
{
	struct fx_reservation r;
	struct fx_thread *t;
	struct fx_frame *f;
	struct fx_fork state;
	uint64_t before, *p;
	pid_t pid;

	start(reattach);
	t = fx_thread_on(FX_CAT_USER);
	f = fx_frame_push(t, 0x400000, 0x2000, 0);
	p = fx_record_reserve(t, 5, &r);
	before = fm_checksum(&m);
	fx_engine_before_fork(&state, false);
	pid = fork();
	if (pid == 0) {
		fx_engine_after_fork(&state);
		CHECK(produce(1, 0)); /* by the handler */
		/* back in what it interrupted */
		memset(p + 1, 0xff, 4 * 8);
		fx_record_commit(t, p, FX_EVENT_HEADER(FX_EVENT_INSTANT, 5, 0, 0, 0), &r);
		fx_frame_push(t, 0x400000, 0x1000, 0);
		fx_frame_unwind(t, 0x1000);
		fx_frame_pop(t, f);
		fx_frame_unwind(t, 0x3000);
		CHECK(t != fx_self);
		for (uint32_t i = 1; i < 5000; i++)
			CHECK(produce(1, i));
		struct produced_all got;
		produced_init(&got, 2, 5000);
		produced_read(&got, &child_manager);
		CHECK(got.total == 5000);
		_exit(0);
	}
	wait_for(pid);
	cr_assert_eq(fm_checksum(&m), before, "the child wrote into its parent's buffer");
}

/* --- Handlers that fork while their thread traces --------------------------------------------- */

static uint32_t main_tried;
static volatile sig_atomic_t is_child;
static uint32_t child_first;
static volatile uint32_t forks;

#ifdef FX_TSAN
#define FORKS 20u /* it makes each many times slower */
#else
#define FORKS 150u
#endif

static void fork_in_handler(int sig)
{
	struct fx_fork state;
	int error = errno;
	pid_t pid;

	(void)sig;
	if (is_child)
		return;
	fx_engine_before_fork(&state, false);
	pid = fork();
	if (pid == 0) {
		is_child = 1;
		fx_engine_after_fork(&state);
		child_first = main_tried;
		errno = error;
		return;
	}
	wait_for(pid);
	errno = error;
	forks++;
}

/* The child has come back from the handler into the middle of something. */
static void child_goes_on(void)
{
	struct produced_all got;

	for (uint32_t i = 0; i < 1000; i++)
		CHECK(produce(1, i));
	produced_init(&got, 2, 20000000);
	produced_read(&got, &child_manager);
	CHECK(reattached == 1);
	CHECK(got.writers[1].count == 1000);
	CHECK(got.writers[0].count <= main_tried - child_first + 1);
	_exit(0);
}

Test(fork, handlers_fork_in_the_middle_of_records, .timeout = 30)
{
	struct sigaction sa = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct produced_all got;
	uint32_t armed = 0;
	timer_t timer;

	need_wiping();
	fm_start(&m, &(struct fm_config){.size = 256 << 20});
	fx_engine.reattach = reattach;
	cr_assert(produce(0, main_tried++));
	sigaction(SIGUSR1, &sa, NULL);
	ev.sigev_notify_thread_id = fx_gettid();
	timer_create(CLOCK_MONOTONIC, &ev, &timer);
	while (forks < FORKS) {
		/* Once each: with a period the thread would do nothing else. */
		if (forks == armed) {
			struct itimerspec once = {{0, 0}, {0, 200000 + 37 * armed}};

			timer_settime(timer, 0, &once, NULL);
			armed++;
		}
		produce(0, main_tried++);
		if (is_child)
			child_goes_on();
	}
	timer_delete(timer);
	produced_init(&got, 2, main_tried);
	produced_read(&got, &m);
	cr_assert_eq(got.total + fm_dropped(&m), main_tried);
	cr_assert_eq(got.writers[1].count, 0, "a child's records are in its parent's buffer");
	produced_destroy(&got);
}
