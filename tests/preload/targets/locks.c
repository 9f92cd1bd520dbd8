/* SPDX-License-Identifier: MIT */
/* Prints what every kind of mutex answers to every operation, free, held by the caller and held by
 * another, and what the other locks answer. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define UNTOUCHED 99

static const struct timespec past = {1, 0}, invalid = {1, 2000000000};

struct kind {
	const char *name;
	int type, robust, protocol, shared;
};

static const struct kind kinds[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, 0, 0, 0},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, 0},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0},
    {"shared", PTHREAD_MUTEX_NORMAL, 0, 0, 1},
    {"robust", PTHREAD_MUTEX_NORMAL, 1, 0, 0},
    {"robust recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0, 0},
    {"robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, 0, 0},
    {"inherit", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0},
    {"inherit recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_INHERIT, 0},
    {"inherit errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_INHERIT, 0},
    {"inherit robust", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_INHERIT, 0},
    {"inherit robust recursive", PTHREAD_MUTEX_RECURSIVE, 1, PTHREAD_PRIO_INHERIT, 0},
    {"inherit shared", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 1},
    {"protect", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_PROTECT, 0},
    {"protect recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_PROTECT, 0},
    {"protect errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_PROTECT, 0},
    {"robust shared", PTHREAD_MUTEX_ERRORCHECK, 1, 0, 1},
};

static void mutex_make(pthread_mutex_t *m, const struct kind *k)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, k->type);
	pthread_mutexattr_setrobust(&a, k->robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setprotocol(&a, k->protocol);
	if (k->protocol == PTHREAD_PRIO_PROTECT)
		pthread_mutexattr_setprioceiling(&a, 10);
	pthread_mutexattr_setpshared(&a,
				     k->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(m, &a);
}

static void say(const char *kind, const char *what, int ret)
{
	printf("%s, %s: %s, errno %s\n", kind, what, strerror(ret),
	       errno == UNTOUCHED ? "kept" : "changed");
	errno = UNTOUCHED;
}

static void *take(void *m)
{
	pthread_mutex_lock(m);
	return NULL;
}

static void *try_when_held(void *m)
{
	errno = UNTOUCHED;
	say("other", "trylock", pthread_mutex_trylock(m));
	say("other", "timedlock, past", pthread_mutex_timedlock(m, &past));
	say("other", "timedlock, invalid", pthread_mutex_timedlock(m, &invalid));
	say("other", "clocklock, past", pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past));
	say("other", "clocklock, no clock", pthread_mutex_clocklock(m, 77, &past));
	return NULL;
}

static void *try_unlock(void *m)
{
	errno = UNTOUCHED;
	say("other", "unlock", pthread_mutex_unlock(m));
	return NULL;
}

static void run(void *(*f)(void *), void *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, f, arg);
	pthread_join(t, NULL);
}

static void try_recovery(const struct kind *k)
{
	pthread_mutex_t m;

	mutex_make(&m, k);
	run(take, &m);
	errno = UNTOUCHED;
	say(k->name, "timedlock, owner dead", pthread_mutex_timedlock(&m, &past));
	say(k->name, "consistent", pthread_mutex_consistent(&m));
	say(k->name, "unlock, recovered", pthread_mutex_unlock(&m));
	say(k->name, "lock, recovered", pthread_mutex_lock(&m));
	say(k->name, "unlock, recovered", pthread_mutex_unlock(&m));
	run(take, &m);
	errno = UNTOUCHED;
	say(k->name, "trylock, owner dead", pthread_mutex_trylock(&m));
	say(k->name, "unlock, not recovered", pthread_mutex_unlock(&m));
}

static void try_mutex(const struct kind *k)
{
	int relocks = k->type != PTHREAD_MUTEX_NORMAL && k->type != PTHREAD_MUTEX_ADAPTIVE_NP;
	pthread_mutex_t m;

	mutex_make(&m, k);
	errno = UNTOUCHED;
	say(k->name, "lock", pthread_mutex_lock(&m));
	say(k->name, "trylock, held", pthread_mutex_trylock(&m));
	if (k->type == PTHREAD_MUTEX_RECURSIVE)
		say(k->name, "unlock", pthread_mutex_unlock(&m));
	if (relocks) {
		say(k->name, "lock, held", pthread_mutex_lock(&m));
		say(k->name, "timedlock, held", pthread_mutex_timedlock(&m, &past));
	}
	if (k->type == PTHREAD_MUTEX_RECURSIVE) {
		say(k->name, "unlock", pthread_mutex_unlock(&m));
		say(k->name, "unlock", pthread_mutex_unlock(&m));
	}
	run(try_when_held, &m);
	if (k->type == PTHREAD_MUTEX_ERRORCHECK || k->type == PTHREAD_MUTEX_RECURSIVE || k->robust)
		run(try_unlock, &m);
	say(k->name, "unlock", pthread_mutex_unlock(&m));
	if (relocks || k->robust)
		say(k->name, "unlock, free", pthread_mutex_unlock(&m));
	say(k->name, "timedlock, free, invalid", pthread_mutex_timedlock(&m, &invalid));
	pthread_mutex_unlock(&m);
	say(k->name, "clocklock, free, no clock", pthread_mutex_clocklock(&m, 77, &past));
	if (!k->robust)
		return;
	run(take, &m);
	errno = UNTOUCHED;
	say(k->name, "lock, owner dead", pthread_mutex_lock(&m));
	pthread_mutex_unlock(&m);
	say(k->name, "lock, not recovered", pthread_mutex_lock(&m));
	say(k->name, "trylock, not recovered", pthread_mutex_trylock(&m));
	say(k->name, "consistent, not recovered", pthread_mutex_consistent(&m));
	try_recovery(k);
}

static void *read_when_written(void *l)
{
	errno = UNTOUCHED;
	say("rwlock", "unlock by another, tryrdlock", pthread_rwlock_tryrdlock(l));
	return NULL;
}

static void *try_rwlock_held(void *l)
{
	errno = UNTOUCHED;
	say("rwlock", "other, trywrlock", pthread_rwlock_trywrlock(l));
	say("rwlock", "other, timedwrlock, past", pthread_rwlock_timedwrlock(l, &past));
	say("rwlock", "other, timedwrlock, invalid", pthread_rwlock_timedwrlock(l, &invalid));
	say("rwlock", "other, clockwrlock, past",
	    pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &past));
	say("rwlock", "other, timedrdlock, invalid", pthread_rwlock_timedrdlock(l, &invalid));
	return NULL;
}

static void try_rwlock(void)
{
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

	errno = UNTOUCHED;
	say("rwlock", "rdlock", pthread_rwlock_rdlock(&l));
	say("rwlock", "rdlock again", pthread_rwlock_rdlock(&l));
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
	say("rwlock", "wrlock", pthread_rwlock_wrlock(&l));
	say("rwlock", "wrlock, held", pthread_rwlock_wrlock(&l));
	say("rwlock", "rdlock, held for writing", pthread_rwlock_rdlock(&l));
	run(read_when_written, &l);
	run(try_rwlock_held, &l);
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
	say("rwlock", "timedrdlock, free, past", pthread_rwlock_timedrdlock(&l, &past));
	run(try_rwlock_held, &l);
	say("rwlock", "timedrdlock, free, invalid", pthread_rwlock_timedrdlock(&l, &invalid));
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
	say("rwlock", "timedwrlock, free, invalid", pthread_rwlock_timedwrlock(&l, &invalid));
	say("rwlock", "timedwrlock, free, past", pthread_rwlock_timedwrlock(&l, &past));
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
	say("rwlock", "clockrdlock, no clock", pthread_rwlock_clockrdlock(&l, 77, &past));
	say("rwlock", "clockwrlock, no clock", pthread_rwlock_clockwrlock(&l, 77, &past));
	say("rwlock", "clockwrlock", pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &past));
	say("rwlock", "trywrlock, held", pthread_rwlock_trywrlock(&l));
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
	say("rwlock", "destroy", pthread_rwlock_destroy(&l));
}

static void try_spin(void)
{
	pthread_spinlock_t l;

	pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE);
	errno = UNTOUCHED;
	say("spin", "lock", pthread_spin_lock(&l));
	say("spin", "trylock, held", pthread_spin_trylock(&l));
	say("spin", "unlock", pthread_spin_unlock(&l));
	say("spin", "trylock", pthread_spin_trylock(&l));
	say("spin", "unlock", pthread_spin_unlock(&l));
}

static int last_ones; /* who came last to a barrier */

static void *wait_at_barrier(void *b)
{
	if (pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD)
		__atomic_fetch_add(&last_ones, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void try_barrier(void)
{
	pthread_barrier_t b;
	pthread_t t;

	pthread_barrier_init(&b, NULL, 1);
	errno = UNTOUCHED;
	for (int i = 0; i < 3; i++)
		say("barrier", "of one", pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
	pthread_barrier_destroy(&b);
	pthread_barrier_init(&b, NULL, 2);
	pthread_create(&t, NULL, wait_at_barrier, &b);
	usleep(20000); /* as a rule the other one waits by now */
	errno = UNTOUCHED;
	wait_at_barrier(&b);
	pthread_join(t, NULL);
	say("barrier", "the last of two", last_ones);
	say("barrier", "destroy", pthread_barrier_destroy(&b));
}

static int runs;

static void routine(void)
{
	runs++;
}

static pthread_once_t inner = PTHREAD_ONCE_INIT;

static void routine_with_another(void)
{
	pthread_once(&inner, routine);
	runs += 10;
}

static void try_once(void)
{
	pthread_once_t outer = PTHREAD_ONCE_INIT;
	once_flag flag = ONCE_FLAG_INIT;

	errno = UNTOUCHED;
	say("once", "first", pthread_once(&outer, routine_with_another));
	say("once", "runs", runs);
	say("once", "second", pthread_once(&outer, routine_with_another));
	say("once", "inner", pthread_once(&inner, routine));
	say("once", "runs", runs);
	call_once(&flag, routine);
	call_once(&flag, routine);
	say("once", "runs", runs);
}

/* C11: the numbers are thrd_success and its like. */
static int c11_take(void *m)
{
	int ret = mtx_trylock(m);

	say("c11", "trylock by another", ret);
	if (ret == thrd_success)
		say("c11", "unlock", mtx_unlock(m));
	say("c11", "timedlock, past", mtx_timedlock(m, &past));
	return 7;
}

static int c11_exit(void *unused)
{
	(void)unused;
	thrd_exit(11);
}

static void try_c11(int type)
{
	int value = 0;
	cnd_t c;
	mtx_t m;
	thrd_t t;

	errno = UNTOUCHED;
	say("c11", "init", mtx_init(&m, type));
	say("c11", "lock", mtx_lock(&m));
	say("c11", "trylock, held", mtx_trylock(&m));
	if (type & mtx_recursive)
		say("c11", "unlock", mtx_unlock(&m));
	say("c11", "create", thrd_create(&t, c11_take, &m));
	say("c11", "join", thrd_join(t, &value));
	say("c11", "value", value);
	cnd_init(&c);
	say("c11", "signal", cnd_signal(&c));
	say("c11", "broadcast", cnd_broadcast(&c));
	say("c11", "timedwait, past", cnd_timedwait(&c, &m, &past));
	say("c11", "timedwait, invalid", cnd_timedwait(&c, &m, &invalid));
	say("c11", "unlock", mtx_unlock(&m));
	say("c11", "create", thrd_create(&t, c11_exit, NULL));
	say("c11", "join", thrd_join(t, &value));
	say("c11", "value", value);
	cnd_destroy(&c);
	mtx_destroy(&m);
}

static void *returns(void *value)
{
	return value;
}

static void *exits(void *value)
{
	pthread_exit(value);
}

static void *waits_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void try_threads(void)
{
	struct timespec soon;
	void *value = NULL;
	pthread_t t;

	errno = UNTOUCHED;
	say("thread", "create", pthread_create(&t, NULL, returns, (void *)5));
	say("thread", "join", pthread_join(t, &value));
	say("thread", "value", (int)(intptr_t)value);
	say("thread", "create", pthread_create(&t, NULL, exits, (void *)6));
	say("thread", "clockjoin", pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, NULL));
	say("thread", "value", (int)(intptr_t)value);
	say("thread", "create", pthread_create(&t, NULL, waits_for_ever, NULL));
	say("thread", "tryjoin, alive", pthread_tryjoin_np(t, &value));
	clock_gettime(CLOCK_REALTIME, &soon);
	say("thread", "timedjoin, alive", pthread_timedjoin_np(t, &value, &soon));
	say("thread", "kill 0", pthread_kill(t, 0));
	say("thread", "kill, no signal", pthread_kill(t, 1000));
	say("thread", "cancel", pthread_cancel(t));
	say("thread", "join", pthread_join(t, &value));
	say("thread", "cancelled", value == PTHREAD_CANCELED);
	say("thread", "join of oneself", pthread_join(pthread_self(), NULL));
	say("thread", "create", pthread_create(&t, NULL, returns, NULL));
	say("thread", "detach", pthread_detach(t));
	say("thread", "long name", pthread_setname_np(pthread_self(), "sixteen-letters-"));
}

static void say_errno(const char *what, int ret)
{
	printf("%s: %d %s\n", what, ret, errno == UNTOUCHED ? "kept" : strerror(errno));
	errno = UNTOUCHED;
}

static void try_semaphore(void)
{
	sem_t s;

	sem_init(&s, 0, 2);
	errno = UNTOUCHED;
	say_errno("sem_wait", sem_wait(&s));
	say_errno("sem_timedwait, invalid", sem_timedwait(&s, &invalid));
	say_errno("sem_wait", sem_wait(&s));
	say_errno("sem_timedwait, past", sem_timedwait(&s, &past));
	say_errno("sem_clockwait, past", sem_clockwait(&s, CLOCK_MONOTONIC, &past));
	say_errno("sem_clockwait, no clock", sem_clockwait(&s, 77, &past));
	say_errno("sem_post", sem_post(&s));
	say_errno("sem_wait", sem_wait(&s));
	say_errno("sem_trywait, 0", sem_trywait(&s));
	say_errno("sem_post", sem_post(&s));
	say_errno("sem_trywait", sem_trywait(&s));
}

static void try_condition(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;

	errno = UNTOUCHED;
	pthread_mutex_lock(&m);
	say("cond", "signal", pthread_cond_signal(&c));
	say("cond", "broadcast", pthread_cond_broadcast(&c));
	say("cond", "timedwait, past", pthread_cond_timedwait(&c, &m, &past));
	say("cond", "timedwait, invalid", pthread_cond_timedwait(&c, &m, &invalid));
	say("cond", "clockwait, past", pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &past));
	say("cond", "clockwait, no clock", pthread_cond_clockwait(&c, &m, 77, &past));
	say("cond", "unlock after", pthread_mutex_unlock(&m));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		try_mutex(&kinds[i]);
	try_rwlock();
	try_semaphore();
	try_condition();
	try_spin();
	try_barrier();
	try_once();
	try_c11(mtx_plain);
	try_c11(mtx_timed | mtx_recursive);
	try_threads();
	return 0;
}
