/* SPDX-License-Identifier: MIT */
/* first PROGRAM [ARGUMENT...]: runs it step by step and prints each address in libfxtrace.so that it or a child came to, as an
 * offset from the library's begin, one a line. */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__aarch64__)
#define PLACE pc
#else
#define PLACE rip
#endif

#define CODE_MAX 0x400000u
#define LOOKS	 64u /* steps between two looks for the library, before it is there */
#define CHILDREN                                                                                   \
	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

static unsigned char seen[CODE_MAX];

/* Where the library lies in a process; 0: nowhere. */
static unsigned long library_of(pid_t pid)
{
	char line[4096];
	unsigned long base = 0;
	FILE *maps;

	snprintf(line, sizeof line, "/proc/%d/maps", (int)pid);
	maps = fopen(line, "r");
	while (maps && !base && fgets(line, sizeof line, maps))
		if (strstr(line, "/libfxtrace.so"))
			base = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	return base;
}

/* One process steps at a time; of several, each has the library where the newest has it, but after an exec. */
static void step_all(pid_t first)
{
	unsigned long base = 0, steps = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct user_regs_struct regs;
		struct iovec iov = {&regs, sizeof regs};
		int signal = WSTOPSIG(status);

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid == first)
				return;
			continue;
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			base = 0;
		if (!base && steps++ % LOOKS == 0)
			base = library_of(pid);
		if (base && ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) == 0 &&
		    regs.PLACE - base < CODE_MAX)
			seen[regs.PLACE - base] = 1;
		if (signal == SIGTRAP || signal == SIGSTOP)
			signal = 0;
		ptrace(PTRACE_SINGLESTEP, pid, NULL, signal);
	}
}

int main(int argc, char **argv)
{
	pid_t child;
	int status;

	if (argc < 2)
		return 2;
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, CHILDREN) != 0) {
		perror("first");
		return 1;
	}
	ptrace(PTRACE_CONT, child, NULL, 0);
	step_all(child);
	for (unsigned long i = 0; i < CODE_MAX; i++)
		if (seen[i])
			printf("%lx\n", i);
	return 0;
}
