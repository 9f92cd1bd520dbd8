/* SPDX-License-Identifier: MIT */
/*
 * filtered HOW FILTER PROGRAM [ARG...]: installs a filter and starts PROGRAM in one of these ways.
 *
 *	HOW	execve, execvp, fexecve, execveat; vfork, fork: execve in a child; system: by a shell;
 *		within, beside: a child of vfork(), or of clone(), alone installs it, and another one starts PROGRAM
 *	FILTER	strict: kills for all but what a program takes that is linked statically and does next to nothing;
 *		alone: kills for what tracing asks for and programs that talk to nobody do not;
 *		errors: what tracing asks for and programs mostly do not, is EPERM;
 *		mute: sockets are EPERM;
 *		mild: kills for what nobody asks for, and for what tracing does where no filter is
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* glibc 2.34 has it first. */
#if !__GLIBC_PREREQ(2, 34)
#define execveat(...) ((int)syscall(SYS_execveat, __VA_ARGS__))
#endif

#define COUNT(a) (int)(sizeof(a) / sizeof(a)[0])

static const int strict[] = {
#ifdef SYS_vfork
    SYS_vfork,
#endif
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
    SYS_execve,
    SYS_execveat,
    SYS_clone,
    SYS_wait4,
    SYS_write,
    SYS_exit,
    SYS_exit_group,
    SYS_brk,
    SYS_mprotect,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_prlimit64,
    SYS_readlinkat,
    SYS_getrandom,
    SYS_uname,
};

static const int errors[] = {SYS_statx,	 SYS_memfd_create, SYS_membarrier,
			     SYS_tgkill, SYS_sigaltstack,  SYS_utimensat};

static const int alone[] = {SYS_socket, SYS_connect, SYS_memfd_create, SYS_membarrier};

static const int mute[] = {SYS_socket, SYS_connect};

static const int mild[] = {
#ifdef SYS_close_range
    SYS_close_range,
#endif
    SYS_ptrace,
    SYS_reboot,
};

static int filter_install(const int *calls, int count, unsigned listed, unsigned others)
{
	struct sock_filter code[40] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {(unsigned short)(count + 3), code};

	for (int i = 0; i < count; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned)calls[i], count - i, 0);
	code[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	code[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int confine(const char *filter)
{
	if (strcmp(filter, "strict") == 0)
		return filter_install(strict, COUNT(strict), SECCOMP_RET_ALLOW,
				      SECCOMP_RET_KILL_PROCESS);
	if (strcmp(filter, "alone") == 0)
		return filter_install(alone, COUNT(alone), SECCOMP_RET_KILL_PROCESS,
				      SECCOMP_RET_ALLOW);
	if (strcmp(filter, "errors") == 0)
		return filter_install(errors, COUNT(errors), SECCOMP_RET_ERRNO | EPERM,
				      SECCOMP_RET_ALLOW);
	if (strcmp(filter, "mute") == 0)
		return filter_install(mute, COUNT(mute), SECCOMP_RET_ERRNO | EPERM,
				      SECCOMP_RET_ALLOW);
	return filter_install(mild, COUNT(mild), SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW);
}

static char *filter;

static int child_confined(void *unused)
{
	char *const args[] = {"true", NULL};

	(void)unused;
	if (confine(filter) != 0)
		_exit(77);
	execve("/bin/true", args, environ);
	_exit(98);
}

/* 0: it has ended well. */
static int child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		;
	return status;
}

/* The parent is as before. */
static int confine_child(const char *how)
{
	static char stack[256 << 10] __attribute__((aligned(16)));
	pid_t pid;

	if (strcmp(how, "beside") == 0)
		return child_wait(clone(child_confined, stack + sizeof(stack),
					CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
	pid = vfork();
	if (pid == 0)
		child_confined(NULL);
	return child_wait(pid);
}

int main(int argc, char **argv)
{
	char **args = argv + 3;
	int fd, status;
	pid_t pid = 0;

	if (argc < 4)
		return 99;
	fd = open(args[0], O_RDONLY | O_CLOEXEC);
	filter = argv[2];
	if (strcmp(argv[1], "within") == 0 || strcmp(argv[1], "beside") == 0) {
		if (confine_child(argv[1]) != 0)
			return 77;
		pid = fork();
	} else if (confine(filter) != 0) {
		return 77;
	}
	if (strcmp(argv[1], "execvp") == 0)
		execvp(args[0], args);
	else if (strcmp(argv[1], "fexecve") == 0)
		fexecve(fd, args, environ);
	else if (strcmp(argv[1], "execveat") == 0)
		execveat(AT_FDCWD, args[0], args, environ, 0);
	else if (strcmp(argv[1], "system") == 0)
		_exit(WEXITSTATUS(system(args[0])));
	else if (strcmp(argv[1], "vfork") == 0)
		pid = vfork();
	else if (strcmp(argv[1], "fork") == 0)
		pid = (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
	if (pid == 0) {
		execve(args[0], args, environ);
		_exit(98);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
}
