/* SPDX-License-Identifier: MIT */
/*
 * Calls the functions of the wrapper tables with bad arguments: numbers are
 * -1, pointers 8. Prints what each returned, and errno, which is set to a value of its own before. A call
 * that crashes is named with its signal; a new process goes on behind it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/types.h"

#define UNTOUCHED 99

/* Not a constant: the compiler knows what some functions do with one. */
static void *volatile bad_pointer = (void *)8;

/* Of addresses only the two that mean something. */
static long of_pointer(const void *p)
{
	return !p ? 0 : (long)p == -1 ? -1 : 1;
}

#include "tests/preload/badcalls.inc"

static const struct {
	const char *name;
	long (*call)(void *function);
} calls[] = {
#define CALL(name) {#name, call_##name},
    EVERY_CALL(CALL)};

#define COUNT (sizeof calls / sizeof calls[0])

/* Some can no longer be linked with, and are found by their version alone. */
static void *find(const char *name)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.3.2"};
	void *function = dlsym(RTLD_DEFAULT, name);

	for (size_t i = 0; i < sizeof versions / sizeof versions[0] && !function; i++)
		function = dlvsym(RTLD_DEFAULT, name, versions[i]);
	return function;
}

/* Where the child is: the parent goes on behind it if it dies. */
static void calls_from(unsigned first, int out)
{
	for (unsigned i = first; i < COUNT; i++) {
		char line[200];
		void *function;
		long ret;
		int n;

		function = find(calls[i].name);
		if (!function)
			continue;
		(void)!write(out, &i, sizeof i);
		alarm(10);
		errno = UNTOUCHED;
		ret = calls[i].call(function);
		n = snprintf(line, sizeof line, "%s: %ld %d\n", calls[i].name, ret, errno);
		(void)!write(STDOUT_FILENO, line, (size_t)n);
	}
	_exit(0);
}

/* Returns the call that the child was in when it ended. */
static unsigned child_from(unsigned first)
{
	unsigned at = first, next;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0)
		calls_from(first, fds[1]);
	close(fds[1]);
	while (read(fds[0], &next, sizeof next) == (ssize_t)sizeof next)
		at = next;
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status))
		return COUNT;
	dprintf(STDOUT_FILENO, "%s: signal %d\n", calls[at].name, WTERMSIG(status));
	return at + 1;
}

int main(void)
{
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	for (unsigned next = 0; next < COUNT;)
		next = child_from(next);
	return 0;
}
