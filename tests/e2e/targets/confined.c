/* SPDX-License-Identifier: MIT */
/*
 * confined HOW: takes away from itself what a tracer might still want, then goes on recording, and
 * prints "alive". HOW: seccomp (strict: read, write and exit alone), fds (closes every descriptor but
 * stdout), chroot (into the working directory), limits (no descriptor, no memory).
 * Compile with -finstrument-functions.
 */
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

static int confine(const char *how)
{
	static const struct rlimit none = {0, 0};

	if (strcmp(how, "seccomp") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (strcmp(how, "chroot") == 0)
		return chroot(".");
	if (strcmp(how, "limits") == 0)
		return setrlimit(RLIMIT_NOFILE, &none) | setrlimit(RLIMIT_AS, &none);
	if (strcmp(how, "fds") == 0)
		return (int)syscall(SYS_close_range, 3, ~0u, 0) | close(0) | close(2);
	return -1;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	work();
	if (confine(argv[1]) != 0)
		return 77;
	for (int i = 0; i < 100000; i++)
		work();
	write(1, "alive\n", 6);
	/* Strict seccomp forbids exit_group(). */
	syscall(SYS_exit, 0);
	return 1;
}
