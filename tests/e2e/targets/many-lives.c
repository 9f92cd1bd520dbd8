/* SPDX-License-Identifier: MIT */
/* A child that does nothing while so many others come and go, each as short as can be; then it makes seven calls, and ends. So does one that a thread
 * becomes by executing a program. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;

static int calls(void)
{
	for (int i = 0; i < 7; i++)
		syscall(SYS_getpriority, 0, 0);
	return 0;
}

static void *becomes(void *unused)
{
	execl(self, self, "calls", NULL);
	return unused;
}

/* Its first thread ends before the other becomes a program. */
static int child_becomes(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, becomes, NULL);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, ends[2];
	char go;
	pid_t idle, other;

	self = argv[0];
	if (argc > 1 && strcmp(argv[1], "calls") == 0)
		return calls();
	if (pipe(ends) < 0)
		return 1;
	idle = fork();
	if (idle == 0) {
		close(ends[1]);
		return read(ends[0], &go, 1) == 0 ? calls() : 1;
	}
	for (int i = 0; i < count; i++) {
		pid_t child = vfork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	other = fork();
	if (other == 0)
		return child_becomes();
	waitpid(other, NULL, 0);
	close(ends[1]);
	waitpid(idle, NULL, 0);
	return 0;
}
