/* SPDX-License-Identifier: MIT */
/* counted start PROGRAM: the minor page faults of PROGRAM, from exec to its end. counted fork COUNT: those of a child that is
 * forked and ends, the median of COUNT of them. counted once: forks one such child. counted exec PROGRAM: becomes it.
 * counted: nothing at all. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_MAX 1001

static int by_size(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* `program` as a process of its own, without the faults of a fork; NULL: a child that ends at once. */
static pid_t child_start(const char *program)
{
	char *const args[] = {(char *)program, NULL};
	pid_t child;

	if (program)
		return posix_spawn(&child, program, NULL, NULL, args, environ) == 0 ? child : -1;
	child = fork();
	if (child == 0)
		_exit(0);
	return child;
}

static long faults(const char *program)
{
	pid_t child = child_start(program);
	struct rusage usage;

	if (child < 0 || wait4(child, NULL, 0, &usage) != child)
		exit(1);
	return usage.ru_minflt;
}

static long median(const char *program, int count)
{
	static long all[COUNT_MAX];

	for (int i = 0; i < count; i++)
		all[i] = faults(program);
	qsort(all, (size_t)count, sizeof all[0], by_size);
	return all[count / 2];
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "start") == 0)
		printf("%ld\n", median(argv[2], 11));
	else if (argc == 3 && strcmp(argv[1], "fork") == 0 && atoi(argv[2]) > 0 &&
		 atoi(argv[2]) <= COUNT_MAX)
		printf("%ld\n", median(NULL, atoi(argv[2])));
	else if (argc == 2 && strcmp(argv[1], "once") == 0)
		faults(NULL);
	else if (argc == 3 && strcmp(argv[1], "exec") == 0)
		execl(argv[2], argv[2], (char *)NULL);
	else if (argc > 1)
		return 2;
	return 0;
}
