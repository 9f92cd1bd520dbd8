/* SPDX-License-Identifier: MIT */
/* A bit of everything, the same each time: what it makes a picture of must look alike on every machine. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((no_instrument_function))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int tid;
static jmp_buf place;

/* Where threads sleep for an emulator's reasons too, they do not for long. Raw calls are left out of the picture. */
static HIDDEN int is_asleep(void)
{
	struct timespec moment = {0, 1000000};
	char path[64], text[512], *end;
	long fd, n;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	syscall(SYS_nanosleep, &moment, NULL);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	n = syscall(SYS_read, fd, text, sizeof text - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static __attribute__((noinline)) int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) void leave(int depth)
{
	if (depth)
		leave(depth - 1);
	longjmp(place, 1);
}

static __attribute__((noinline)) void jump(void)
{
	if (setjmp(place) == 0)
		leave(2);
	fibonacci(1);
}

static void *waits(void *pipe)
{
	char byte;

	tid = (int)syscall(SYS_gettid);
	pthread_mutex_lock(&lock);
	fibonacci(2);
	pthread_mutex_unlock(&lock);
	read(*(int *)pipe, &byte, 1);
	return NULL;
}

static __attribute__((noinline)) void threads(void)
{
	pthread_t thread;
	int ends[2];

	pipe(ends);
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, waits, ends);
	for (int looks = 0; looks < 50; looks++)
		if (!tid || !is_asleep())
			looks = 0;
	pthread_mutex_unlock(&lock);
	write(ends[1], "x", 1);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

static __attribute__((noinline)) int in_child(void)
{
	return fibonacci(3);
}

static __attribute__((noinline)) void children(char *program)
{
	char *argv[] = {program, "again", NULL};
	pid_t pid = fork();

	if (pid == 0)
		_exit(in_child());
	waitpid(pid, NULL, 0);
	pid = fork();
	if (pid == 0) {
		execv(program, argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return fibonacci(2);
	fibonacci(4);
	jump();
	threads();
	children(argv[0]);
	open("/nonexistent", O_RDONLY);
	return 0;
}
