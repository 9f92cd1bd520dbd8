/* SPDX-License-Identifier: MIT */
/*
 * sandbox HOW N: installs a filter that kills for all but a few system calls, then has N children, one by one, by
 * fork(), by a clone system call of its own (raw), or by fork() with a child of theirs each (nested). All of them call
 * in_child(). Says how many lived. Compile with -finstrument-functions.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))

static __attribute__((noinline)) void in_child(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline)) void in_parent(void)
{
	__asm__ volatile("");
}

static HIDDEN int filter_install(void)
{
	/* What libc's fork(), wait and exit need. */
	static const int allowed[] = {
#ifdef SYS_fork
	    SYS_fork,
#endif
	    SYS_clone,	    SYS_wait4,	      SYS_write,	  SYS_exit,
	    SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_set_robust_list,
	};
	enum { ALLOWED = sizeof allowed / sizeof *allowed };
	struct sock_filter code[ALLOWED + 3] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {ALLOWED + 3, code};

	for (int i = 0; i < ALLOWED; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							   ALLOWED - i, 0);
	code[ALLOWED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[ALLOWED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Whether a child lived; with `deeper`, and a child of its own. */
static HIDDEN int child_lives(int raw, int deeper)
{
	int status = 0;
	long pid = raw ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid == 0) {
		for (int i = 0; i < 10; i++)
			in_child();
		_exit(deeper && !child_lives(raw, 0) ? 3 : 4);
	}
	return pid > 0 && waitpid((pid_t)pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 4;
}

HIDDEN int main(int argc, char **argv)
{
	int children = argc == 3 ? atoi(argv[2]) : 0;

	in_parent();
	if (!children || filter_install() != 0)
		return 77;
	for (int i = 0; i < children; i++) {
		in_parent();
		if (child_lives(strcmp(argv[1], "raw") == 0, strcmp(argv[1], "nested") == 0))
			write(1, "alive\n", 6);
		else
			write(1, "dead\n", 5);
	}
	in_parent();
	_exit(0);
}
