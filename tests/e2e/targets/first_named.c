/* SPDX-License-Identifier: MIT */
/* Prints its number and what the kernel calls its first thread, a line each process:
 *	named say	as it is called
 *	named rename	renamed before all else
 *	named fork	and a child, and one of a thread that was renamed, and one that renames itself
 *	named execute	another program, by a descriptor
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(void)
{
	char name[16] = "", line[64];

	prctl(PR_GET_NAME, name);
	snprintf(line, sizeof line, "%d %s\n", getpid(), name);
	write(1, line, strlen(line));
}

static void child(const char *name)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (name)
			prctl(PR_SET_NAME, name);
		say();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	char *const arguments[] = {"called", "say", NULL};
	const char *how = argc > 1 ? argv[1] : "say";

	if (strcmp(how, "rename") == 0)
		prctl(PR_SET_NAME, "renamed");
	if (strcmp(how, "execute") == 0)
		fexecve(open("/proc/self/exe", O_RDONLY), arguments, environ);
	if (strcmp(how, "fork") == 0) {
		child(NULL);
		prctl(PR_SET_NAME, "a parent");
		child(NULL);
		child("a child");
	}
	say();
	exit(0); /* an event, whatever is recorded */
}
