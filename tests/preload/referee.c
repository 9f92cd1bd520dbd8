/* SPDX-License-Identifier: MIT */
/*
 * referee THREADS ROUNDS: threads contend for locks of every kind, and say afterwards who let whom go:
 *
 *	got NAME ADDRESS TID BEFORE AFTER WHO	TID asked for the lock BEFORE and had it AFTER (CLOCK_BOOTTIME ns); who
 *						released it last was WHO, 0 nobody, -1 it may have been any
 *						of those who gave it meanwhile
 *	gave ADDRESS TID BEFORE AFTER		TID released it between the two times
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum kind {
	NORMAL,
	RECURSIVE,
	ERRORCHECK,
	ADAPTIVE,
	ROBUST,
	INHERIT,
	C11,
	SPIN,
	READ,
	WRITE,
	SEMAPHORE,
	CONDITION,
	KINDS,
	BARRIER = KINDS,
	JOIN,
};

static const char *const names[] = {
    "pthread_mutex_lock",    "pthread_mutex_lock",    "pthread_mutex_lock", "pthread_mutex_lock",
    "pthread_mutex_lock",    "pthread_mutex_lock",    "mtx_lock",	    "pthread_spin_lock",
    "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "sem_wait",	    "pthread_cond_wait",
    "pthread_barrier_wait",  "pthread_join"};

/* An object and who released it last, which its holder alone reads and writes. */
static struct lock {
	union {
		pthread_mutex_t mutex;
		mtx_t mtx;
		pthread_spinlock_t spin;
		pthread_rwlock_t rwlock;
		sem_t sem;
		struct {
			pthread_mutex_t mutex;
			pthread_cond_t cond;
			int items;
		} queue;
	} u;
	int last;
	int last_writer;
} locks[KINDS] __attribute__((aligned(64)));

struct note {
	int kind; /* -1: gave */
	const void *object;
	int who;
	uint64_t before, after;
};

struct player {
	pthread_t thread;
	int tid;
	unsigned random;
	size_t count;
	struct note *notes;
};

static int rounds;

/* All meet here; who came last, the barrier tells him alone. */
#define MEETINGS 100
static pthread_barrier_t barrier;
static int last_to_come[MEETINGS];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note(struct player *p, int kind, const void *object, int who, uint64_t before)
{
	p->notes[p->count++] = (struct note){kind, object, who, before, now()};
}

static void work(struct player *p, int longest)
{
	p->random = p->random * 1103515245 + 12345;
	for (volatile int i = (int)(p->random >> 8) % longest; i > 0; i--)
		;
}

static void mutexes_make(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL,     PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP,
				    PTHREAD_MUTEX_NORMAL,     PTHREAD_MUTEX_NORMAL};

	for (int k = NORMAL; k <= INHERIT; k++) {
		pthread_mutexattr_t a;

		pthread_mutexattr_init(&a);
		pthread_mutexattr_settype(&a, types[k]);
		if (k == ROBUST)
			pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
		if (k == INHERIT)
			pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&locks[k].u.mutex, &a);
	}
}

/* Not an object of its own: reading and writing share one. */
static struct lock *lock_of(int kind)
{
	return &locks[kind == READ ? WRITE : kind];
}

static void locks_make(void)
{
	mutexes_make();
	mtx_init(&locks[C11].u.mtx, mtx_plain);
	pthread_spin_init(&locks[SPIN].u.spin, PTHREAD_PROCESS_PRIVATE);
	pthread_rwlock_init(&locks[WRITE].u.rwlock, NULL);
	sem_init(&locks[SEMAPHORE].u.sem, 0, 1);
	pthread_mutex_init(&locks[CONDITION].u.queue.mutex, NULL);
	pthread_cond_init(&locks[CONDITION].u.queue.cond, NULL);
}

static void acquire(struct lock *l, int kind)
{
	switch (kind) {
	case C11:
		mtx_lock(&l->u.mtx);
		break;
	case SPIN:
		pthread_spin_lock(&l->u.spin);
		break;
	case READ:
		pthread_rwlock_rdlock(&l->u.rwlock);
		break;
	case WRITE:
		pthread_rwlock_wrlock(&l->u.rwlock);
		break;
	case SEMAPHORE:
		sem_wait(&l->u.sem);
		break;
	default:
		pthread_mutex_lock(&l->u.mutex);
	}
}

static void release(struct lock *l, int kind)
{
	switch (kind) {
	case C11:
		mtx_unlock(&l->u.mtx);
		break;
	case SPIN:
		pthread_spin_unlock(&l->u.spin);
		break;
	case READ:
	case WRITE:
		pthread_rwlock_unlock(&l->u.rwlock);
		break;
	case SEMAPHORE:
		sem_post(&l->u.sem);
		break;
	default:
		pthread_mutex_unlock(&l->u.mutex);
	}
}

static void lock_and_unlock(struct player *p, int kind)
{
	struct lock *l = lock_of(kind);
	uint64_t before = now();
	int who;

	acquire(l, kind);
	who = kind == READ ? l->last_writer : kind == WRITE ? -1 : l->last;
	note(p, kind, l, who, before);
	work(p, kind == SPIN ? 400 : 4000);
	if (kind != SPIN && p->random % 16 == 0)
		sched_yield(); /* others find it held */
	if (kind != READ)
		l->last = l->last_writer = p->tid;
	before = now();
	release(l, kind);
	note(p, -1, l, 0, before);
}

/* Half of the threads put items in, the others wait for them. */
static void put(struct player *p, struct lock *l)
{
	uint64_t before = now();

	pthread_mutex_lock(&l->u.queue.mutex);
	note(p, NORMAL, &l->u.queue.mutex, -1, before);
	l->u.queue.items++;
	before = now();
	pthread_cond_signal(&l->u.queue.cond);
	note(p, -1, &l->u.queue.cond, 0, before);
	before = now();
	pthread_mutex_unlock(&l->u.queue.mutex);
	note(p, -1, &l->u.queue.mutex, 0, before);
}

static void get(struct player *p, struct lock *l)
{
	uint64_t before = now();

	pthread_mutex_lock(&l->u.queue.mutex);
	note(p, NORMAL, &l->u.queue.mutex, -1, before);
	while (!l->u.queue.items) {
		before = now();
		pthread_cond_wait(&l->u.queue.cond, &l->u.queue.mutex);
		note(p, CONDITION, &l->u.queue.cond, -1, before);
		note(p, -1, &l->u.queue.mutex, 0, before);
	}
	l->u.queue.items--;
	before = now();
	pthread_mutex_unlock(&l->u.queue.mutex);
	note(p, -1, &l->u.queue.mutex, 0, before);
}

static void meet(struct player *p, int i)
{
	uint64_t before;

	work(p, 300);
	before = now();
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
		last_to_come[i] = p->tid;
		note(p, -1, &barrier, 0, before);
	}
	note(p, BARRIER, &barrier, i, before);
}

static void *play(void *arg)
{
	struct player *p = arg;
	bool puts = p->random & 1;

	p->tid = gettid();
	for (int i = 0; i < rounds; i++) {
		int kind;

		work(p, 3000);
		kind = (int)(p->random >> 16) % KINDS;
		if (kind != CONDITION)
			lock_and_unlock(p, kind);
		if (i % 4 == 0)
			(puts ? put : get)(p, &locks[CONDITION]);
	}
	for (int i = 0; i < MEETINGS; i++)
		meet(p, i);
	note(p, -1, (void *)pthread_self(), 0, now());
	p->notes[p->count - 1].after = INT64_MAX; /* it ends some time */
	return NULL;
}

static void tell(const struct player *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct note *n = &p->notes[i];

		if (n->kind < 0)
			printf("gave %p %d %llu %llu\n", n->object, p->tid,
			       (unsigned long long)n->before, (unsigned long long)n->after);
		else
			printf("got %s %p %d %llu %llu %d\n", names[n->kind], n->object, p->tid,
			       (unsigned long long)n->before, (unsigned long long)n->after,
			       n->kind == BARRIER ? last_to_come[n->who] : n->who);
	}
}

static void join(struct player *joiner, const struct player *p)
{
	uint64_t before = now();

	pthread_join(p->thread, NULL);
	note(joiner, JOIN, (void *)p->thread, p->tid, before);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 16;
	struct player *players = calloc((size_t)threads, sizeof *players);
	struct player joiner = {0};

	rounds = argc > 2 ? atoi(argv[2]) : 200;
	locks_make();
	for (int i = 0; i < threads; i++) {
		players[i].random = (unsigned)i;
		players[i].notes =
		    calloc((size_t)rounds * 16 + 2 * MEETINGS + 16, sizeof(struct note));
	}
	joiner.tid = gettid();
	joiner.notes = calloc((size_t)threads, sizeof(struct note));
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		pthread_create(&players[i].thread, NULL, play, &players[i]);
	for (int i = 0; i < threads; i++)
		join(&joiner, &players[i]);
	tell(&joiner);
	for (int i = 0; i < threads; i++)
		tell(&players[i]);
	return 0;
}
