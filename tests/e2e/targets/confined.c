/* SPDX-License-Identifier: MIT */
/*
 * confined HOW: takes away from itself what a tracer might still want, then goes on recording, and
 * prints "alive". HOW: seccomp (strict: read, write and exit alone), filter and filter-syscall (the same
 * by a filter that kills, installed in the two ways that there are), fds (closes every descriptor but
 * stdout), chroot (into the working directory), limits (no descriptor, no memory).
 * Compile with -finstrument-functions.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 5.9, which the headers may not know. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static __attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

static int filter(int by_syscall)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (by_syscall)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int confine(const char *how)
{
	static const struct rlimit none = {0, 0};

	if (strcmp(how, "seccomp") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (strncmp(how, "filter", 6) == 0)
		return filter(how[6] != 0);
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
