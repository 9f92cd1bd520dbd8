/* SPDX-License-Identifier: MIT */
/*
 * How deep the stack below main() was written by what has run so far: its own pages are zero when a program begins, and are
 * made so again before each step. Prints `STEP: BYTES' for each.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, no_instrument_function))

static char maps[1 << 20];
static uintptr_t lowest; /* of the stack, as far as it is mapped */
static struct {
	const char *name;
	long bytes;
} steps[16];
static unsigned n_steps;

/* Where the stack's mapping begins, by what the kernel says. */
static APART void stack_find(uintptr_t here)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t n, length = 0;

	while ((n = read(fd, maps + length, sizeof(maps) - 1 - length)) > 0)
		length += n;
	close(fd);
	for (char *line = maps; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		char *end;
		uintptr_t from = strtoul(line, &end, 16), to = strtoul(end + 1, NULL, 16);

		if (from <= here && here < to)
			lowest = from;
	}
}

/* The bytes between `here` and the deepest that is not zero. */
static APART long stack_depth(uintptr_t here)
{
	const volatile long *at = (const volatile long *)lowest;

	while ((uintptr_t)at < here && !*at)
		at++;
	return (long)(here - (uintptr_t)at);
}

/* Makes all below its own frame zero. */
static APART void stack_clear(void)
{
	volatile long *at = (volatile long *)lowest;
	volatile long *end = (volatile long *)((uintptr_t)__builtin_frame_address(0) - 256);

	while (at < end)
		*at++ = 0;
}

static APART void step_ends(const char *name, uintptr_t here)
{
	steps[n_steps].bytes = stack_depth(here);
	steps[n_steps++].name = name;
	stack_clear();
}

__attribute__((noinline)) static void function(void)
{
	__asm__ volatile("");
}

static void *thread(void *opaque)
{
	function();
	return opaque;
}

APART int main(int argc, char **argv)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0) - 512;
	char *nothing[] = {(char *)"./nothing", NULL};
	extern char **environ;
	pthread_t made;
	int to[2];
	pid_t pid;

	(void)argc;
	(void)argv;
	stack_find(here);
	step_ends("start", here);
	function();
	step_ends("function", here);
	close(open("/dev/null", O_RDONLY));
	step_ends("open", here);
	errno = execve("./nothing", nothing, environ) == -1 ? errno : 0;
	step_ends("exec", here);
	errno = execvp("nothing-of-path", nothing) == -1 ? errno : 0;
	step_ends("exec by name", here);
	errno = fexecve(1, nothing, environ) == -1 ? errno : 0;
	step_ends("exec by descriptor", here);
	if (pipe(to) < 0)
		return 1;
	stack_clear();
	pid = fork();
	if (pid == 0) {
		long child;

		function();
		child = stack_depth(here);
		_exit(write(to[1], &child, sizeof(child)) != sizeof(child));
	}
	waitpid(pid, NULL, 0);
	step_ends("fork", here);
	if (read(to[0], &steps[n_steps].bytes, sizeof(steps->bytes)) != sizeof(steps->bytes))
		return 1;
	steps[n_steps++].name = "child";
	stack_clear();
	if (posix_spawn(&pid, "./nothing", NULL, NULL, nothing, environ) == 0)
		waitpid(pid, NULL, 0);
	step_ends("spawn", here);
	if (posix_spawnp(&pid, "nothing-of-path", NULL, NULL, nothing, environ) == 0)
		waitpid(pid, NULL, 0);
	step_ends("spawn by name", here);
	if (pthread_create(&made, NULL, thread, NULL) == 0)
		pthread_join(made, NULL);
	step_ends("thread", here);
	for (unsigned i = 0; i < n_steps; i++)
		printf("%s: %ld\n", steps[i].name, steps[i].bytes);
	return 0;
}
