/* SPDX-License-Identifier: MIT */
/*
 * progress FILE THREADS SPIN: each thread calls work() for ever and, after each call, stores the
 * number of calls in FILE, a shared mapping that survives whatever ends the process. FILE is an
 * array of 64-bit words: the pid (once all threads run), then tid and number of calls of each
 * thread. SPIN is how long a call takes, in turns of a loop. Compile with -finstrument-functions.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN	    __attribute__((no_instrument_function))
#define THREADS_MAX 16

struct share {
	uint64_t pid;
	struct {
		uint64_t tid, calls;
	} threads[THREADS_MAX];
};

static struct share *share;
static unsigned long spin;
static pthread_barrier_t all_run;

static __attribute__((noinline)) void work(void)
{
	for (unsigned long i = 0; i < spin; i++)
		__asm__ volatile("");
}

static __attribute__((noinline)) void work_for_ever(unsigned number)
{
	for (uint64_t calls = 1;; calls++) {
		work();
		__atomic_store_n(&share->threads[number].calls, calls, __ATOMIC_RELEASE);
	}
}

HIDDEN static void *thread_main(void *number)
{
	share->threads[(uintptr_t)number].tid = (uint64_t)gettid();
	pthread_barrier_wait(&all_run);
	work_for_ever((unsigned)(uintptr_t)number);
	return NULL;
}

HIDDEN int main(int argc, char **argv)
{
	unsigned threads;
	int fd;

	if (argc != 4)
		return 2;
	threads = (unsigned)atoi(argv[2]);
	spin = strtoul(argv[3], NULL, 10);
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || threads < 1 || threads > THREADS_MAX || ftruncate(fd, sizeof(*share)) != 0)
		return 1;
	share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (share == MAP_FAILED || pthread_barrier_init(&all_run, NULL, threads + 1) != 0)
		return 1;
	for (uintptr_t i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, thread_main, (void *)i) != 0)
			return 1;
	}
	pthread_barrier_wait(&all_run);
	__atomic_store_n(&share->pid, (uint64_t)getpid(), __ATOMIC_RELEASE);
	for (;;)
		pause();
}
