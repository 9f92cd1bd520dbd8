/* SPDX-License-Identifier: MIT */
/* Blocks in read() until it is killed. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int fds[2];
	char c;

	if (pipe(fds) != 0)
		return 1;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	return read(fds[0], &c, 1) == 1;
}
