/* SPDX-License-Identifier: MIT */
/* Becomes `executes done WAY' in the way that its argument names; executes.sh looks at the trace. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "./executes"

/* glibc 2.34 has it first. */
#if !__GLIBC_PREREQ(2, 34)
static int execveat(int folder, const char *path, char *const argv[], char *const env[], int flags)
{
	return (int)syscall(SYS_execveat, folder, path, argv, env, flags);
}
#endif

extern char **environ;

/* A pointer that nobody may follow; the compiler does not see that. */
static void *volatile nowhere = (void *)8;

/* The end of the last page that can be read. */
static char *end_of_memory(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 4096, 4096);
	return p + 4096;
}

static void expect(int want)
{
	if (errno == want)
		return;
	printf("errno %d instead of %d\n", errno, want);
	exit(1);
}

static void failing(char **args)
{
	char *end = end_of_memory(), *bad[] = {args[0], end - 3, NULL};

	execvp("no-such-command", args);
	expect(ENOENT);
	execve("./missing", args, environ);
	expect(ENOENT);
	execv("/", args);
	expect(EACCES);
	execv(nowhere, args);
	expect(EFAULT);
	execv(SELF, nowhere);
	expect(EFAULT);
	memcpy(end - 3, "end", 3);
	execv(SELF, bad);
	expect(EFAULT);
	fexecve(-1, args, environ);
	expect(EINVAL);
	execveat(AT_FDCWD, "./missing", args, environ, 0);
	expect(ENOENT);
	execv(SELF, args);
}

static void many(void)
{
	char *args[302] = {"executes", "done"};

	for (int i = 2; i < 301; i++)
		args[i] = "argument";
	execv(SELF, args);
}

static void in_vfork(char **args)
{
	pid_t child = vfork();

	if (child == 0) {
		execv("./missing", args);
		execv(SELF, args);
		_exit(9);
	}
	waitpid(child, NULL, 0);
	child = vfork();
	if (child == 0) {
		execv("./missing", args);
		_exit(9);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	char *args[] = {"executes", "done", argv[1], NULL};

	if (strcmp(way, "done") == 0)
		return 0;
	setenv("PATH", "/nonexistent:.", 1);
	if (strcmp(way, "execv") == 0)
		execv(SELF, args);
	else if (strcmp(way, "execve") == 0)
		execve(SELF, args, environ);
	else if (strcmp(way, "execvp") == 0)
		execvp("executes", args);
	else if (strcmp(way, "execvpe") == 0)
		execvpe("executes", args, environ);
	else if (strcmp(way, "execl") == 0)
		execl(SELF, "executes", "done", way, (char *)NULL);
	else if (strcmp(way, "execlp") == 0)
		execlp("executes", "executes", "done", way, (char *)NULL);
	else if (strcmp(way, "execle") == 0)
		execle(SELF, "executes", "done", way, (char *)NULL, environ);
	else if (strcmp(way, "fexecve") == 0)
		fexecve(open(SELF, O_RDONLY | O_CLOEXEC), args, environ);
	else if (strcmp(way, "execveat") == 0)
		execveat(open(".", O_RDONLY | O_CLOEXEC), "executes", args, environ, 0);
	else if (strcmp(way, "empty-path") == 0)
		execveat(open(SELF, O_RDONLY | O_CLOEXEC), "", args, environ, AT_EMPTY_PATH);
	else if (strcmp(way, "failing") == 0)
		failing(args);
	else if (strcmp(way, "many") == 0)
		many();
	else if (strcmp(way, "vfork") == 0)
		in_vfork(args);
	return strcmp(way, "vfork") != 0;
}
