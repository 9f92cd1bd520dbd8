/* SPDX-License-Identifier: MIT */
/*
 * Threads in all the states that one may be met in by what attaches to a running program. Each looks whether its own work comes out
 * right, whatever is done to the process. Its lines go to standard output at SIGTERM: "ok COUNT", or what was wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_over;
static atomic_ulong done;
static atomic_int wrongs;
static char wrong_text[256];

static void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (atomic_fetch_add(&wrongs, 1) == 0)
		vsnprintf(wrong_text, sizeof(wrong_text), format, args);
	va_end(args);
}

static void *compute(void *unused)
{
	(void)unused;
	while (!is_over) {
		/* In registers for vectors and numbers with a point all the time. */
		double sum = 0, products[8];
		unsigned long hash = 5381;

		for (int k = 0; k < 8; k++)
			products[k] = 1;
		for (int i = 1; i <= 2000000; i++) {
			sum += 1.0 / i;
			hash = hash * 33 + (unsigned long)i;
			for (int k = 0; k < 8; k++)
				products[k] = products[k] * 1.0000001 + k;
		}
		static double sum_first;
		static unsigned long hash_first;
		static double products_first;
		double all = 0;

		for (int k = 0; k < 8; k++)
			all += products[k];
		if (!sum_first) {
			sum_first = sum;
			hash_first = hash;
			products_first = all;
		}
		if (sum != sum_first || hash != hash_first || all != products_first)
			wrong("a result differs: %.17g %lu %.17g", sum, hash, all);
		done++;
	}
	return NULL;
}

static void *allocate(void *seed)
{
	unsigned state = (unsigned)(unsigned long)seed;
	unsigned char *blocks[64] = {0};
	size_t sizes[64] = {0};

	while (!is_over) {
		unsigned i = (state = state * 1103515245 + 12345) >> 8 & 63;

		if (blocks[i] && (blocks[i][0] != i || blocks[i][sizes[i] - 1] != i))
			wrong("a block of %zu bytes has changed", sizes[i]);
		free(blocks[i]);
		sizes[i] = 16 + (state >> 16) % 5000;
		blocks[i] = malloc(sizes[i]);
		memset(blocks[i], (int)i, sizes[i]);
		done++;
	}
	return NULL;
}

static void *wait_epoll(void *unused)
{
	int epoll = epoll_create1(0);
	struct epoll_event event;

	(void)unused;
	while (!is_over) {
		errno = 77;
		int n = epoll_wait(epoll, &event, 1, 7);

		if (n != 0 || errno != 77)
			wrong("epoll_wait: %d, %s", n, strerror(errno));
		done++;
	}
	return NULL;
}

static long elapsed_us(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000000 + (now.tv_nsec - from->tv_nsec) / 1000;
}

static void *sleep_on(void *unused)
{
	(void)unused;
	while (!is_over) {
		struct timespec time = {.tv_nsec = 15000000}, from;

		clock_gettime(CLOCK_MONOTONIC, &from);
		errno = 77;
		if (nanosleep(&time, NULL) != 0 || errno != 77)
			wrong("nanosleep: %s", strerror(errno));
		if (elapsed_us(&from) < 15000)
			wrong("slept %ld us of 15000", elapsed_us(&from));
		if (poll(NULL, 0, 3) != 0 || errno != 77)
			wrong("poll: %s", strerror(errno));
		done++;
	}
	return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns = PTHREAD_COND_INITIALIZER;
static unsigned long turn;

static void *take_turns(void *which)
{
	const unsigned long mine = (unsigned long)which;

	pthread_mutex_lock(&mutex);
	while (!is_over) {
		while (turn % 2 != mine && !is_over)
			pthread_cond_wait(&turns, &mutex);
		turn++;
		done++;
		pthread_cond_broadcast(&turns);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int pair[2];

static void *send_numbers(void *unused)
{
	(void)unused;
	for (unsigned long number = 0; !is_over; number++) {
		unsigned long answer = 0;

		if (send(pair[0], &number, sizeof(number), 0) != sizeof(number) ||
		    recv(pair[0], &answer, sizeof(answer), 0) != sizeof(answer) || answer != number)
			wrong("number %lu came back as %lu: %s", number, answer, strerror(errno));
		done++;
	}
	shutdown(pair[0], SHUT_RDWR);
	return NULL;
}

static void *send_back(void *unused)
{
	unsigned long number;

	(void)unused;
	while (read(pair[1], &number, sizeof(number)) == sizeof(number)) {
		if (write(pair[1], &number, sizeof(number)) != sizeof(number) && !is_over)
			wrong("write: %s", strerror(errno));
	}
	return NULL;
}

static __thread volatile unsigned long handled;

static void handle(int number)
{
	volatile double x = 1;
	int saved = errno;

	(void)number;
	for (int i = 0; i < 20000; i++)
		x = x * 1.0001 + 1;
	handled++;
	errno = saved;
}

static void *signal_itself(void *unused)
{
	(void)unused;
	for (unsigned long n = 1; !is_over; n++) {
		syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGUSR1);
		if (handled != n)
			wrong("signal %lu came %lu times", n, handled);
		done++;
	}
	return NULL;
}

static void *load_libraries(void *unused)
{
	(void)unused;
	while (!is_over) {
		void *library = dlopen("libm.so.6", RTLD_NOW);
		double (*root)(double) =
		    library ? (double (*)(double))dlsym(library, "fabs") : NULL;

		if (!root || root(-3) != 3)
			wrong("dlopen: %s", dlerror());
		if (library)
			dlclose(library);
		usleep(300);
		done++;
	}
	return NULL;
}

static void *nothing(void *value)
{
	return value;
}

static void *start_threads(void *unused)
{
	(void)unused;
	while (!is_over) {
		pthread_t thread;
		void *result = NULL, *result_wanted = &done;

		if (pthread_create(&thread, NULL, nothing, result_wanted) != 0 ||
		    pthread_join(thread, &result) != 0 || result != result_wanted)
			wrong("a thread was not made, or not waited for");
		usleep(200);
		done++;
	}
	return NULL;
}

int main(void)
{
	struct {
		void *(*run)(void *);
		void *argument;
	} const kinds[] = {
	    {compute, NULL},	     {allocate, (void *)1},  {allocate, (void *)2},
	    {wait_epoll, NULL},	     {sleep_on, NULL},	     {take_turns, (void *)0},
	    {take_turns, (void *)1}, {send_numbers, NULL},   {send_back, NULL},
	    {signal_itself, NULL},   {load_libraries, NULL}, {start_threads, NULL},
	};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	const struct sigaction action = {.sa_handler = handle};
	pthread_t threads[KINDS];
	sigset_t term;
	int number;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 1;
	for (int i = 0; i < KINDS; i++)
		pthread_create(&threads[i], NULL, kinds[i].run, kinds[i].argument);
	puts("runs");
	fflush(stdout);
	while (sigwait(&term, &number) != 0)
		;
	is_over = 1;
	pthread_mutex_lock(&mutex);
	pthread_cond_broadcast(&turns);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < KINDS; i++)
		pthread_join(threads[i], NULL);
	if (wrongs)
		printf("%d wrong: %s\n", (int)wrongs, wrong_text);
	else
		printf("ok %lu\n", (unsigned long)done);
	return wrongs != 0;
}
