/* SPDX-License-Identifier: MIT */
/* What a trace has to say in words: functions that are passed on, system calls by number, too deep a recursion, and an end
 * by a signal inside a call. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void on_signal(int sig)
{
	(void)sig;
}

static void *worker(void *arg)
{
	return arg;
}

static void __attribute__((noinline)) nest(int n)
{
	if (n)
		nest(n - 1);
	__asm__ volatile("" ::: "memory"); /* no jump */
}

int main(void)
{
	void *volatile block;
	pthread_t thread;
	int ends[2];
	char byte;

	signal(SIGUSR1, on_signal);
	if (pthread_create(&thread, NULL, worker, NULL) || pthread_join(thread, NULL))
		return 1;
	syscall(SYS_gettid);
	nest(600);
	nest(600);
	block = malloc(100);
	free(block);
	if (pipe(ends) || raise(SIGUSR1))
		return 1;
	alarm(1);
	return read(ends[0], &byte, 1) == 1;
}
