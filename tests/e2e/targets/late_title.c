/* SPDX-License-Identifier: MIT */
/*
 * late_title WAY TITLE: writes TITLE over its arguments, ends at once by the WAY:
 * return, exit, _exit, quick_exit, or fork, in whose child the same is done, which then calls _exit(); by unmap it ends,
 * by exit(), on another stack, when there is no first one any more.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void become(char **argv, int argc)
{
	static char title[200];
	size_t room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);

	strncpy(title, argv[2], sizeof(title) - 1);
	memset(argv[0], 0, room);
	strncpy(argv[0], title, room);
}

static uintptr_t first_stack, first_stack_end;

static void unmap_and_exit(void)
{
	munmap((void *)first_stack, first_stack_end - first_stack);
	exit(0);
}

static void leave_the_first_stack(void)
{
	static char stack[1 << 16], line[512];
	static ucontext_t there, here;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]"))
			sscanf(line, "%lx-%lx", &first_stack, &first_stack_end);
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, unmap_and_exit, 0);
	swapcontext(&here, &there);
}

int main(int argc, char **argv)
{
	static char way[20];

	strncpy(way, argv[1], sizeof(way) - 1);
	if (strcmp(way, "fork") == 0 && fork() != 0) {
		wait(NULL);
		return 0;
	}
	become(argv, argc);
	if (strcmp(way, "unmap") == 0)
		leave_the_first_stack();
	if (strcmp(way, "exit") == 0)
		exit(0);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(way, "_exit") == 0 || strcmp(way, "fork") == 0)
		_exit(0);
	return 0;
}
