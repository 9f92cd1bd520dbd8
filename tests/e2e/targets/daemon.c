/* SPDX-License-Identifier: MIT */
/*
 * daemon HOW: a daemon of the old school. Leaves its terminal by two forks, closes every descriptor but
 * the one that it reports on (HOW: loop, closefrom, close_range), opens others in their place, and works.
 * Prints what it found.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc 2.34 has both first. */
#if !__GLIBC_PREREQ(2, 34)
#define closefrom(first)		abort()
#define close_range(first, last, flags) abort()
#endif

static void close_all(const char *how)
{
	if (strcmp(how, "loop") == 0) {
		for (int fd = 2; fd < 4096; fd++)
			close(fd);
	} else if (strcmp(how, "closefrom") == 0) {
		closefrom(2);
	} else {
		close_range(2, ~0u, 0);
	}
}

static void work(const char *how)
{
	int status, wrong = 0;
	char text[64];

	close_all(how);
	for (int fd = 2; fd < 40; fd++)
		wrong += open("/dev/null", O_RDWR) != fd;
	for (int fd = 2; fd < 40; fd++)
		wrong += write(fd, "x", 1) != 1;
	if (fork() == 0) {
		close_all(how);
		_exit(open("/no/such/child", O_RDONLY) == -1 ? 5 : 6);
	}
	wait(&status);
	snprintf(text, sizeof(text), "wrong %d, child %d\n", wrong, WEXITSTATUS(status));
	write(1, text, strlen(text));
	open("/no/such/daemon", O_RDONLY);
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 2)
		return 2;
	if (fork() == 0) {
		setsid();
		if (fork() != 0) {
			wait(&status);
			_exit(0);
		}
		umask(0);
		(void)!chdir("/");
		work(argv[1]);
		_exit(0);
	}
	wait(&status);
	return WEXITSTATUS(status);
}
