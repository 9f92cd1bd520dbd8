/* SPDX-License-Identifier: MIT */
/* Prints what every kind of mutex answers to every operation, free, held by the caller and held by
 * another, and what the other locks answer. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
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
};

static void mutex_make(pthread_mutex_t *m, const struct kind *k)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, k->type);
	pthread_mutexattr_setrobust(&a, k->robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setprotocol(&a, k->protocol);
	pthread_mutexattr_setpshared(&a,
				     k->shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(m, &a);
}

static void say(const char *kind, const char *what, int ret)
{
	printf("%s, %s: %s, errno %s\n", kind, what,
	       strerrorname_np(ret) ? strerrorname_np(ret) : "0",
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
}

static void *read_when_written(void *l)
{
	errno = UNTOUCHED;
	say("rwlock", "unlock by another, tryrdlock", pthread_rwlock_tryrdlock(l));
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
	say("rwlock", "unlock", pthread_rwlock_unlock(&l));
}

static void say_errno(const char *what, int ret)
{
	printf("%s: %d %s\n", what, ret, errno == UNTOUCHED ? "kept" : strerrorname_np(errno));
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
	return 0;
}
