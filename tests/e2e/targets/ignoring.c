/* SPDX-License-Identifier: MIT */
/* Becomes a program that ignores the two signals which libc keeps to itself, as all do that posix_spawn() has started. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	/* As the kernel has it: the handler comes first. */
	const uint64_t ignore[4] = {(uint64_t)(uintptr_t)SIG_IGN};

	for (int number = 32; number <= 33; number++) {
		if (syscall(SYS_rt_sigaction, number, ignore, NULL, 8) != 0)
			perror("rt_sigaction");
	}
	if (argc > 1)
		execvp(argv[1], argv + 1);
	perror("ignoring");
	return 127;
}
