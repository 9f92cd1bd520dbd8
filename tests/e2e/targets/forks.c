/* SPDX-License-Identifier: MIT */
/*
 * forks burst N          N children at once
 * forks sleepers N       N children that only compute: says how many were seen asleep
 * forks silent N         N children, one by one, while the manager, which is the parent, is stopped
 * forks programs N FILE  N programs in that time, then some more until one is told where the manager listens: says
 *                        how long the first took, and the slowest of the others, in ns
 * forks each             a child by each of libc's ways: 5, of which one is another's, as a daemon
 * forks daemons N        N children of children that are gone before theirs make their calls
 * forks handlers N       N handlers before a fork that fork as well, and all go on: 2^(N+1) processes with 200 calls each
 * forks abandoned N      N children whose parent does not wait for them, while the manager is stopped
 */
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))

#define CALLS 200

extern char **environ;

__attribute__((noinline)) void in_child(void)
{
	__asm__ volatile("");
}

static HIDDEN pid_t child_make(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < CALLS; i++)
			in_child();
		_exit(0);
	}
	return pid;
}

__attribute__((noinline)) void in_parent(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void in_handler(void)
{
	__asm__ volatile("");
}

static HIDDEN int calls_make(void *unused)
{
	(void)unused;
	for (int i = 0; i < CALLS; i++)
		in_child();
	return 0;
}

static HIDDEN int all_reaped(int count)
{
	int status, good = 0;

	while (wait(&status) > 0)
		good += status == 0;
	return good == count ? 0 : 1;
}

static HIDDEN int burst(int count)
{
	for (int i = 0; i < count; i++)
		child_make();
	return all_reaped(count);
}

static HIDDEN int is_asleep(pid_t pid)
{
	char path[32], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static HIDDEN int sleepers(int count)
{
	int seen = 0;

	for (int i = 0; i < count; i++) {
		pid_t pid = fork();
		int asleep = 0;

		if (pid == 0)
			for (volatile unsigned n = 0;; n++)
				;
		for (int k = 0; k < 30; k++) {
			asleep |= is_asleep(pid);
			usleep(500);
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		seen += asleep;
	}
	printf("%d asleep\n", seen);
	return 0;
}

static HIDDEN int silent(int count)
{
	pid_t manager = getppid();

	kill(manager, SIGSTOP);
	for (int i = 0; i < count; i++) {
		child_make();
		wait(NULL);
	}
	kill(manager, SIGCONT);
	return 0;
}

static HIDDEN int abandoned(int count)
{
	pid_t manager = getppid();

	kill(manager, SIGSTOP);
	signal(SIGCHLD, SIG_IGN);
	burst(count);
	kill(manager, SIGCONT);
	return 0;
}

/* Parents record as well, before and after. */
static HIDDEN int each(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	int master, ends[2];
	char byte;

	pthread_atfork(NULL, NULL, in_handler);
	pipe(ends);
	child_make();
	in_parent();
	clone(calls_make, stack + sizeof stack, SIGCHLD, NULL);
	in_parent();
	if (forkpty(&master, NULL, NULL, NULL) == 0)
		_exit(calls_make(NULL));
	in_parent();
	if (fork() == 0) {
		calls_make(NULL);
		daemon(1, 1);
		_exit(calls_make(NULL));
	}
	in_parent();
	close(ends[1]);
	read(ends[0], &byte, 1); /* until the daemon ends, whom nobody else waits for */
	return all_reaped(4);
}

static HIDDEN uint64_t program_run(char *file)
{
	char *argv[] = {file, NULL};
	struct timespec from, to;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (posix_spawn(&pid, file, NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
	       (uint64_t)from.tv_nsec;
}

static HIDDEN int programs(int count, char *file)
{
	pid_t manager = getppid();
	uint64_t first, slowest = 0;

	kill(manager, SIGSTOP);
	first = program_run(file);
	for (int i = 1; i < count; i++) {
		uint64_t ns = program_run(file);

		slowest = ns > slowest ? ns : slowest;
	}
	kill(manager, SIGCONT);
	for (int i = 0; i < 30; i++) {
		usleep(100000);
		program_run(file);
	}
	printf("%llu %llu\n", (unsigned long long)first, (unsigned long long)slowest);
	return 0;
}

/* The pipe ends when the last of them does. */
static HIDDEN int daemons(int count)
{
	int ends[2];
	char none;

	if (pipe(ends) != 0)
		return 1;
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pid_t parent = getpid();

			if (fork() != 0)
				_exit(0);
			while (getppid() == parent)
				usleep(1000);
			for (int k = 0; k < CALLS; k++)
				in_child();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	close(ends[1]);
	return read(ends[0], &none, 1) != 0;
}

static int handlers_left;

static HIDDEN void handler_forks(void)
{
	if (handlers_left-- > 0)
		fork();
}

static HIDDEN int handlers(int count)
{
	int status, wrong = 0;

	handlers_left = count;
	pthread_atfork(handler_forks, NULL, NULL);
	fork();
	for (int i = 0; i < CALLS; i++)
		in_child();
	while (wait(&status) > 0)
		wrong |= status;
	return wrong != 0;
}

HIDDEN int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(argv[1], "each"))
		return each();
	if (!strcmp(argv[1], "burst"))
		return burst(count);
	if (!strcmp(argv[1], "sleepers"))
		return sleepers(count);
	if (!strcmp(argv[1], "silent"))
		return silent(count);
	if (!strcmp(argv[1], "daemons"))
		return daemons(count);
	if (!strcmp(argv[1], "handlers"))
		return handlers(count);
	if (!strcmp(argv[1], "abandoned"))
		return abandoned(count);
	return programs(count, argv[3]);
}
