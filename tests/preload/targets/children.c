/* SPDX-License-Identifier: MIT */
/* Makes children by every call there is, from the main thread and beside busy threads; prints how they
 * ended and what they saw. With an argument it is such a child. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *self;
static volatile int stop;

static void reap(const char *what, pid_t pid)
{
	int status = 0;
	pid_t got = waitpid(pid, &status, 0);

	printf("%s: %s, exit %d, signal %d\n", what, pid > 0 && got == pid ? "reaped" : "lost",
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	fflush(stdout);
}

static void by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(11);
	reap("fork", pid);
	pid = fork();
	if (pid == 0) {
		pid_t inner = fork();

		if (inner == 0)
			_exit(0);
		waitpid(inner, NULL, 0);
		raise(SIGTERM);
	}
	reap("fork twice", pid);
}

/* The child writes its parent's memory and leaves it the stack as it was. */
static void by_vfork(void)
{
	volatile int shared = 0;
	char *argv[] = {self, "exit", "13", NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		shared = 1;
		_exit(12);
	}
	reap("vfork and _exit", pid);
	printf("shared %d\n", shared);
	fflush(stdout);
	pid = vfork();
	if (pid == 0) {
		execv(self, argv);
		_exit(99);
	}
	reap("vfork and execv", pid);
	pid = vfork();
	if (pid == 0) {
		execve("/does/not/exist", argv, environ);
		_exit(errno == ENOENT ? 14 : 98);
	}
	reap("vfork and failed execve", pid);
	pid = vfork();
	if (pid == 0) {
		pid_t inner = vfork();

		if (inner == 0)
			_exit(3);
		_exit(inner > 0 && waitpid(inner, NULL, 0) == inner ? 17 : 96);
	}
	reap("vfork in vfork", pid);
}

static void by_spawn(void)
{
	char *argv[] = {self, "exit", "15", NULL};
	pid_t pid = 0;

	printf("posix_spawn %d\n", posix_spawn(&pid, self, NULL, NULL, argv, environ));
	reap("posix_spawn", pid);
	printf("posix_spawnp %d\n", posix_spawnp(&pid, self, NULL, NULL, argv, NULL));
	reap("posix_spawnp, no environment", pid);
	printf("system %d\n", system("exit 3"));
	fflush(stdout);
}

static void by_exec(void)
{
	static char *empty[] = {NULL}, *one[] = {"ONE=1", NULL};
	char *argv[] = {self, "environment", NULL};

	for (int i = 0; i < 9; i++) {
		pid_t pid = fork();

		if (pid)
			reap("exec", pid);
		else if (i == 0)
			execl(self, self, "environment", "ONE", NULL);
		else if (i == 1)
			execlp(self, self, "environment", NULL);
		else if (i == 2)
			execle(self, self, "environment", "ONE", NULL, one);
		else if (i == 3)
			execv(self, argv);
		else if (i == 4)
			execve(self, argv, one);
		else if (i == 5)
			execve(self, argv, empty);
		else if (i == 6)
			execve(self, argv, NULL);
		else if (i == 7)
			execvpe(self, argv, one);
		else if (i == 8)
			execvp(self, argv);
		if (!pid)
			_exit(97);
	}
}

static void *busy(void *unused)
{
	while (!stop)
		free(malloc(1000));
	return unused;
}

static void *forks(void *unused)
{
	for (int i = 0; i < 20; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0) {
			free(malloc(100));
			_exit(7);
		}
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
			printf("a child of a thread was lost\n");
	}
	return unused;
}

static void in_threads(void)
{
	pthread_t b, t[4];

	pthread_create(&b, NULL, busy, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, forks, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	stop = 1;
	pthread_join(b, NULL);
	printf("threads have forked\n");
}

/*
 * A child in this memory that brings thread-local storage of its own, as a sandbox makes one to get rid of the
 * file system: zeroes, and beneath and above them what is no business of anybody's. It succeeds in all that it
 * does, so that not even errno is written.
 */
static int lodge(void *unused)
{
	int fd = dup(1);

	(void)unused;
	if (fd < 0 || close(fd) != 0 || chdir("/") != 0 || getuid() != geteuid())
		_exit(1);
	_exit(17);
}

static void by_clone_with_own_tls(void)
{
	enum { SIZE = 1 << 16, TLS = 256 };
	static char stack[SIZE] __attribute__((aligned(16)));
	static unsigned char storage[SIZE] __attribute__((aligned(64)));
	unsigned char *tls = storage + SIZE / 2;
	unsigned changed = 0;

	memset(storage, 0xa5, sizeof(storage));
	memset(tls, 0, TLS);
	reap("clone with its own storage",
	     clone(lodge, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD,
		   NULL, NULL, tls, NULL));
	for (size_t i = 0; i < SIZE; i++)
		changed += storage[i] != (storage + i >= tls && storage + i < tls + TLS ? 0 : 0xa5);
	printf("%u bytes of it changed\n", changed);
}

/* Prints the environment but for what the tracer hands on. */
static int print_environment(int argc, char **argv)
{
	printf("%d arguments, last %s:", argc, argv[argc - 1]);
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "ONE=", 4) == 0)
			printf(" %s", *e);
	printf("\n");
	return 16;
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2 && strcmp(argv[1], "exit") == 0)
		return atoi(argv[2]);
	if (argc > 1)
		return print_environment(argc, argv);
	by_fork();
	by_vfork();
	by_spawn();
	by_exec();
	by_clone_with_own_tls();
	in_threads();
	printf("none left: %d\n", wait(NULL) == -1 && errno == ECHILD);
	return 0;
}
