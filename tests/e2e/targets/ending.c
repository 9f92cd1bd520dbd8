/* SPDX-License-Identifier: MIT */
/*
 * ending HOW [PROGRAM ARG...]: ends from within inner() from outer() from main(), after three
 * finished calls of done(). Compile with -finstrument-functions.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void done(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void inner(char **argv)
{
	const char *how = argv[1];

	if (strcmp(how, "segv") == 0)
		*(volatile int *)8 = 1;
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "_exit") == 0)
		_exit(7);
	else if (strcmp(how, "exit") == 0)
		exit(7);
	else if (strcmp(how, "exec") == 0)
		execvp(argv[2], argv + 2);
	else if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(how, "raise") == 0)
		raise(atoi(argv[2]));
}

static __attribute__((noinline)) void outer(char **argv)
{
	for (int i = 0; i < 3; i++)
		done();
	inner(argv);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	outer(argv);
	return 99;
}
