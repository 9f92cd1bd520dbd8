/* SPDX-License-Identifier: MIT */
/* Calls that signals interrupt, with and without SA_RESTART; and wrapped calls made by a handler that
 * interrupts wrapped calls, thousands of times. */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int pipes[2], null_fd;
static volatile sig_atomic_t handled;
static sem_t semaphore;

static void note(int sig)
{
	(void)sig;
	handled++;
}

static void feed(int sig)
{
	int saved = errno;

	(void)sig;
	/* The second one lets the restarted read end. */
	if (++handled == 2 && write(pipes[1], "x", 1) != 1)
		_exit(3);
	errno = saved;
}

static void busy(int sig)
{
	int saved = errno, fd;

	(void)sig;
	handled++;
	fd = open("/dev/null", O_RDONLY);
	if (fd < 0 || write(null_fd, "y", 1) != 1 || close(fd) != 0 || close(-1) != -1)
		_exit(4);
	sem_post(&semaphore);
	errno = saved;
}

static void on_alarm(void (*handler)(int), int flags, long interval_us)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval t = {{0, interval_us}, {0, interval_us}};

	handled = 0;
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void off(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}

static void interrupted(void)
{
	struct timespec rest = {0, 0};
	char c = 0;
	long ret;

	on_alarm(note, 0, 20000);
	ret = read(pipes[0], &c, 1);
	printf("read: %ld %s\n", ret, ret < 0 ? strerror(errno) : "");
	off();
	on_alarm(feed, SA_RESTART, 20000);
	ret = read(pipes[0], &c, 1);
	off();
	printf("read with SA_RESTART: %ld %c, handled %d\n", ret, c, handled >= 2);
	on_alarm(note, 0, 20000);
	ret = nanosleep(&(struct timespec){100, 0}, &rest);
	off();
	printf("nanosleep: %ld %s, rest %d\n", ret, strerror(errno), rest.tv_sec > 0);
	on_alarm(note, 0, 20000);
	printf("clock_nanosleep: %d\n",
	       clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){100, 0}, NULL));
	off();
}

static void storm(void)
{
	unsigned bad = 0;
	char c = 'z';

	on_alarm(busy, SA_RESTART, 100);
	for (int i = 0; i < 200000; i++) {
		errno = 99;
		bad += write(null_fd, &c, 1) != 1;
		bad += errno != 99;
		bad += pread(-1, &c, 1, 0) != -1;
		bad += errno != EBADF;
		free(malloc((size_t)i % 5000));
	}
	off();
	printf("storm: handled %d, bad %u\n", handled > 10, bad);
}

int main(void)
{
	if (pipe(pipes) != 0)
		return 1;
	null_fd = open("/dev/null", O_WRONLY);
	sem_init(&semaphore, 0, 0);
	interrupted();
	storm();
	return 0;
}
