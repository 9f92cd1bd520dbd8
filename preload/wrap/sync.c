/* SPDX-License-Identifier: MIT */
/*
 * Mutexes, of POSIX and C11, and spin locks: which thread waited, how long, which held the lock, and which gave it to
 * which. The others are in rwlock.c and wake.c.
 */
#include "preload/types.h"

#include <linux/futex.h>

#include "preload/call/handoff.h"
#include "preload/call/objects.h"
#include "preload/call/shares.h"
#include "preload/host/real.h"
#include "preload/call/waiting.h"

/* --- Mutexes ---------------------------------------------------------------------------------- */

#define KIND_SHARED  128 /* between processes */
#define KIND_PLAIN   3	 /* normal, recursive, errorcheck, adaptive: 0 to 3 */
#define KIND_ROBUST  16
#define KIND_INHERIT 32
#define KIND_PROTECT 64
#define PROTECT_LOCK 0x7ffff /* above it, the ceiling that a priority-protected lock had last */

/* For these kinds a trylock that succeeds has done what lock would have done, to the bit. Robust,
 * priority-inheriting, priority-protected and elided ones are different. */
fx_hot bool mutex_is_plain(const pthread_mutex_t *m)
{
	return !(fx_load_relaxed(&m->__data.__kind) & ~(KIND_SHARED | KIND_PLAIN));
}

fx_hot bool mutex_is_held(const pthread_mutex_t *m)
{
	int lock = fx_load_relaxed(&m->__data.__lock);

	return m->__data.__kind & KIND_PROTECT ? lock & PROTECT_LOCK : lock;
}

fx_hot bool mutex_is_robust(const pthread_mutex_t *m)
{
	return m->__data.__kind & KIND_ROBUST;
}

/* Robust mutexes that were made here for this process alone: glibc marks all robust ones as shared. */
static struct fx_objects robust FX_LARGE;

static bool mutex_is_shared(const pthread_mutex_t *m)
{
	return m->__data.__kind & KIND_SHARED &&
	       !(mutex_is_robust(m) && fx_objects_have(&robust, m));
}

static int fx_call_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	int ret = FX_REAL(pthread_mutex_init)(m, attr);
	int shared = PTHREAD_PROCESS_SHARED;

	if (ret == 0 && attr && mutex_is_robust(m)) {
		pthread_mutexattr_getpshared(attr, &shared);
		fx_objects_set(&robust, m, shared == PTHREAD_PROCESS_PRIVATE);
	}
	return ret;
}

fx_hot bool fx_pass_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr,
				       int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (t && fx_records_all(t))
		return false;
	*ret = fx_call_pthread_mutex_init(m, attr);
	return true;
}

/* The tid of the thread that holds it, or has died as its owner; 0: none, or one that has only just taken it. */
static uint32_t mutex_holder(const pthread_mutex_t *m)
{
	uint32_t lock = (uint32_t)fx_load_relaxed(&m->__data.__lock);
	uint32_t owner = (uint32_t)fx_load_relaxed(&m->__data.__owner);

	if (lock & FUTEX_OWNER_DIED && mutex_is_robust(m) && !(lock & FUTEX_TID_MASK))
		return owner < FX_TID_END ? owner : 0;
	if (m->__data.__kind & (KIND_ROBUST | KIND_INHERIT))
		return lock & FUTEX_TID_MASK;
	return owner;
}

/* Whether a lock of it would be a wait, as it is now: the holder of a recursive one has it at once, once more. */
fx_hot bool mutex_would_wait(const pthread_mutex_t *m, uint32_t tid)
{
	return mutex_is_held(m) && !((m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP &&
				     (uint32_t)fx_load_relaxed(&m->__data.__owner) == tid);
}

/* An unlock that leaves a recursive mutex locked, or is refused, releases nothing. */
static bool mutex_is_kept(const pthread_mutex_t *m, uint32_t tid)
{
	int kind = m->__data.__kind, type = kind & 3;

	if (type == PTHREAD_MUTEX_RECURSIVE_NP && m->__data.__count > 1)
		return true;
	return (type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP ||
		kind & (KIND_ROBUST | KIND_INHERIT)) &&
	       (uint32_t)m->__data.__owner != tid;
}

/* What an unlock that is not an ordinary one's end begins with: it is kept, or processes share it. */
static bool mutex_is_odd(const pthread_mutex_t *m, uint32_t tid)
{
	return m->__data.__kind & KIND_SHARED || mutex_is_kept(m, tid);
}

/*
 * Where tokens lie: of the thread that released it; and of a robust one, of the thread that has it now. One that dies as
 * its owner says nothing itself, and the next owner cannot see which it was, unless that was the owner since before this
 * wait.
 */
#define BY_OWNER 0
#define HELD_BY	 1

/* Leaves a token for the thread that has the lock next; that reads it while it holds the lock. */
static fx_cold void released_alone(struct fx_thread *t, const volatile void *object, unsigned name)
{
	struct fx_source from;
	struct fx_wait visit;

	if (!fx_visit_begin(&visit, object))
		return;
	from = fx_source_now(t, name);
	fx_token_clear(&visit.cell->tokens[HELD_BY]);
	fx_token_set(&visit.cell->tokens[BY_OWNER], &from, false);
	fx_wait_end(&visit);
}

/* Of those that processes share. */
static fx_cold void share_released(struct fx_thread *t, const pthread_mutex_t *m)
{
	const struct fx_share_word word = {.kind = FX_SHARE_RELEASES, .end = fx_share_now()};

	fx_share_tell(t, m, &word);
}

/* (If waits alone are recorded, it was held as the call began, even if it is free by now.) */
static void share_had(const struct fx_wait *w, const pthread_mutex_t *m, enum fx_share_kind kind)
{
	const bool was_free = w->looked_free && fx_records_all(fx_self);
	const struct fx_share_word word = {.kind = kind,
					   .value = (int32_t)w->holder,
					   .begin = w->start,
					   .looked = was_free ? 0 : w->looked,
					   .end = fx_share_now()};

	fx_share_tell(fx_self, m, &word);
}

fx_hot void mutex_releases(struct fx_thread *t, const pthread_mutex_t *m)
{
	if (fx_unlikely(m->__data.__kind)) {
		if (mutex_is_kept(m, t->tid))
			return;
		if (mutex_is_shared(m)) {
			share_released(t, m);
			return;
		}
	}
	if (fx_releases(m, t->tid))
		released_alone(t, m, FX_STR_pthread_mutex_unlock);
}

void fx_mutex_releases(struct fx_thread *t, const pthread_mutex_t *m)
{
	mutex_releases(t, m);
}

/* The holder may be about to take or to release it, and not say which thread it is; not for long. */
#define LOOKS 64

static void fx_begin_mutex(struct fx_wait *w, const struct fx_call *call, const pthread_mutex_t *m,
			   uint64_t sp)
{
	fx_wait_open(w, call, mutex_is_shared(m) ? NULL : m, sp);
	w->looked_free = !mutex_is_held(m);
	for (int i = 0; i < LOOKS && !w->holder && mutex_is_held(m); i++)
		w->holder = mutex_holder(m);
	if (mutex_is_shared(m))
		w->looked = fx_share_now();
	fx_wait_look_back(w, m);
}

/* A lock that is recorded though it is free: a thread that gets it so has not waited, and need not take part in anything. */
static bool fx_try_pthread_mutex_lock(struct fx_wait *w, pthread_mutex_t *m, int *ret)
{
	if (!fx_records_all(fx_self) || !mutex_is_plain(m))
		return false;
	*ret = FX_REAL(pthread_mutex_trylock)(m);
	if (*ret != 0)
		return false;
	w->holder = 0;
	w->taken = NULL;
	w->ran = false;
	w->from.tid = 0;
	return true;
}

/* A lock that one thread holds at a time has been had. */
static void end_alone(struct fx_wait *w, const volatile void *object, unsigned name)
{
	struct fx_wait_cell *cell = fx_wait_cell(w);

	if (cell && !fx_token_get(&cell->tokens[BY_OWNER], 0, &w->from))
		fx_wait_guess(w, name, fx_wait_noted(w, object, true));
}

/* The owner has died: the arrow comes from its end. */
static void end_dead(struct fx_wait *w, struct fx_wait_cell *cell)
{
	uint32_t dead = fx_token_tid(&cell->tokens[HELD_BY]);

	if (!dead && !fx_token_tid(&cell->tokens[BY_OWNER]))
		dead = w->holder;
	fx_token_clear(&cell->tokens[BY_OWNER]);
	w->from.tid = dead;
	w->from.name = FX_STR_owner_ends;
	if (dead && fx_handoff_time(dead, &w->from.time))
		w->from.time += fx_engine.tick_step; /* behind what the thread said itself */
	else
		w->from.time = fx_now();
}

static void held_by(struct fx_wait_cell *cell, uint32_t tid)
{
	const struct fx_source from = {.tid = tid};

	fx_token_set(&cell->tokens[HELD_BY], &from, true);
}

static void fx_end_mutex(struct fx_wait *w, const pthread_mutex_t *m, int error)
{
	struct fx_wait_cell *cell = fx_wait_cell(w);

	if (w->looked && (error == 0 || error == EOWNERDEAD))
		share_had(w, m, error ? FX_SHARE_INHERITS : FX_SHARE_HAS);
	if (error == 0)
		end_alone(w, m, FX_STR_pthread_mutex_unlock);
	else if (error == EOWNERDEAD && cell)
		end_dead(w, cell);
	if ((error == 0 || error == EOWNERDEAD) && cell && mutex_is_robust(m))
		held_by(cell, fx_self->tid);
	fx_wait_end(w);
}

/* Takes a robust one that nobody has, without waiting. */
static fx_cold int robust_taken(const pthread_mutex_t *m, int error)
{
	struct fx_share_word word = {.kind = FX_SHARE_INHERITS};
	struct fx_thread *t = fx_sync_thread();
	struct fx_wait visit;

	if (t && error == EOWNERDEAD && mutex_is_shared(m)) {
		word.begin = word.end = fx_share_now();
		fx_share_tell(t, m, &word);
	}

	if (t && (error == 0 || error == EOWNERDEAD) && fx_is_awaited(m) &&
	    fx_visit_begin(&visit, m)) {
		held_by(visit.cell, t->tid);
		fx_wait_end(&visit);
	}
	return error;
}

static fx_cold int robust_pthread_mutex_lock(pthread_mutex_t *m)
{
	return robust_taken(m, FX_REAL(pthread_mutex_lock)(m));
}

static fx_cold int robust_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *time)
{
	return robust_taken(m, FX_REAL(pthread_mutex_timedlock)(m, time));
}

static fx_cold int robust_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
						  const struct timespec *time)
{
	return robust_taken(m, FX_REAL(pthread_mutex_clocklock)(m, clock, time));
}

static fx_cold int robust_pthread_mutex_trylock(pthread_mutex_t *m)
{
	return robust_taken(m, FX_REAL(pthread_mutex_trylock)(m));
}

/* True: the lock was had without waiting, or its category is off; *ret is the result. Other kinds, and
 * one thread alone, look at the lock's word first: if it is free now, the wait is short. */
#define PASS_LOCK(mutex, ret, lock, ...)                                                           \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (t_) {                                                                          \
			if (fx_unlikely(fx_records_all(t_)))                                       \
				return false;                                                      \
			if (fx_likely(mutex_is_plain(mutex))) {                                    \
				if (!fx_has_one_thread()) {                                        \
					*(ret) = FX_REAL(pthread_mutex_trylock)(mutex);            \
					FX_TAKEN(t_, mutex, ret);                                  \
					return *(ret) == 0;                                        \
				}                                                                  \
				if (fx_likely(!fx_load_relaxed(&(mutex)->__data.__lock))) {        \
					*(ret) = FX_REAL(lock)(__VA_ARGS__);                       \
					FX_TAKEN(t_, mutex, ret);                                  \
					return true;                                               \
				}                                                                  \
			} else if (mutex_is_robust(mutex) && !mutex_is_held(mutex)) {              \
				*(ret) = robust_##lock(__VA_ARGS__);                               \
				FX_TAKEN(t_, mutex, ret);                                          \
				return true;                                                       \
			}                                                                          \
			if (mutex_would_wait(mutex, t_->tid))                                      \
				return false;                                                      \
		}                                                                                  \
		*(ret) = FX_REAL(lock)(__VA_ARGS__);                                               \
		FX_TAKEN(t_, mutex, ret);                                                          \
		return true;                                                                       \
	} while (0)

fx_hot bool fx_pass_pthread_mutex_lock(pthread_mutex_t *m, int *ret)
{
	PASS_LOCK(m, ret, pthread_mutex_lock, m);
}

fx_hot bool fx_pass_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *time,
					    int *ret)
{
	PASS_LOCK(m, ret, pthread_mutex_timedlock, m, time);
}

fx_hot bool fx_pass_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
					    const struct timespec *time, int *ret)
{
	/* An unknown clock is an error even where nobody holds the lock. */
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
		*ret = FX_REAL(pthread_mutex_clocklock)(m, clock, time);
		return true;
	}
	PASS_LOCK(m, ret, pthread_mutex_clocklock, m, clock, time);
}

/* Takes the lock, changes the ceiling, and gives it back: who has it next, has it by nobody's release that is told. */
static fx_cold void ceiling_given_back(const struct fx_wait *w, const pthread_mutex_t *m)
{
	const struct fx_share_word word = {.kind = FX_SHARE_NOT_SAID, .looked = w ? w->looked : 0};
	struct fx_thread *t = fx_sync_thread();

	if (t && mutex_is_shared(m))
		fx_share_tell(t, m, &word);
	else
		fx_release_unknown(m);
}

static void fx_begin_ceiling(struct fx_wait *w, const struct fx_call *call,
			     const pthread_mutex_t *m, uint64_t sp)
{
	fx_begin_mutex(w, call, m, sp);
}

static void fx_end_ceiling(struct fx_wait *w, const pthread_mutex_t *m, int error)
{
	if (error == 0) {
		end_alone(w, m, FX_STR_pthread_mutex_unlock);
		ceiling_given_back(w, m);
	}
	fx_wait_end(w);
}

fx_hot bool fx_pass_pthread_mutex_setprioceiling(pthread_mutex_t *m, int ceiling, int *before,
						 int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (t && (fx_records_all(t) || mutex_is_held(m)))
		return false;
	*ret = FX_REAL(pthread_mutex_setprioceiling)(m, ceiling, before);
	if (t && *ret == 0)
		ceiling_given_back(NULL, m);
	return true;
}

fx_hot bool fx_pass_pthread_mutex_trylock(pthread_mutex_t *m, int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (fx_unlikely(t && fx_records_all(t)))
		return false;
	*ret = t && fx_unlikely(mutex_is_robust(m)) ? robust_pthread_mutex_trylock(m)
						    : FX_REAL(pthread_mutex_trylock)(m);
	FX_TAKEN(t, m, ret);
	return true;
}

/* The token is left before the lock is free, so that it is there for the thread that gets it next. */
#define PASS_UNLOCK(object, releases, ret, unlock)                                                 \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (fx_likely(t_ != NULL)) {                                                       \
			releases(t_, object);                                                      \
			if (fx_unlikely(fx_records_all(t_)))                                       \
				return false;                                                      \
		} else if (fx_unlikely(fx_category_on(FX_CAT_SYNC))) {                             \
			fx_release_unknown(object);                                                \
		}                                                                                  \
		FX_FAULT(release_looked);                                                          \
		*(ret) = FX_REAL(unlock)(object);                                                  \
		return true;                                                                       \
	} while (0)

/*
 * The same where no thread waits, only uncontended locks are left out, and the real function is known: then nothing but that is called,
 * by a jump, so no register is saved. `is_odd': what it unlocks stays locked, which is not noted, or is of several processes.
 */
#define UNLOCK_AT_HAND(object, is_odd, ret, unlock)                                                \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread_at_hand();                                   \
		__typeof__(fx_real.fn.unlock) real_ = fx_load_relaxed(&fx_real.fn.unlock);         \
                                                                                                   \
		if (fx_likely(t_ && real_ && !(is_odd)) &&                                         \
		    fx_likely(!fx_releases(FX_OBJECT(object), t_->tid))) {                         \
			FX_FAULT(release_looked);                                                  \
			*(ret) = real_(object);                                                    \
			return true;                                                               \
		}                                                                                  \
	} while (0)

/* What a slow half says instead of a result: the call is to be recorded. */
#define NOT_PASSED INT64_MIN

static fx_cold bool mutex_unlock_passes(pthread_mutex_t *m, int *ret)
{
	PASS_UNLOCK(m, mutex_releases, ret, pthread_mutex_unlock);
}

static fx_cold int64_t mutex_unlock_slowly(pthread_mutex_t *m)
{
	int ret;

	return mutex_unlock_passes(m, &ret) ? ret : NOT_PASSED;
}

fx_hot bool fx_pass_pthread_mutex_unlock(pthread_mutex_t *m, int *ret)
{
	int64_t r;

	UNLOCK_AT_HAND(m, m->__data.__kind && mutex_is_odd(m, t_->tid), ret, pthread_mutex_unlock);
	r = mutex_unlock_slowly(m);
	*ret = (int)r;
	return r != NOT_PASSED;
}

/* --- The same of C11, which has the same lock in it ------------------------------------------- */

_Static_assert(sizeof(mtx_t) <= sizeof(pthread_mutex_t) && thrd_success == 0,
	       "C11's mutexes are mutexes");

static const pthread_mutex_t *mutex_of(const mtx_t *m)
{
	return (const pthread_mutex_t *)m;
}

static void fx_begin_mtx(struct fx_wait *w, const struct fx_call *call, const mtx_t *m, uint64_t sp)
{
	fx_begin_mutex(w, call, mutex_of(m), sp);
}

static void fx_end_mtx(struct fx_wait *w, const mtx_t *m, int error)
{
	fx_end_mutex(w, mutex_of(m), error);
}

_Static_assert(thrd_success == 0, "what PASS_LOCK asks");

/* As PASS_LOCK. */
#define PASS_MTX(m, ret, lock, ...)                                                                \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (t_ && !fx_records_all(t_) && mutex_is_plain(mutex_of(m)) &&                    \
		    !fx_has_one_thread()) {                                                        \
			*(ret) = FX_REAL(mtx_trylock)(m);                                          \
			FX_TAKEN(t_, m, ret);                                                      \
			return *(ret) == thrd_success;                                             \
		}                                                                                  \
		if (t_ && (fx_records_all(t_) || mutex_would_wait(mutex_of(m), t_->tid)))          \
			return false;                                                              \
		*(ret) = FX_REAL(lock)(__VA_ARGS__);                                               \
		FX_TAKEN(t_, m, ret);                                                              \
		return true;                                                                       \
	} while (0)

fx_hot bool fx_pass_mtx_lock(mtx_t *m, int *ret)
{
	PASS_MTX(m, ret, mtx_lock, m);
}

fx_hot bool fx_pass_mtx_timedlock(mtx_t *m, const struct timespec *time, int *ret)
{
	PASS_MTX(m, ret, mtx_timedlock, m, time);
}

fx_hot bool fx_pass_mtx_trylock(mtx_t *m, int *ret)
{
	FX_PASS_TAKE(ret, mtx_trylock, m);
}

fx_hot void mtx_releases(struct fx_thread *t, const mtx_t *m)
{
	mutex_releases(t, mutex_of(m));
}

fx_hot bool fx_pass_mtx_unlock(mtx_t *m, int *ret)
{
	PASS_UNLOCK(m, mtx_releases, ret, mtx_unlock);
}

/* --- Spin locks ------------------------------------------------------------------------------- */

/* Nothing in a spin lock tells whether processes share it: those that were made here for that. */
static struct fx_objects shared_spins FX_LARGE;

static int fx_call_pthread_spin_init(pthread_spinlock_t *l, int shared)
{
	fx_objects_set(&shared_spins, (const volatile void *)l, shared == PTHREAD_PROCESS_SHARED);
	return FX_REAL(pthread_spin_init)(l, shared);
}

fx_hot bool fx_pass_pthread_spin_init(pthread_spinlock_t *l, int shared, int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (t && fx_records_all(t))
		return false;
	*ret = fx_call_pthread_spin_init(l, shared);
	return true;
}

static void fx_begin_spin(struct fx_wait *w, const struct fx_call *call, pthread_spinlock_t *l,
			  uint64_t sp)
{
	bool shared = fx_objects_have(&shared_spins, (const volatile void *)l);

	fx_wait_open(w, call, shared ? NULL : l, sp);
}

static void fx_end_spin(struct fx_wait *w, pthread_spinlock_t *l, int error)
{
	if (error == 0)
		end_alone(w, l, FX_STR_pthread_spin_unlock);
	fx_wait_end(w);
}

fx_hot void spin_releases(struct fx_thread *t, pthread_spinlock_t *l)
{
	if (fx_releases(l, t->tid))
		released_alone(t, l, FX_STR_pthread_spin_unlock);
}

fx_hot bool fx_pass_pthread_spin_lock(pthread_spinlock_t *l, int *ret)
{
	FX_PASS_TRIED(true, true, pthread_spin_trylock, l, ret, pthread_spin_lock, l);
}

fx_hot bool fx_pass_pthread_spin_trylock(pthread_spinlock_t *l, int *ret)
{
	FX_PASS_TAKE(ret, pthread_spin_trylock, l);
}

static fx_cold bool spin_unlock_passes(pthread_spinlock_t *l, int *ret)
{
	PASS_UNLOCK(l, spin_releases, ret, pthread_spin_unlock);
}

static fx_cold int64_t spin_unlock_slowly(pthread_spinlock_t *l)
{
	int ret;

	return spin_unlock_passes(l, &ret) ? ret : NOT_PASSED;
}

fx_hot bool fx_pass_pthread_spin_unlock(pthread_spinlock_t *l, int *ret)
{
	int64_t r;

	UNLOCK_AT_HAND(l, false, ret, pthread_spin_unlock);
	r = spin_unlock_slowly(l);
	*ret = (int)r;
	return r != NOT_PASSED;
}

#include "preload/unit-sync.inc"
