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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc 2.34 has it first. */
#if !__GLIBC_PREREQ(2, 34)
#define _Fork() ((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
#endif

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

/* As by_clone(), by the newer system call. */
HIDDEN static pid_t by_clone3(void)
{
	uint64_t args[8] = {[4] = SIGCHLD}; /* struct clone_args: its exit signal */
	pid_t child = (pid_t)syscall(SYS_clone3, args, sizeof(args));

	if (child == 0) {
		run_child();
		_exit(0);
	}
	return child;
}

/* What fork() is without its handlers. */
HIDDEN static pid_t by_bare_fork(void)
{
	pid_t child = _Fork();

	if (child == 0) {
		run_child();
		_exit(0);
	}
	return child;
}

/* Without anything of libc: nobody can have noticed. */
HIDDEN static pid_t by_instruction(void)
{
	long child;

#if defined(__x86_64__)
	__asm__ volatile("syscall" : "=a"(child) : "a"(SYS_fork) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = SIGCHLD;
	register long x1 __asm__("x1") = 0, x2 __asm__("x2") = 0, x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	child = x0;
#endif
	if (child == 0) {
		run_child();
		_exit(0);
	}
	return (pid_t)child;
}

HIDDEN static int exec_leaf(void *unused)
{
	(void)unused;
	execv(leaf[0], leaf);
	_exit(127);
}

/* A child in its parent's memory, on a stack of its own, as posix_spawn() makes it. */
HIDDEN static pid_t by_clone_vfork(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	return clone(exec_leaf, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}

#define SHARED_CALLS 20000

HIDDEN static int child_on_same_storage(void *unused)
{
	(void)unused;
	for (int i = 0; i < SHARED_CALLS; i++)
		in_child();
	return 0;
}

/* A child that runs beside its parent in the same memory, with the same thread-local storage. The parent calls
 * in_thread() as often, and half as often again when the child is gone. */
HIDDEN static pid_t by_clone_shared(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t child = clone(child_on_same_storage, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	for (int i = 0; i < SHARED_CALLS; i++)
		in_thread();
	waitpid(child, NULL, 0);
	for (int i = 0; i < SHARED_CALLS / 2; i++)
		in_thread();
	return child;
}

/* vfork() without libc. Until it execs, nothing tells such a child from its parent. */
HIDDEN static pid_t by_vfork_instruction(void)
{
	long child;

#if defined(__x86_64__)
	__asm__ volatile("syscall" : "=a"(child) : "a"(SYS_vfork) : "rcx", "r11", "memory");
#else
	child = vfork();
#endif
	if (child == 0) {
		execv(leaf[0], leaf);
		_exit(127);
	}
	return (pid_t)child;
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

static int recording;

HIDDEN static void *thread_main(void *stop)
{
	in_thread();
	__atomic_add_fetch(&recording, 1, __ATOMIC_RELAXED);
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
	while (__atomic_load_n(&recording, __ATOMIC_RELAXED) < 2)
		usleep(1000);
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
    {"clone3", by_clone3},
    {"bare-fork", by_bare_fork},
    {"instruction", by_instruction},
    {"clone-vfork", by_clone_vfork},
    {"clone-shared", by_clone_shared},
    {"vfork-instruction", by_vfork_instruction},
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
