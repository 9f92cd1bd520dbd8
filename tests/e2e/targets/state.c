/* SPDX-License-Identifier: MIT */
/*
 * state: prints all of the process that a tracer could have left its marks on, at the start of
 * main() and again after some work of every kind. Two runs print the same.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_entries(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	printf("%s: %d\n", path, count);
	if (dir)
		closedir(dir);
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0)
			printf("fd %d: flags %#x, status %#x\n", fd, flags, fcntl(fd, F_GETFL));
	}
}

/* Not FDSize, which tells of the descriptors that the forking parent had. */
static void print_status(void)
{
	static const char *const keys[] = {
	    "Umask:",  "State:",  "TracerPid:", "Threads:", "SigPnd:",	   "ShdPnd:", "SigBlk:",
	    "SigIgn:", "SigCgt:", "CapEff:",	"CapBnd:",  "NoNewPrivs:", "Seccomp:"};
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			if (strncmp(line, keys[i], strlen(keys[i])) == 0)
				fputs(line, stdout);
		}
	}
	if (file)
		fclose(file);
}

static void print_limits(void)
{
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit limit;

		if (getrlimit(i, &limit) == 0)
			printf("limit %d: %lld %lld\n", i, (long long)limit.rlim_cur,
			       (long long)limit.rlim_max);
	}
}

static void print_signals(void)
{
	stack_t stack;

	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
			printf("signal %d: handled\n", i);
	}
	if (sigaltstack(NULL, &stack) == 0)
		printf("alternate stack: flags %#x\n", stack.ss_flags);
}

static void print_timers(void)
{
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		struct itimerval timer;

		if (getitimer(which, &timer) == 0)
			printf("timer %d: %ld %ld\n", which, (long)timer.it_value.tv_sec,
			       (long)timer.it_interval.tv_sec);
	}
}

static void print_place(void)
{
	char cwd[4096], name[16];

	if (getcwd(cwd, sizeof(cwd)))
		puts(cwd);
	prctl(PR_GET_NAME, name);
	printf("name %s, session %d, group %d\n", name, getsid(0), getpgrp());
	printf("dumpable %d, keep caps %d, nice %d\n", prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_KEEPCAPS), getpriority(PRIO_PROCESS, 0));
}

/* No child that is not our own. */
static void print_children(void)
{
	int status, result = wait(&status);

	printf("wait: %d %s\n", result, strerror(errno));
	result = waitpid(-1, &status, __WALL);
	printf("waitpid: %d %s\n", result, strerror(errno));
}

static void print_all(const char *when)
{
	puts(when);
	print_entries("/proc/self/task");
	print_descriptors();
	print_status();
	print_limits();
	print_signals();
	print_timers();
	print_place();
	print_children();
}

static void *thread_main(void *value)
{
	free(malloc(1000));
	return value;
}

static void work(void)
{
	pthread_t thread;
	int fds[2];
	char byte;

	if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
		pthread_join(thread, NULL);
	if (pipe(fds) == 0 && write(fds[1], "", 1) == 1 && read(fds[0], &byte, 1) == 1) {
		close(fds[0]);
		close(fds[1]);
	}
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	/* Each CPU has an arena of its own to make. */
	free(malloc(1 << 20));
}

int main(void)
{
	print_all("start");
	work();
	print_all("end");
	return 0;
}
