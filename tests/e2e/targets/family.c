/* SPDX-License-Identifier: MIT */
/*
 * family: a thread, and a child that takes a signal; each says what the mounted /proc calls it, as PID/task/TID. Compile
 * with -finstrument-functions.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void say(const char *who)
{
	char link[64];
	ssize_t n = readlink("/proc/thread-self", link, sizeof(link) - 1);

	if (n < 0)
		exit(1);
	link[n] = 0;
	printf("%s %s\n", who, link);
	fflush(stdout);
}

static pthread_barrier_t said;

static __attribute__((noinline)) void *in_thread(void *unused)
{
	say("thread");
	pthread_barrier_wait(&said);
	/* long enough for the manager to ask the kernel for it */
	usleep(300000);
	return unused;
}

static __attribute__((noinline)) void in_child(const sigset_t *set)
{
	say("child");
	sigwaitinfo(set, NULL);
}

int main(void)
{
	pthread_t thread;
	sigset_t set;
	pid_t child;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	say("main");
	pthread_barrier_init(&said, NULL, 2);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_barrier_wait(&said);
	child = fork();
	if (child == 0) {
		in_child(&set);
		exit(3);
	}
	kill(child, SIGUSR1);
	waitpid(child, NULL, 0);
	pthread_join(thread, NULL);
	return 0;
}
