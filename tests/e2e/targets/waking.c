/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads that wait for a condition in memory that they share and wake each other, and say who did.
 *
 *	waking KIND SEED PROCESSES THREADS TURNS [kill]
 *
 * KIND: broadcast, signal, both (each while the mutex is held), or loose (both, half of them after it was released).
 * kill: processes are killed in the middle.
 * Prints, with times in ns of CLOCK_BOOTTIME, and NUMBERs that count what wakes:
 *	S TID BEGIN END NUMBER ALL WAITING	has woken one, or all; so many had begun to wait and not gone on then
 *	W TID BEGIN END FIRST LAST		was woken: NUMBER was FIRST as it began to wait, and LAST as it went on
 *	K					some were killed
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct common {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned long number;
	int waiting;
} * common;

static const char *kind;
static int turns, threads;
static unsigned seed;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spend(unsigned *random, unsigned most)
{
	uint64_t until = now() + (uint64_t)(rand_r(random) % (int)most);

	while (now() < until)
		;
}

static void say(const char *what, int tid, uint64_t begin, uint64_t end, unsigned long a,
		unsigned long b, int c)
{
	char text[160];
	int n = snprintf(text, sizeof(text), "%s %d %llu %llu %lu %lu %d\n", what, tid,
			 (unsigned long long)begin, (unsigned long long)end, a, b, c);

	if (write(1, text, (size_t)n) != n)
		_exit(3);
}

static void take(void)
{
	if (pthread_mutex_lock(&common->mutex) == EOWNERDEAD)
		pthread_mutex_consistent(&common->mutex);
}

static void await(int tid)
{
	struct timespec soon;
	unsigned long first;
	uint64_t begin;
	int r;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 3000000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_sec++;
		soon.tv_nsec -= 1000000000;
	}
	take();
	first = common->number;
	common->waiting++;
	begin = now();
	r = pthread_cond_timedwait(&common->cond, &common->mutex, &soon);
	if (r == EOWNERDEAD)
		pthread_mutex_consistent(&common->mutex);
	if (r != ETIMEDOUT)
		say("W", tid, begin, now(), first, common->number, 0);
	common->waiting--;
	pthread_mutex_unlock(&common->mutex);
}

static void awaken(int tid, unsigned *random)
{
	bool all = strcmp(kind, "broadcast") == 0 ||
		   (strcmp(kind, "signal") != 0 && rand_r(random) % 4 == 0);
	bool is_loose = strcmp(kind, "loose") == 0 && rand_r(random) % 2;
	unsigned long number;
	uint64_t begin;
	int waiting;

	take();
	number = ++common->number;
	waiting = common->waiting;
	if (is_loose)
		pthread_mutex_unlock(&common->mutex);
	begin = now();
	all ? pthread_cond_broadcast(&common->cond) : pthread_cond_signal(&common->cond);
	say("S", tid, begin, now(), number, all, waiting);
	if (!is_loose)
		pthread_mutex_unlock(&common->mutex);
}

static void *work(void *opaque)
{
	int tid = (int)syscall(SYS_gettid);
	unsigned random = seed * 1000 + (unsigned)(intptr_t)opaque;

	for (int i = 0; i < turns; i++) {
		spend(&random, 30000);
		rand_r(&random) % 5 < 3 ? await(tid) : awaken(tid, &random);
	}
	return NULL;
}

static void work_all(int process)
{
	pthread_t all[64];

	for (int i = 1; i < threads; i++)
		pthread_create(&all[i], NULL, work, (void *)(intptr_t)(process * 64 + i));
	work((void *)(intptr_t)(process * 64));
	for (int i = 1; i < threads; i++)
		pthread_join(all[i], NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t shared;
	pid_t children[64];
	int processes;

	if (argc < 6)
		return 2;
	kind = argv[1];
	seed = (unsigned)atoi(argv[2]);
	processes = atoi(argv[3]);
	threads = atoi(argv[4]);
	turns = atoi(argv[5]);
	common =
	    mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (common == MAP_FAILED)
		return 2;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&common->mutex, &attr);
	pthread_condattr_init(&shared);
	pthread_condattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&common->cond, &shared);
	for (int i = 0; i < processes; i++) {
		children[i] = fork();
		if (children[i] == 0)
			work_all(i);
	}
	if (argc > 6) {
		usleep(20000 + seed % 20000);
		for (int i = 0; i < processes; i += 2)
			kill(children[i], SIGKILL);
		/* What those have left half done may hold up the others for ever. */
		usleep(30000);
		for (int i = 1; i < processes; i += 2)
			kill(children[i], SIGKILL);
		puts("K");
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
