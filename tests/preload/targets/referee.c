/* SPDX-License-Identifier: MIT */
/*
 * referee THREADS ROUNDS: threads contend for locks of every kind, and say afterwards who let whom go:
 *
 *	got NAME ADDRESS TID BEFORE AFTER WHO	TID asked for the lock BEFORE and had it AFTER (CLOCK_BOOTTIME ns); who
 *						released it last was WHO, 0 nobody, -1 it may have been any
 *						of those who gave it meanwhile; -2 TID did not get it
 *	gave ADDRESS TID BEFORE AFTER		TID released it between the two times
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 0, ANYBODY = -1, FAILED = -2 };

struct note {
	const char *name; /* NULL: gave */
	const void *object;
	int who;
	uint64_t before, after;
};

struct player {
	pthread_t thread;
	thrd_t c11_thread;
	bool is_c11;
	int tid;
	unsigned number, random;
	size_t count, room;
	struct note *notes;
	size_t posts; /* of its signal handler */
	struct note *posted;
};

static __thread struct player *self;
static struct player *players;
static unsigned threads;
static int rounds;

/* --- What is noted ---------------------------------------------------------------------------- */

/* What was stored before is seen by all: a spin lock's release is a plain store, which may wait in this processor while it
 * reads the time. */
static uint64_t now(void)
{
	struct timespec t;

	atomic_thread_fence(memory_order_seq_cst);
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note(struct player *p, const char *name, const void *object, int who, uint64_t before)
{
	if (p->count == p->room) {
		p->room = p->room * 2 + 1024;
		p->notes = realloc(p->notes, p->room * sizeof(struct note));
	}
	p->notes[p->count++] = (struct note){name, object, who, before, now()};
}

static void gave(struct player *p, const void *object, uint64_t before)
{
	note(p, NULL, object, NOBODY, before);
}

/* Some time from now on. */
static void gives_as_it_ends(struct player *p, const void *object)
{
	gave(p, object, now());
	p->notes[p->count - 1].after = INT64_MAX;
}

static void tell(int tid, const struct note *notes, size_t count)
{
	for (const struct note *n = notes; n < notes + count; n++)
		if (n->name)
			printf("got %s %p %d %llu %llu %d\n", n->name, n->object, tid,
			       (unsigned long long)n->before, (unsigned long long)n->after, n->who);
		else
			printf("gave %p %d %llu %llu\n", n->object, tid,
			       (unsigned long long)n->before, (unsigned long long)n->after);
}

static unsigned chance(struct player *p, unsigned of)
{
	p->random = p->random * 1103515245 + 12345;
	return (p->random >> 8) % of;
}

static void work(struct player *p, unsigned longest)
{
	for (volatile unsigned i = chance(p, longest); i > 0; i--)
		;
}

/* A time that may come before what is waited for. */
static struct timespec soon(struct player *p, clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += (long)chance(p, 300000);
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* --- Locks ------------------------------------------------------------------------------------ */

enum kind {
	NORMAL,
	RECURSIVE,
	ERRORCHECK,
	ADAPTIVE,
	ROBUST,
	INHERIT,
	ROBUST_INHERIT,
	C11,
	SPIN,
	READ,
	WRITE,
	SEMAPHORE,
	KINDS,
};

enum way { WAITS, TIMED, CLOCKED, TRIES, WAYS };

/* An object and who released it last, which its holder alone reads and writes. */
struct lock {
	union {
		pthread_mutex_t mutex;
		mtx_t mtx;
		pthread_spinlock_t spin;
		pthread_rwlock_t rwlock;
		sem_t sem;
	} u;
	int last;
	int last_writer;
} __attribute__((aligned(64)));

static struct lock locks[KINDS];

static void mutex_make(pthread_mutex_t *m, enum kind kind)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	if (kind <= ADAPTIVE)
		pthread_mutexattr_settype(&a, types[kind]);
	if (kind == ROBUST || kind == ROBUST_INHERIT)
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	if (kind == INHERIT || kind == ROBUST_INHERIT)
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(m, &a);
}

static void lock_make(struct lock *l, enum kind kind)
{
	memset(l, 0, sizeof *l);
	switch (kind) {
	case C11:
		mtx_init(&l->u.mtx, mtx_timed);
		break;
	case SPIN:
		pthread_spin_init(&l->u.spin, PTHREAD_PROCESS_PRIVATE);
		break;
	case READ:
	case WRITE:
		pthread_rwlock_init(&l->u.rwlock, NULL);
		break;
	case SEMAPHORE:
		sem_init(&l->u.sem, 0, 1);
		break;
	default:
		mutex_make(&l->u.mutex, kind);
	}
}

/* Has it, or gives up: an error number. `*call' is what may have waited. */
#define CASE(way_, name, ...)                                                                      \
	case way_:                                                                                 \
		*call = #name;                                                                     \
		return name(__VA_ARGS__)

static int acquire_mutex(pthread_mutex_t *m, enum way way, const struct timespec *t,
			 const char **call)
{
	switch (way) {
		CASE(WAITS, pthread_mutex_lock, m);
		CASE(TIMED, pthread_mutex_timedlock, m, t);
		CASE(CLOCKED, pthread_mutex_clocklock, m, CLOCK_MONOTONIC, t);
	default:
		return pthread_mutex_trylock(m);
	}
}

static int acquire_c11(mtx_t *m, enum way way, const struct timespec *t, const char **call)
{
	switch (way) {
		CASE(WAITS, mtx_lock, m);
		CASE(TIMED, mtx_timedlock, m, t);
	default:
		return mtx_trylock(m);
	}
}

static int acquire_spin(pthread_spinlock_t *l, enum way way, const char **call)
{
	switch (way) {
		CASE(WAITS, pthread_spin_lock, l);
	default:
		return pthread_spin_trylock(l);
	}
}

static int acquire_reading(pthread_rwlock_t *l, enum way way, const struct timespec *t,
			   const char **call)
{
	switch (way) {
		CASE(WAITS, pthread_rwlock_rdlock, l);
		CASE(TIMED, pthread_rwlock_timedrdlock, l, t);
		CASE(CLOCKED, pthread_rwlock_clockrdlock, l, CLOCK_MONOTONIC, t);
	default:
		return pthread_rwlock_tryrdlock(l);
	}
}

static int acquire_writing(pthread_rwlock_t *l, enum way way, const struct timespec *t,
			   const char **call)
{
	switch (way) {
		CASE(WAITS, pthread_rwlock_wrlock, l);
		CASE(TIMED, pthread_rwlock_timedwrlock, l, t);
		CASE(CLOCKED, pthread_rwlock_clockwrlock, l, CLOCK_MONOTONIC, t);
	default:
		return pthread_rwlock_trywrlock(l);
	}
}

static int acquire_semaphore(sem_t *s, enum way way, const struct timespec *t, const char **call)
{
	switch (way) {
		CASE(WAITS, sem_wait, s);
		CASE(TIMED, sem_timedwait, s, t);
		CASE(CLOCKED, sem_clockwait, s, CLOCK_MONOTONIC, t);
	default:
		return sem_trywait(s);
	}
}

static int acquire(struct player *p, struct lock *l, enum kind kind, enum way way,
		   const char **call)
{
	struct timespec t = soon(p, way == CLOCKED ? CLOCK_MONOTONIC : CLOCK_REALTIME);

	*call = NULL;
	switch (kind) {
	case C11:
		return acquire_c11(&l->u.mtx, way, &t, call);
	case SPIN:
		return acquire_spin(&l->u.spin, way, call);
	case READ:
		return acquire_reading(&l->u.rwlock, way, &t, call);
	case WRITE:
		return acquire_writing(&l->u.rwlock, way, &t, call);
	case SEMAPHORE:
		return acquire_semaphore(&l->u.sem, way, &t, call);
	default:
		return acquire_mutex(&l->u.mutex, way, &t, call);
	}
}

static void release(struct lock *l, enum kind kind)
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

/* What is allowed besides, and releases nothing. */
static void hold(struct player *p, struct lock *l, enum kind kind)
{
	if (kind == RECURSIVE) {
		pthread_mutex_lock(&l->u.mutex);
		work(p, 500);
		pthread_mutex_unlock(&l->u.mutex);
	} else if (kind == ERRORCHECK && chance(p, 8) == 0) {
		uint64_t before = now();

		if (pthread_mutex_lock(&l->u.mutex) != EDEADLK)
			abort();
		note(p, "pthread_mutex_lock", l, FAILED, before);
	}
	work(p, kind == SPIN ? 400 : 4000);
	if (kind != SPIN && chance(p, 16) == 0)
		sched_yield(); /* others find it held */
}

static void let_go(struct player *p, struct lock *l, enum kind kind)
{
	uint64_t before;

	if (kind != READ)
		l->last = l->last_writer = p->tid;
	before = now();
	release(l, kind);
	gave(p, l, before);
}

/* False: in vain. */
static bool lock_and_note(struct player *p, struct lock *l, enum kind kind, enum way way)
{
	uint64_t before = now();
	const char *call;
	int error = acquire(p, l, kind, way, &call);
	int who = kind == WRITE ? ANYBODY : FAILED;

	if (error == EOWNERDEAD)
		pthread_mutex_consistent(&l->u.mutex);
	if ((error == 0 || error == EOWNERDEAD) && kind != WRITE)
		who = kind == READ ? l->last_writer : l->last;
	else if (error)
		who = FAILED;
	if (call)
		note(p, call, l, who, before);
	return who != FAILED;
}

static void lock_and_unlock(struct player *p, struct lock *l, enum kind kind)
{
	if (kind == ERRORCHECK && chance(p, 4) == 0)
		pthread_mutex_unlock(&l->u.mutex); /* another's, or nobody's: refused */
	if (!lock_and_note(p, l, kind, chance(p, 8) < 4 ? WAITS : chance(p, WAYS)))
		return;
	hold(p, l, kind);
	let_go(p, l, kind);
}

/* Reading and writing share an object. */
static struct lock *lock_of(enum kind kind)
{
	return &locks[kind == READ ? WRITE : kind];
}

/* --- Owners that die -------------------------------------------------------------------------- */

#define MORTALS 40

static struct player mortals[MORTALS];

static void *die(void *arg)
{
	struct player *p = arg;
	enum kind kind = p->number % 2 ? ROBUST : ROBUST_INHERIT;
	struct lock *l = &locks[kind];

	p->tid = gettid();
	if (lock_and_note(p, l, kind, p->number % 3 ? WAITS : TRIES)) {
		work(p, 20000);
		sched_yield();
		l->last = p->tid;
		gives_as_it_ends(p, l);
	}
	gives_as_it_ends(p, (void *)pthread_self());
	return NULL;
}

/* --- Conditions ------------------------------------------------------------------------------- */

/* Half of the threads put items in, the others wait for them. */
static struct queue {
	union {
		struct {
			pthread_mutex_t mutex;
			pthread_cond_t cond;
		} posix;
		struct {
			mtx_t mutex;
			cnd_t cond;
		} c11;
	} u;
	bool is_c11;
	int items;
} queues[2];

static void queues_make(void)
{
	pthread_mutex_init(&queues[0].u.posix.mutex, NULL);
	pthread_cond_init(&queues[0].u.posix.cond, NULL);
	mtx_init(&queues[1].u.c11.mutex, mtx_plain);
	cnd_init(&queues[1].u.c11.cond);
	queues[1].is_c11 = true;
}

static void *mutex_of(struct queue *q)
{
	return q->is_c11 ? (void *)&q->u.c11.mutex : (void *)&q->u.posix.mutex;
}

static void *cond_of(struct queue *q)
{
	return q->is_c11 ? (void *)&q->u.c11.cond : (void *)&q->u.posix.cond;
}

static void queue_lock(struct player *p, struct queue *q)
{
	uint64_t before = now();

	if (q->is_c11)
		mtx_lock(&q->u.c11.mutex);
	else
		pthread_mutex_lock(&q->u.posix.mutex);
	note(p, q->is_c11 ? "mtx_lock" : "pthread_mutex_lock", mutex_of(q), ANYBODY, before);
}

static void queue_unlock(struct player *p, struct queue *q)
{
	uint64_t before = now();

	if (q->is_c11)
		mtx_unlock(&q->u.c11.mutex);
	else
		pthread_mutex_unlock(&q->u.posix.mutex);
	gave(p, mutex_of(q), before);
}

static void queue_signal(struct player *p, struct queue *q)
{
	bool all = chance(p, 8) == 0;
	uint64_t before = now();

	if (q->is_c11)
		(all ? cnd_broadcast : cnd_signal)(&q->u.c11.cond);
	else
		(all ? pthread_cond_broadcast : pthread_cond_signal)(&q->u.posix.cond);
	gave(p, cond_of(q), before);
}

static int queue_wait(struct player *p, struct queue *q, const char **call)
{
	enum way way = chance(p, 4);
	struct timespec t = soon(p, way == CLOCKED ? CLOCK_MONOTONIC : CLOCK_REALTIME);

	if (q->is_c11)
		switch (way) {
			CASE(TIMED, cnd_timedwait, &q->u.c11.cond, &q->u.c11.mutex, &t);
		default:
			*call = "cnd_wait";
			return cnd_wait(&q->u.c11.cond, &q->u.c11.mutex);
		}
	switch (way) {
		CASE(TIMED, pthread_cond_timedwait, &q->u.posix.cond, &q->u.posix.mutex, &t);
		CASE(CLOCKED, pthread_cond_clockwait, &q->u.posix.cond, &q->u.posix.mutex,
		     CLOCK_MONOTONIC, &t);
	default:
		*call = "pthread_cond_wait";
		return pthread_cond_wait(&q->u.posix.cond, &q->u.posix.mutex);
	}
}

/* Signals with the mutex, or without. */
static void put(struct player *p, struct queue *q)
{
	bool with = chance(p, 2);

	queue_lock(p, q);
	q->items++;
	if (with)
		queue_signal(p, q);
	queue_unlock(p, q);
	if (!with)
		queue_signal(p, q);
}

static void get(struct player *p, struct queue *q)
{
	queue_lock(p, q);
	while (!q->items) {
		uint64_t before = now();
		const char *call;
		int error = queue_wait(p, q, &call);

		note(p, call, cond_of(q), error ? FAILED : ANYBODY, before);
		gave(p, mutex_of(q), before);
	}
	q->items--;
	queue_unlock(p, q);
}

/* --- Handlers that post ----------------------------------------------------------------------- */

#define POSTS 400 /* of each thread, at most */

static sem_t posted;

static void post(int signal)
{
	struct player *p = self;
	struct note *n = p && p->posts < POSTS ? &p->posted[p->posts++] : NULL;
	int saved = errno;

	(void)signal;
	if (n) {
		*n = (struct note){.object = &posted, .before = now()};
		sem_post(&posted);
		n->after = now();
	}
	errno = saved;
}

/* Some threads take them on a stack of their own. */
static void handler_begin(const struct player *p)
{
	stack_t stack = {.ss_size = 65536};

	if (p->number % 2)
		return;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
}

static void take_posted(struct player *p)
{
	struct timespec t = soon(p, CLOCK_REALTIME);
	uint64_t before = now();
	int error = sem_timedwait(&posted, &t);

	note(p, "sem_timedwait", &posted, error ? FAILED : ANYBODY, before);
}

/* --- Meetings of all -------------------------------------------------------------------------- */

/* Who came last, the barrier tells him alone. What runs once is run by one, for whom the others wait. And all contend
 * for a lock that stands where there was one of another kind before. */
#define MEETINGS 96
static pthread_barrier_t barrier;
static int last_to_come[MEETINGS], ran[MEETINGS];
static pthread_once_t onces[MEETINGS];
static once_flag c11_onces[MEETINGS];
static struct lock *fresh;
static int meeting;

static bool meet(struct player *p, int i)
{
	uint64_t before;
	bool is_last;

	work(p, 300);
	before = now();
	is_last = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
	if (is_last) {
		last_to_come[i] = p->tid;
		gave(p, &barrier, before);
	}
	/* Who it was is known when all have ended: see name_last(). */
	note(p, "pthread_barrier_wait", &barrier, i, before);
	return is_last;
}

static void run_once(void)
{
	struct player *p = self;

	ran[meeting] = p->tid;
	work(p, 20000);
	if (chance(p, 2))
		sched_yield();
	gives_as_it_ends(p, meeting % 2 ? (void *)&c11_onces[meeting] : (void *)&onces[meeting]);
}

static void once(struct player *p, int i)
{
	uint64_t before = now();

	if (i % 2)
		call_once(&c11_onces[i], run_once);
	else
		pthread_once(&onces[i], run_once);
	note(p, i % 2 ? "call_once" : "pthread_once",
	     i % 2 ? (void *)&c11_onces[i] : (void *)&onces[i], ran[i], before);
}

static void meetings(struct player *p)
{
	for (int i = 0; i < MEETINGS; i += 2) {
		enum kind kind = (enum kind)(i / 2 % KINDS);

		if (meet(p, i)) {
			meeting = i / 2;
			free(fresh);
			fresh = aligned_alloc(64, sizeof *fresh);
			lock_make(fresh, kind);
		}
		meet(p, i + 1);
		once(p, i / 2);
		for (int k = 0; k < 4; k++)
			lock_and_unlock(p, fresh, kind == READ && k % 2 ? WRITE : kind);
	}
}

/* --- The players ------------------------------------------------------------------------------ */

static void play(struct player *p)
{
	self = p;
	p->tid = gettid();
	handler_begin(p);
	for (int i = 0; i < rounds; i++) {
		enum kind kind;

		work(p, 3000);
		kind = (enum kind)chance(p, KINDS);
		lock_and_unlock(p, lock_of(kind), kind);
		if (i % 4 == 0)
			(p->number & 1 ? put : get)(p, &queues[i / 4 % 2]);
		if (i % 32 == 8)
			take_posted(p);
		if (i % 32 == 24) {
			struct player *other = &players[chance(p, threads)];

			if (other->tid)
				tgkill(getpid(), other->tid, SIGUSR1);
		}
	}
	meetings(p);
	self = NULL;
	gives_as_it_ends(p, p->is_c11 ? (void *)p->c11_thread : (void *)pthread_self());
}

static void *play_posix(void *p)
{
	play(p);
	return NULL;
}

static int play_c11(void *p)
{
	((struct player *)p)->c11_thread = thrd_current();
	play(p);
	return 0;
}

static void start(struct player *p)
{
	p->is_c11 = p->number % 2;
	if (p->is_c11)
		thrd_create(&p->c11_thread, play_c11, p);
	else
		pthread_create(&p->thread, NULL, play_posix, p);
}

static int join_in_a_way(struct player *joiner, struct player *p, const char **call)
{
	struct timespec t = soon(joiner, CLOCK_REALTIME);
	struct timespec m = soon(joiner, CLOCK_MONOTONIC);

	if (p->is_c11) {
		*call = "thrd_join";
		return thrd_join(p->c11_thread, NULL);
	}
	switch (p->number % 8) {
	case 0:
		*call = "pthread_timedjoin_np";
		return pthread_timedjoin_np(p->thread, NULL, &t);
	case 2:
		*call = "pthread_clockjoin_np";
		return pthread_clockjoin_np(p->thread, NULL, CLOCK_MONOTONIC, &m);
	case 4:
		*call = "pthread_tryjoin_np";
		return pthread_tryjoin_np(p->thread, NULL);
	default:
		*call = "pthread_join";
		return pthread_join(p->thread, NULL);
	}
}

static void join(struct player *joiner, struct player *p)
{
	const void *thread = p->is_c11 ? (void *)p->c11_thread : (void *)p->thread;
	uint64_t before;
	const char *call;
	int error;

	do {
		before = now();
		error = join_in_a_way(joiner, p, &call);
		note(joiner, call, thread, error ? FAILED : p->tid, before);
		if (error)
			usleep(2000);
	} while (error);
}

static void name_last(struct player *p)
{
	for (struct note *n = p->notes; n < p->notes + p->count; n++)
		if (n->name && n->object == &barrier)
			n->who = last_to_come[n->who];
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = post, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct player joiner = {0};

	threads = argc > 1 ? (unsigned)atoi(argv[1]) : 16;
	rounds = argc > 2 ? atoi(argv[2]) : 200;
	players = calloc(threads, sizeof *players);
	for (int k = 0; k < KINDS; k++)
		lock_make(&locks[k], (enum kind)k);
	queues_make();
	sem_init(&posted, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < threads; i++) {
		players[i].number = players[i].random = i;
		players[i].posted = calloc(POSTS, sizeof(struct note));
	}
	joiner.tid = gettid();
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 0; i < threads; i++)
		start(&players[i]);
	for (unsigned i = 0; i < MORTALS; i++) {
		mortals[i].number = mortals[i].random = i;
		pthread_create(&mortals[i].thread, NULL, die, &mortals[i]);
		usleep(500);
	}
	for (unsigned i = 0; i < threads; i++)
		join(&joiner, &players[i]);
	for (unsigned i = 0; i < MORTALS; i++)
		join(&joiner, &mortals[i]);
	tell(joiner.tid, joiner.notes, joiner.count);
	for (unsigned i = 0; i < MORTALS; i++)
		tell(mortals[i].tid, mortals[i].notes, mortals[i].count);
	for (unsigned i = 0; i < threads; i++) {
		name_last(&players[i]);
		tell(players[i].tid, players[i].notes, players[i].count);
		tell(players[i].tid, players[i].posted, players[i].posts);
	}
	return 0;
}
