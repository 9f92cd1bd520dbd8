/* SPDX-License-Identifier: MIT */
/*
 * Locks, condition variables, semaphores: who waited, how long, and for whom.
 *
 * What does not wait is not recorded (unless category pthread:all is on) and not timed. Whether someone
 * waits, and who holds a lock, is read from glibc's own words in the lock, which the public headers
 * describe. They are hints: a wrong one costs an arrow or a slice, never a result, since every
 * result comes from the real function.
 */
#include "preload/types.h"

#include "preload/call.h"
#include "preload/flow.h"
#include "preload/handoff.h"
#include "preload/real.h"

#include <linux/futex.h>

fx_hot bool records_all(const struct fx_thread *t)
{
	return t->state & FX_CAT_PTHREAD_ALL;
}

/* The one who released this while the call that is being written waited. */
#define fx_released(object) fx_handoff_take((uint64_t)(uintptr_t)(object), call.start)

/* --- Mutexes ---------------------------------------------------------------------------------- */

#define KIND_SHARED 128 /* between processes */
#define KIND_PLAIN  3	/* normal, recursive, errorcheck, adaptive: 0 to 3 */

/* For these kinds a trylock that succeeds has done what lock would have done, to the bit. Robust,
 * priority-inheriting, priority-protected and elided ones are different. */
fx_hot bool mutex_is_plain(const pthread_mutex_t *m)
{
	return (m->__data.__kind & ~KIND_SHARED) <= KIND_PLAIN;
}

fx_hot int fx_note_holder(const pthread_mutex_t *m)
{
	return fx_load_relaxed(&m->__data.__owner);
}

/* In a program of one thread lock is cheaper than trylock: it needs no atomic instruction. Libraries
 * older than glibc 2.32 do not say. */
extern char __libc_single_threaded __attribute__((weak));

fx_hot bool has_one_thread(void)
{
	return &__libc_single_threaded && __libc_single_threaded;
}

/* True: the lock was had without waiting, or its category is off; *ret is the result. Other kinds, and
 * one thread alone, look at the lock's word first: if it is free now, the wait is short. */
#define PASS_LOCK(t, mutex, ret, lock, ...)                                                        \
	do {                                                                                       \
		struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);                                   \
                                                                                                   \
		if (t && !records_all(t) && mutex_is_plain(mutex) && !has_one_thread()) {          \
			*(ret) = FX_REAL(pthread_mutex_trylock)(mutex);                            \
			return *(ret) == 0;                                                        \
		}                                                                                  \
		if (t && (records_all(t) || fx_load_relaxed(&(mutex)->__data.__lock)))             \
			return false;                                                              \
		*(ret) = FX_REAL(lock)(__VA_ARGS__);                                               \
		return true;                                                                       \
	} while (0)

fx_hot bool fx_pass_pthread_mutex_lock(pthread_mutex_t *m, int *ret)
{
	PASS_LOCK(t, m, ret, pthread_mutex_lock, m);
}

fx_hot bool fx_pass_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *time,
					    int *ret)
{
	PASS_LOCK(t, m, ret, pthread_mutex_timedlock, m, time);
}

fx_hot bool fx_pass_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
					    const struct timespec *time, int *ret)
{
	/* An unknown clock is an error even where nobody holds the lock. */
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
		*ret = FX_REAL(pthread_mutex_clocklock)(m, clock, time);
		return true;
	}
	PASS_LOCK(t, m, ret, pthread_mutex_clocklock, m, clock, time);
}

/* Never waits. */
fx_hot bool fx_pass_pthread_mutex_trylock(pthread_mutex_t *m, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (fx_unlikely(t && records_all(t)))
		return false;
	*ret = FX_REAL(pthread_mutex_trylock)(m);
	return true;
}

/* Someone waits, and the unlock that comes will let him go. */
fx_hot bool mutex_has_waiters(const pthread_mutex_t *m)
{
	unsigned lock = (unsigned)fx_load_relaxed(&m->__data.__lock);

	if (fx_likely(lock <= 1))
		return false;
	if ((m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP && m->__data.__count > 1)
		return false;
	return lock == 2 || (lock & FUTEX_WAITERS);
}

fx_hot bool fx_pass_pthread_mutex_unlock(pthread_mutex_t *m, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (fx_likely(t != NULL)) {
		if (fx_unlikely(mutex_has_waiters(m)))
			fx_flow_release(t, FX_STR_pthread_mutex_unlock, FX_STR_mutex, m, 1);
		if (fx_unlikely(records_all(t)))
			return false;
	}
	*ret = FX_REAL(pthread_mutex_unlock)(m);
	return true;
}

/* --- Read-write locks ------------------------------------------------------------------------- */

fx_hot bool fx_pass_pthread_rwlock_rdlock(pthread_rwlock_t *l, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t && records_all(t))
		return false;
	*ret = t ? FX_REAL(pthread_rwlock_tryrdlock)(l) : FX_REAL(pthread_rwlock_rdlock)(l);
	return !t || *ret == 0;
}

fx_hot bool fx_pass_pthread_rwlock_wrlock(pthread_rwlock_t *l, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t && records_all(t))
		return false;
	*ret = t ? FX_REAL(pthread_rwlock_trywrlock)(l) : FX_REAL(pthread_rwlock_wrlock)(l);
	return !t || *ret == 0;
}

/* Bit 1 of either futex word: somebody sleeps on it. */
fx_hot bool rwlock_has_waiters(const pthread_rwlock_t *l)
{
	return (fx_load_relaxed(&l->__data.__wrphase_futex) |
		fx_load_relaxed(&l->__data.__writers_futex)) &
	       2;
}

fx_hot bool fx_pass_pthread_rwlock_unlock(pthread_rwlock_t *l, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t) {
		if (fx_unlikely(rwlock_has_waiters(l)))
			fx_flow_release(t, FX_STR_pthread_rwlock_unlock, FX_STR_rwlock, l, 1);
		if (fx_unlikely(records_all(t)))
			return false;
	}
	*ret = FX_REAL(pthread_rwlock_unlock)(l);
	return true;
}

/* --- Spin locks, once ------------------------------------------------------------------------- */

fx_hot bool fx_pass_pthread_spin_lock(pthread_spinlock_t *l, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t && records_all(t))
		return false;
	*ret = t ? FX_REAL(pthread_spin_trylock)(l) : FX_REAL(pthread_spin_lock)(l);
	return !t || *ret == 0;
}

/* glibc's word: bit 1 when the routine has run. It runs inside the call, or is waited for there. */
#define ONCE_DONE 2

fx_hot bool fx_pass_pthread_once(pthread_once_t *once, fx_once_main start, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t && (records_all(t) || !(fx_load_relaxed(once) & ONCE_DONE)))
		return false;
	*ret = FX_REAL(pthread_once)(once, start);
	return true;
}

/* --- Semaphores ------------------------------------------------------------------------------- */

/* A sem_t begins with a 64-bit word: low half the value, high half the number of waiters. */
fx_hot uint64_t sem_word(const sem_t *s)
{
	return fx_load_relaxed((const uint64_t *)s);
}

fx_hot bool sem_would_wait(const sem_t *s)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	return t && (records_all(t) || (uint32_t)sem_word(s) == 0);
}

fx_hot bool fx_pass_sem_wait(sem_t *s, int *ret)
{
	if (sem_would_wait(s))
		return false;
	*ret = FX_REAL(sem_wait)(s);
	return true;
}

fx_hot bool fx_pass_sem_timedwait(sem_t *s, const struct timespec *time, int *ret)
{
	if (sem_would_wait(s))
		return false;
	*ret = FX_REAL(sem_timedwait)(s, time);
	return true;
}

fx_hot bool fx_pass_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *time, int *ret)
{
	if (sem_would_wait(s))
		return false;
	*ret = FX_REAL(sem_clockwait)(s, clock, time);
	return true;
}

fx_hot bool fx_pass_sem_post(sem_t *s, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t) {
		if (fx_unlikely(sem_word(s) >> 32))
			fx_flow_release(t, FX_STR_sem_post, FX_STR_sem, s, 1);
		if (fx_unlikely(records_all(t)))
			return false;
	}
	*ret = FX_REAL(sem_post)(s);
	return true;
}

/* --- Condition variables ---------------------------------------------------------------------- */

/* A wait always waits. It also releases the mutex, without a call of unlock. */
fx_hot bool cond_waits(pthread_mutex_t *m)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (!t)
		return false;
	if (mutex_has_waiters(m))
		fx_flow_release(t, FX_STR_pthread_mutex_unlock, FX_STR_mutex, m, 1);
	return true;
}

fx_hot bool fx_pass_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, int *ret)
{
	if (cond_waits(m))
		return false;
	*ret = FX_REAL(pthread_cond_wait)(c, m);
	return true;
}

fx_hot bool fx_pass_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
					   const struct timespec *time, int *ret)
{
	if (cond_waits(m))
		return false;
	*ret = FX_REAL(pthread_cond_timedwait)(c, m, time);
	return true;
}

fx_hot bool fx_pass_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
					   const struct timespec *time, int *ret)
{
	if (cond_waits(m))
		return false;
	*ret = FX_REAL(pthread_cond_clockwait)(c, m, clock, time);
	return true;
}

/* How many wait: the low three bits are flags. */
fx_hot unsigned cond_waiters(const pthread_cond_t *c)
{
	return fx_load_relaxed(&c->__data.__wrefs) >> 3;
}

fx_hot bool fx_pass_pthread_cond_signal(pthread_cond_t *c, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t) {
		if (cond_waiters(c))
			fx_flow_release(t, FX_STR_pthread_cond_signal, FX_STR_cond, c, 1);
		if (fx_unlikely(records_all(t)))
			return false;
	}
	*ret = FX_REAL(pthread_cond_signal)(c);
	return true;
}

fx_hot bool fx_pass_pthread_cond_broadcast(pthread_cond_t *c, int *ret)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_SYNC);

	if (t) {
		unsigned waiters = cond_waiters(c);

		if (waiters)
			fx_flow_release(t, FX_STR_pthread_cond_broadcast, FX_STR_cond, c,
					waiters < FX_RELEASE_MAX ? waiters : FX_RELEASE_MAX);
		if (fx_unlikely(records_all(t)))
			return false;
	}
	*ret = FX_REAL(pthread_cond_broadcast)(c);
	return true;
}

#include "preload/unit-sync.inc"
