/* SPDX-License-Identifier: MIT */
/* hasty N: N children that wait, and are killed one after the other, ever later in their lives. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0;

	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0)
			pause();
		usleep((unsigned)i * 10);
		kill(child, SIGKILL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
