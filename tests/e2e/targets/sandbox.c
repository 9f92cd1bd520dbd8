/* SPDX-License-Identifier: MIT */
/*
 * sandbox HOW N: installs a filter that kills for all but a few system calls, then has N children, one by one, by
 * fork(), by a clone system call of its own (raw), or by fork() with a child of theirs each (nested). All of them call
 * in_child(). Says how many lived. Compile with -finstrument-functions.
 * HOW calls: N calls of in_child() instead.
 * HOW threads: N threads instead, ten at a time, that call in_thread() 100 times each and use no memory of malloc()'s.
 * Says which numbers the kernel has given them.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
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

static __attribute__((noinline)) void in_thread(void)
{
	__asm__ volatile("");
}

/* What libc's fork(), wait and exit need. */
static const int for_children[] = {
#ifdef SYS_fork
    SYS_fork,
#endif
    SYS_clone,	    SYS_wait4,	      SYS_write,	  SYS_exit,
    SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_set_robust_list,
};

/* And its threads, as long as none of them needs memory. */
static const int for_threads[] = {
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
    SYS_clone,
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_madvise,
    SYS_futex,
    SYS_write,
    SYS_exit,
    SYS_exit_group,
    SYS_brk,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_set_robust_list,
    SYS_rt_sigaction, /* and, the first time, */
    SYS_getrandom,
};

static HIDDEN int filter_install(const int *allowed, int count)
{
	struct sock_filter code[32] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {count + 3, code};

	for (int i = 0; i < count; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							   count - i, 0);
	code[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { MANY = 10 }; /* more than there are arenas of malloc() before that counts processors */
static pthread_barrier_t all;

/* A mutex that can be locked twice knows who has it, without asking the kernel. */
static HIDDEN void *thread(void *number)
{
	pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	pthread_mutex_lock(&mutex);
	*(int *)number = mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 100; i++)
		in_thread();
	pthread_barrier_wait(&all);
	return NULL;
}

static HIDDEN void threads_run(int threads)
{
	enum {
		MANY = 10
	}; /* more than there are arenas of malloc() before that counts processors */
	pthread_t running[MANY];
	int numbers[MANY];
	char text[16];

	pthread_barrier_init(&all, NULL, MANY);
	for (int i = 0; i < threads; i += MANY) {
		for (int k = 0; k < MANY; k++)
			if (pthread_create(&running[k], NULL, thread, &numbers[k]) != 0)
				_exit(5);
		for (int k = 0; k < MANY; k++) {
			pthread_join(running[k], NULL);
			write(1, text, (size_t)sprintf(text, "%d\n", numbers[k]));
		}
	}
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
	if (children && strcmp(argv[1], "threads") == 0) {
		if (filter_install(for_threads, sizeof for_threads / sizeof *for_threads) != 0)
			return 77;
		threads_run(children);
		in_parent();
		_exit(0);
	}
	if (!children ||
	    filter_install(for_children, sizeof for_children / sizeof *for_children) != 0)
		return 77;
	for (int i = 0; i < children && strcmp(argv[1], "calls") == 0; i++)
		in_child();
	for (int i = 0; i < children && strcmp(argv[1], "calls") != 0; i++) {
		in_parent();
		if (child_lives(strcmp(argv[1], "raw") == 0, strcmp(argv[1], "nested") == 0))
			write(1, "alive\n", 6);
		else
			write(1, "dead\n", 5);
	}
	in_parent();
	_exit(0);
}
