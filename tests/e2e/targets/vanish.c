/* SPDX-License-Identifier: MIT */
/*
 * vanish HOW N [PROGRAM]: N children, one after the other, of which a tracer cannot hear, and of which one always does.
 *
 *	atfork	each ends in a handler of pthread_atfork(), before fork() returns in it
 *	spawn	each becomes PROGRAM
 *	vfork	the same, by vfork()
 *	exec	the same, by fork()
 *	behind	lives for more than a second, while this one's parent is stopped
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int dies;

/* Any call of libc would be traced. */
__attribute__((no_instrument_function)) static void in_child(void)
{
	if (dies)
		__builtin_trap();
}

static void child_of_fork(int ends)
{
	dies = ends;
	if (fork() == 0)
		_exit(0);
	wait(NULL);
}

static void child_of_spawn(char *program)
{
	char *const argv[] = {program, NULL};
	pid_t child;

	posix_spawn(&child, program, NULL, NULL, argv, environ);
	wait(NULL);
}

static void child_of_vfork(char *program)
{
	if (vfork() == 0) {
		execl(program, program, (char *)NULL);
		_exit(0);
	}
	wait(NULL);
}

static void child_of_exec(char *program)
{
	if (fork() == 0) {
		execl("/nowhere", program, (char *)NULL);
		execl(program, program, (char *)NULL);
		_exit(0);
	}
	wait(NULL);
}

/* What the listener's queue has no room for is turned away. */
static void children_behind(int count)
{
	const struct timespec long_enough = {.tv_sec = 1, .tv_nsec = 500000000};
	pid_t children[count];

	kill(getppid(), SIGSTOP);
	for (int i = 0; i < count; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			pause();
			_exit(0);
		}
	}
	nanosleep(&long_enough, NULL);
	for (int i = 0; i < count; i++)
		kill(children[i], SIGKILL);
	kill(getppid(), SIGCONT);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 3)
		return 2;
	pthread_atfork(NULL, NULL, in_child);
	for (int i = 0; i < count && strcmp(argv[1], "behind"); i++) {
		if (!strcmp(argv[1], "atfork"))
			child_of_fork(1);
		else if (!strcmp(argv[1], "spawn"))
			child_of_spawn(argv[3]);
		else if (!strcmp(argv[1], "vfork"))
			child_of_vfork(argv[3]);
		else if (!strcmp(argv[1], "exec"))
			child_of_exec(argv[3]);
	}
	if (!strcmp(argv[1], "behind"))
		children_behind(count);
	child_of_fork(0);
	return 0;
}
