/* SPDX-License-Identifier: MIT */
/*
 * block CALL READY: enters CALL, which never returns, from wait_in() from main(). Creates the file
 * READY, with the pid in it, just before. Compile with -finstrument-functions.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int pipe_fds[2];

__attribute__((no_instrument_function)) static void *pause_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

__attribute__((no_instrument_function)) static void *lock_for_ever(void *locked)
{
	pthread_mutex_lock(&mutex);
	write(pipe_fds[1], "", 1);
	return pause_for_ever(locked);
}

static void block_in_read(void)
{
	char byte;

	read(pipe_fds[0], &byte, 1);
}

static void block_in_poll(void)
{
	struct pollfd item = {.fd = pipe_fds[0], .events = POLLIN};

	poll(&item, 1, -1);
}

static void block_in_nanosleep(void)
{
	const struct timespec day = {.tv_sec = 86400};

	nanosleep(&day, NULL);
}

static void block_in_cond(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&cond, &mutex);
}

static void block_in_mutex(void)
{
	pthread_mutex_lock(&mutex);
}

static void block_in_join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, pause_for_ever, NULL);
	pthread_join(thread, NULL);
}

static void block_in_waitpid(void)
{
	pid_t child = fork();

	if (child == 0)
		execlp("sleep", "sleep", "86400", (char *)NULL);
	waitpid(child, NULL, 0);
}

static const struct {
	const char *name;
	void (*function)(void);
} calls[] = {
    {"read", block_in_read},
    {"poll", block_in_poll},
    {"nanosleep", block_in_nanosleep},
    {"pthread_cond_wait", block_in_cond},
    {"pthread_mutex_lock", block_in_mutex},
    {"pthread_join", block_in_join},
    {"waitpid", block_in_waitpid},
};

static void say_ready(const char *path)
{
	char text[32];
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	snprintf(text, sizeof(text), "%d\n", getpid());
	write(fd, text, strlen(text));
	close(fd);
}

static void wait_in(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].name, name) == 0)
			calls[i].function();
	}
}

int main(int argc, char **argv)
{
	char byte;

	if (argc != 3 || pipe(pipe_fds) != 0)
		return 2;
	if (strcmp(argv[1], "pthread_mutex_lock") == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, lock_for_ever, NULL);
		read(pipe_fds[0], &byte, 1);
	}
	say_ready(argv[2]);
	wait_in(argv[1]);
	return 1;
}
