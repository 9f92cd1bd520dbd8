#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace run --trigger ALERT:where: at a process's end by a signal, and at a program's own alerts, it is said what the threads of all
# others do, on standard error and in the archive; other ends say nothing.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

! is_emulated || skip "the emulator has no other process's registers"
cat >family.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fxtrace/alert.h>

static int ends[2];

/* Says that it is there, and waits until nobody else has the other end any more. */
__attribute__((noinline)) static void stay_here(int say)
{
	char byte;

	if (write(say, "", 1) == 1 && read(ends[0], &byte, 1) == 0)
		__asm__ volatile("");
}

static void *thread_main(void *opaque)
{
	stay_here(*(int *)opaque);
	return NULL;
}

/* family HOW: a process with two threads stays; another one, or this one, ends so. */
int main(int argc, char **argv)
{
	const char *how = argv[argc - 1];
	int ready[2], status = 0;
	pthread_t thread;
	pid_t child;
	char bytes[2];

	if (pipe(ends) || pipe(ready))
		return 100;
	if (fork() == 0) {
		if (strcmp(how, "self") != 0)
			close(ends[1]);
		alarm(10);
		pthread_create(&thread, NULL, thread_main, &ready[1]);
		stay_here(ready[1]);
		pthread_join(thread, NULL);
		return 0;
	}
	for (size_t n = 0; n < 2;) {
		ssize_t some = read(ready[0], bytes, 2 - n);

		if (some <= 0)
			return 101;
		n += (size_t)some;
	}
	if (strcmp(how, "self") == 0)
		kill(getpid(), SIGTERM);
	if (strcmp(how, "alert") == 0) {
		fxtrace_alert("late");
		usleep(700000);
		return 0;
	}
	child = fork();
	if (child == 0 && strcmp(how, "segv") == 0)
		*(volatile int *)NULL = 1;
	if (child == 0)
		_exit(7);
	waitpid(child, &status, 0);
	usleep(700000);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}
END
compile family -O1 -I "$FX_SRCDIR/include" family.c -ldl

# family STATUS NAME HOW: it is run with --trigger NAME:where.
family() {
	expect_status "$1" "$FXTRACE" run --trigger "$2:where" -o trace.fxt -- ./family "$3"
	mv err said
	expect_clean trace.fxt
	"$FXTRACE" dump trace.fxt >dumped
}
# They who stay, by their two threads.
expect_they_are_said() {
	expect_equal 2 "$(grep -c 'stay_here' said)" "stacks"
	expect_line 'waits for bytes in a pipe' said
	expect_equal 2 "$(grep -cE 'type=instant .*name="(where|deadlock)" args=\{"where":string=.*waits for bytes in a pipe.*stay_here' dumped)" "events"
}

family 11 death segv
expect_line '^fxtrace: family \([0-9]+\) was ended by SIGSEGV$' said
expect_they_are_said
expect_line 'family: waits for the end of a child|family: (runs|sleeps)' said
# Nobody else could write to them any more.
family 143 death self
expect_line '^fxtrace: family \([0-9]+\) was ended by SIGTERM: DEADLOCK$' said
expect_they_are_said
family 0 late alert
expect_line '^fxtrace: family \([0-9]+\) raised the alert late$' said
expect_they_are_said
family 7 death exit
expect_no_line 'was ended|stay_here' said
expect_no_line 'name="where"' dumped
# Nobody else is there.
expect_status 137 "$FXTRACE" run --trigger death:where -o trace.fxt -- sh -c 'kill -9 $$'
expect_line '^fxtrace: [a-z]+ \([0-9]+\) was ended by SIGKILL; no other traced process goes on$' err

expect_one_error 2 "$FXTRACE" record --trigger death:where -- true
expect_line 'is of fxtrace run alone' err
