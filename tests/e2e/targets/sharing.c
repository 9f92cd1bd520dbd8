/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads that meet at a barrier, or read and write under a lock, in memory that they share; and say who let them go.
 *
 *	sharing KIND SEED PROCESSES THREADS TURNS [kill | more]
 *
 * KIND: barrier, rwlock, timed (with a time that never comes), or writers (a lock that prefers writers).
 * kill: processes are killed in the middle. more: one thread more comes than a round of the barrier is of.
 * Prints, with times in ns of CLOCK_BOOTTIME and STAMPs that count all that is done:
 *	B TID BEGIN END ROUND LAST		has met; LAST: it filled the round; ROUND is -1 where more come than one is of
 *	R TID BEGIN END WRITER STAMP		reads; WRITER wrote last
 *	W TID BEGIN END WRITER STAMP		writes
 *	U TID BEFORE AFTER WRITES		has released between these stamps
 *	K					some were killed
 */
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

#define MOST 64

static struct common {
	pthread_barrier_t barrier;
	pthread_rwlock_t lock;
	int writer; /* who has written last */
	unsigned long stamp;
	unsigned meeting,
	    done; /* threads that have said all before they wait, and those that are at their end */
	bool is_over;
} * common;

static const char *kind;
static int turns, threads;
static bool are_more;
static unsigned seed;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned long stamp(void)
{
	return __atomic_add_fetch(&common->stamp, 1, __ATOMIC_SEQ_CST);
}

static void spend(unsigned *random, unsigned most)
{
	uint64_t until = now() + (uint64_t)(rand_r(random) % (int)most);

	while (now() < until)
		;
}

/* What is printed, in one write. */
struct page {
	char text[4096];
	int used;
};

static void page_flush(struct page *p)
{
	if (p->used && write(1, p->text, (size_t)p->used) != p->used)
		_exit(3);
	p->used = 0;
}

static void say(struct page *p, char what, int tid, uint64_t a, uint64_t b, long c, unsigned long d)
{
	p->used += snprintf(p->text + p->used, 128, "%c %d %llu %llu %ld %lu\n", what, tid,
			    (unsigned long long)a, (unsigned long long)b, c, d);
	if (p->used > 3800)
		page_flush(p);
}

static void meet(struct page *page, int tid, int round)
{
	uint64_t begin;
	int r;

	if (are_more)
		page_flush(page);
	__atomic_add_fetch(&common->meeting, 1, __ATOMIC_SEQ_CST);
	begin = now();
	r = pthread_barrier_wait(&common->barrier);
	__atomic_sub_fetch(&common->meeting, 1, __ATOMIC_SEQ_CST);
	say(page, 'B', tid, begin, now(), round, r == PTHREAD_BARRIER_SERIAL_THREAD);
}

static int take(bool writes)
{
	struct timespec late = {.tv_sec = time(NULL) + 1000};

	if (strcmp(kind, "timed") == 0)
		return writes ? pthread_rwlock_timedwrlock(&common->lock, &late)
			      : pthread_rwlock_timedrdlock(&common->lock, &late);
	return writes ? pthread_rwlock_wrlock(&common->lock) : pthread_rwlock_rdlock(&common->lock);
}

static void use(struct page *page, int tid, unsigned *random)
{
	bool writes = rand_r(random) % 3 == 0;
	uint64_t begin = now();
	unsigned long had, before;
	int writer;

	if (take(writes) != 0)
		_exit(5);
	had = stamp();
	writer = common->writer;
	if (rand_r(random) % 8 == 0)
		usleep(300);
	say(page, writes ? 'W' : 'R', tid, begin, now(), writer, had);
	spend(random, 5000);
	if (writes)
		common->writer = tid;
	before = stamp();
	pthread_rwlock_unlock(&common->lock);
	say(page, 'U', tid, before, stamp(), writes, 0);
}

static void *work(void *opaque)
{
	int tid = (int)syscall(SYS_gettid);
	unsigned random = seed * 1000 + (unsigned)(intptr_t)opaque;
	struct page page = {.used = 0};

	for (int i = 0; i < turns && !__atomic_load_n(&common->is_over, __ATOMIC_SEQ_CST); i++) {
		spend(&random, 20000);
		if (rand_r(&random) % 16 == 0)
			usleep(200);
		if (strcmp(kind, "barrier") == 0)
			meet(&page, tid, are_more ? -1 : i);
		else
			use(&page, tid, &random);
	}
	page_flush(&page);
	__atomic_add_fetch(&common->done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void work_all(int process)
{
	pthread_t all[MOST];

	for (int i = 1; i < threads; i++)
		pthread_create(&all[i], NULL, work, (void *)(intptr_t)(process * threads + i));
	work((void *)(intptr_t)(process * threads));
	for (int i = 1; i < threads; i++)
		pthread_join(all[i], NULL);
}

static void make(int count)
{
	pthread_barrierattr_t barrier;
	pthread_rwlockattr_t lock;

	common =
	    mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (common == MAP_FAILED)
		exit(2);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&common->barrier, &barrier, (unsigned)count);
	pthread_rwlockattr_init(&lock);
	pthread_rwlockattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	if (strcmp(kind, "writers") == 0)
		pthread_rwlockattr_setkind_np(&lock, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&common->lock, &lock);
}

/* Whether none of so many will say any more: each is at its end, or waits, as the barrier's words say: how many came, and went on. */
static bool all_are_silent(unsigned count)
{
	const unsigned *words = (const unsigned *)&common->barrier;
	unsigned meeting = __atomic_load_n(&common->meeting, __ATOMIC_SEQ_CST);

	return meeting + __atomic_load_n(&common->done, __ATOMIC_SEQ_CST) == count &&
	       __atomic_load_n(&words[0], __ATOMIC_SEQ_CST) -
		       __atomic_load_n(&words[1], __ATOMIC_SEQ_CST) ==
		   meeting;
}

int main(int argc, char **argv)
{
	const char *how = argc > 6 ? argv[6] : "";
	pid_t children[MOST];
	int processes;

	if (argc < 6)
		return 2;
	kind = argv[1];
	seed = (unsigned)atoi(argv[2]);
	processes = atoi(argv[3]);
	threads = atoi(argv[4]);
	turns = atoi(argv[5]);
	are_more = strcmp(how, "more") == 0;
	make(processes * threads - are_more);
	for (int i = 0; i < processes; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			work_all(i);
			_exit(0);
		}
	}
	if (*how) { /* those that wait for who has gone are ended */
		usleep(30000 + seed % 30000);
		__atomic_store_n(&common->is_over, are_more, __ATOMIC_SEQ_CST);
		while (are_more && !all_are_silent((unsigned)(processes * threads)))
			usleep(1000);
		for (int i = 0; i < processes && !are_more; i += 2)
			kill(children[i], SIGKILL);
		usleep(are_more ? 0 : 300000);
		for (int i = 0; i < processes; i++)
			kill(children[i], SIGKILL);
		if (!are_more)
			puts("K");
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
