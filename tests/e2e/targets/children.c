/* SPDX-License-Identifier: MIT */
/*
 * children HOW LEAF: makes one child, in the way HOW, and waits for it. The parent calls
 * in_parent() before and after, a child that runs on calls in_child(), one that execs runs LEAF.
 * Prints the pids: parent, child. Compile with -finstrument-functions.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))

extern char **environ;

static char *leaf[] = {NULL, NULL};
static char *no_environment[] = {NULL};

static __attribute__((noinline)) void in_parent(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void in_child(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void in_thread(void)
{
	__asm__ volatile("");
}

HIDDEN static void run_child(void)
{
	for (int i = 0; i < 1000; i++)
		in_child();
}

HIDDEN static pid_t by_fork(void)
{
	pid_t child = fork();

	if (child == 0) {
		run_child();
		exit(0);
	}
	return child;
}

HIDDEN static pid_t by_clone(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0) {
		run_child();
		_exit(0);
	}
	return child;
}

HIDDEN static pid_t by_fork_exec(void)
{
	pid_t child = fork();

	if (child == 0) {
		in_child();
		execv(leaf[0], leaf);
		_exit(127);
	}
	return child;
}

HIDDEN static pid_t by_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execv(leaf[0], leaf);
		_exit(127);
	}
	return child;
}

HIDDEN static pid_t by_empty_environment(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execve(leaf[0], leaf, no_environment);
		_exit(127);
	}
	return child;
}

HIDDEN static pid_t by_execl(void)
{
	pid_t child = fork();

	if (child == 0) {
		execle(leaf[0], leaf[0], (char *)NULL, no_environment);
		_exit(127);
	}
	return child;
}

HIDDEN static pid_t by_spawn(void)
{
	pid_t child;

	return posix_spawn(&child, leaf[0], NULL, NULL, leaf, environ) == 0 ? child : -1;
}

HIDDEN static pid_t by_spawn_empty(void)
{
	pid_t child;

	return posix_spawnp(&child, leaf[0], NULL, NULL, leaf, no_environment) == 0 ? child : -1;
}

HIDDEN static void *thread_main(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		in_thread();
	return NULL;
}

/* Threads that record when the fork comes. */
HIDDEN static pid_t by_fork_among_threads(void)
{
	static pthread_t threads[2];
	static int stop;
	pid_t child;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread_main, &stop);
	usleep(5000);
	child = by_fork();
	usleep(5000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return child;
}

/* A grandchild that no one waits for; its pid comes through a pipe, that closes when it ends. */
HIDDEN static pid_t by_double_fork(void)
{
	pid_t child, daemon = -1;
	int fds[2];
	char byte;

	if (pipe(fds) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		daemon = getpid();
		write(fds[1], &daemon, sizeof(daemon));
		run_child();
		_exit(0);
	}
	close(fds[1]);
	waitpid(child, NULL, 0);
	read(fds[0], &daemon, sizeof(daemon));
	read(fds[0], &byte, 1);
	return daemon;
}

static const struct {
	const char *name;
	pid_t (*make)(void);
} ways[] = {
    {"fork", by_fork},
    {"clone", by_clone},
    {"fork-exec", by_fork_exec},
    {"vfork", by_vfork},
    {"vfork-empty", by_empty_environment},
    {"execle-empty", by_execl},
    {"spawn", by_spawn},
    {"spawn-empty", by_spawn_empty},
    {"threads", by_fork_among_threads},
    {"daemon", by_double_fork},
};

HIDDEN int main(int argc, char **argv)
{
	pid_t child = -1;

	if (argc != 3)
		return 2;
	leaf[0] = argv[2];
	in_parent();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, argv[1]) == 0)
			child = ways[i].make();
	}
	in_parent();
	if (child < 0)
		return 1;
	waitpid(child, NULL, 0);
	in_parent();
	printf("%d %d\n", getpid(), child);
	return 0;
}
