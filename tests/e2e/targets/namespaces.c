/* SPDX-License-Identifier: MIT */
/* What only a process of one thread may do, and what counts all of its memory; prints the results. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t deaths;

static void died(int signal)
{
	(void)signal;
	deaths++;
}

static void print(const char *what, int result)
{
	int error = errno;

	printf("%s: %d %s\n", what, result, result < 0 ? strerror(error) : "");
}

int main(void)
{
	struct sigaction action = {.sa_handler = died};

	sigaction(SIGCHLD, &action, NULL);
	print("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE));
	open("/no/such/locked", O_RDONLY);
	print("munlockall", munlockall());
	print("user namespace", unshare(CLONE_NEWUSER));
	print("mount namespace", unshare(CLONE_NEWNS));
	print("a group of its own", setsid() > 0);
	usleep(100000);
	print("children", wait(NULL));
	print("deaths", deaths);
	if (fork() == 0)
		_exit(0);
	while (deaths == 0)
		usleep(1000);
	print("child", wait(NULL) > 0);
	print("deaths", deaths);
	return 0;
}
