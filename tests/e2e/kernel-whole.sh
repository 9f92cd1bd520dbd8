#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel leaves out none of a program's system calls while interrupts wake its threads on the same processor: what is written in an interrupt
# is written beside what that has interrupted. Nor of a thread that executes a program, and has the number of its process's first thread then.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator knows no performance events"
cat >counted.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool is_over;

static void *sleeps(void *arg)
{
	const struct timespec nap = {.tv_nsec = 1000};

	while (!is_over)
		nanosleep(&nap, NULL);
	return arg;
}

int main(void)
{
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&thread, NULL, sleeps, NULL);
	for (int i = 0; i < 60000; i++)
		syscall(SYS_getppid);
	is_over = 1;
	pthread_join(thread, NULL);
	return 0;
}
END
compile counted -O1 -static counted.c -pthread 2>/dev/null || skip "nothing can be linked statically"
# What the rings had no room for is another matter, and said.
for attempt in 1 2 3; do
	expect_ok "$FXTRACE" run --kernel -o trace.fxt -- ./counted
	! grep -qE 'is not recorded|are not recorded|not recorded: ' err || skip "$(grep 'not recorded' err)"
	grep -qE 'records? (lost|of --kernel may be missing)' err || break
	[ "$attempt" -lt 3 ] || skip "the machine is too busy: $(grep -E 'lost|missing' err)"
done
expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from slice where name = 'getppid'"
expect_equal 60000 "$(tail -n 1 out | tr -d '\r')" "calls of getppid()"
expect_clean trace.fxt

cat >again.c <<'END'
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *executes(void *arg)
{
	char *name = arg;

	usleep(20000); /* the first thread has ended by then */
	execl(name, name, "again", (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc == 1) {
		pthread_create(&thread, NULL, executes, argv[0]);
		pthread_exit(NULL);
	}
	for (int i = 0; i < 50; i++)
		syscall(SYS_getppid);
	return 0;
}
END
compile again -O1 -static again.c -pthread
expect_ok "$FXTRACE" run --kernel -o trace.fxt -- ./again
expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from slice where name = 'getppid'"
expect_equal 50 "$(tail -n 1 out | tr -d '\r')" "calls of getppid() after a thread has executed the program"

# --- What is asked for by its name has all of its fields ------------------------------------------

expect_ok "$FXTRACE" run --kernel -c tracepoint:sched/sched_switch -o trace.fxt -- sh -c 'sleep 0.01; sleep 0.01'
fields() {
	expect_ok "$FXTRACE" query --csv trace.fxt "select count(*) from args join slice using (arg_set_id) where category like 'tracepoint:%' and key = '$1'"
	tail -n 1 out | tr -d '\r'
}
[ "$(fields prev_pid)" -gt 0 ] || fail "no switches: $(cat err)"
expect_equal "$(fields prev_pid)" "$(fields next_pid)" "switches that say to what"
