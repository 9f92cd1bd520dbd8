/* SPDX-License-Identifier: MIT */
/*
 * What the wrappers of all that waits have in common. What does not wait is not recorded (unless category
 * pthread:all is on) and not timed. Whether someone holds a lock is read from glibc's own words in it, which
 * the public headers describe. They are hints: a wrong one costs an arrow or a slice, never a result, since
 * every result comes from the real function.
 *
 * For each KIND of `wait=KIND(object)' in wrappers.tbl there are
 *	fx_begin_KIND(wait, call, object, sp)	before the real function
 *	fx_end_KIND(wait, object, result)	after it: finds out which thread ended the wait
 *
 * Objects that processes share have no arrows from here: the thread that releases them may be of another process (shares.h).
 */
#ifndef FX_PRELOAD_WAITING_H
#define FX_PRELOAD_WAITING_H

#include "preload/call/call.h"
#include "preload/call/taken.h"
#include "preload/call/waits.h"

#define FX_WAIT_WORDS (FX_ARROW_WORDS + FX_WORDS_int + 2 * FX_WORDS_ptr)

#define FX_OBJECT(object) ((const volatile void *)(uintptr_t)(object))

fx_hot bool fx_records_all(const struct fx_thread *t)
{
	return t->adopted & FX_CAT_PTHREAD_ALL;
}

/* Of a call that had to wait: for which thread, where that had taken the lock, and from where in the program the call was
 * made. */
fx_hot void fx_wait_show(struct fx_call *call, struct fx_wait *w, const void *at)
{
	if (w->holder)
		fx_arg_int(call, FX_STR_holder, (int)w->holder);
	else if (w->ran)
		fx_arg_int(call, FX_STR_ran, 1);
	if (w->taken)
		fx_arg_ptr(call, FX_STR_taken, w->taken);
	if (w->holder || w->from.tid || w->ran)
		fx_arg_ptr(call, FX_STR_at, at);
	if (w->holder && w->from.tid == w->holder && w->from.time > w->start)
		w->from.held = w->from.time - w->start;
}

/* Where the holder has taken the lock, as the wait begins. */
fx_hot void fx_wait_look_back(struct fx_wait *w, const volatile void *object)
{
	if (w->holder)
		w->taken = fx_taken_at(object, w->holder);
}

/* The call is over; without an error, its thread has the lock. No thread has taken it since the last one did; `alone':
 * the process had no other thread then. */
fx_hot void fx_wait_took(struct fx_wait *w, const volatile void *object, int error, bool alone,
			 const void *at)
{
	uint32_t before = w->holder || !alone ? w->holder : w->from.tid;

	if (error != 0 && error != EOWNERDEAD)
		return;
	if (before && !w->taken)
		w->taken = fx_taken_at(object, before);
	fx_note_taken(fx_self, object, at);
}

/*
 * The calling thread's state, while waits are recorded; else NULL. For what may turn out to be no wait: whether the
 * manager lives is left to fx_call_begin(). On: 9 instructions and three branches.
 */
fx_hot struct fx_thread *fx_sync_thread(void)
{
	/* relaxed: as in fx_thread_on() */
	uint64_t state = fx_load_relaxed(&fx_control()->state);
	struct fx_thread *t;

	if (!fx_state_has(state, FX_CAT_SYNC))
		return NULL;
	t = fx_self; /* if it is one */
	return fx_likely(fx_own_is_known() && t->state == state) ? t : fx_thread_adopt(FX_CAT_SYNC);
}

/* The same, if nothing is to be done for it, and waits alone are recorded; else NULL. */
fx_hot struct fx_thread *fx_sync_thread_at_hand(void)
{
	/* relaxed: as in fx_thread_on() */
	uint64_t state = fx_load_relaxed(&fx_control()->state);
	struct fx_thread *t;

	if (fx_unlikely(!fx_state_has(state, FX_CAT_SYNC) || (state & FX_CAT_PTHREAD_ALL)))
		return NULL;
	/* (Not read before: see fx_engine_guest_comes().) */
	t = fx_self;
	return fx_likely(fx_own_is_known() && t->state == state) ? t : NULL;
}

/* In a program of one thread lock is cheaper than trylock: it needs no atomic instruction. Libraries
 * older than glibc 2.32 do not say. */
extern const char *fx_one_thread __attribute__((visibility("hidden")));

fx_hot bool fx_has_one_thread(void)
{
	return *fx_one_thread;
}

/* Whether a wait until then can be tried without looking at the time: else the real function may say that
 * the time is no time, even if it would not wait. */
fx_hot bool fx_time_is_valid(clockid_t clock, const struct timespec *time)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && time->tv_nsec >= 0 &&
	       time->tv_nsec < 1000000000;
}

/* Takes part from now on; and then the time is read, before which a release that is under way has begun. */
fx_hot void fx_wait_open(struct fx_wait *w, const struct fx_call *call, const volatile void *object,
			 uint64_t sp)
{
	fx_wait_begin(w, object, sp);
	w->start = fx_now();
	if (w->start < call->start)
		w->start = call->start;
}

/* The real function is about to wait: should it never return, it is known for which thread, and where that has locked it. */
fx_hot void fx_wait_tell(const struct fx_wait *w, const struct fx_call *call)
{
	struct fx_frame *told = call->thread->slot->frames;

	fx_store_relaxed(&told->start, w->taken ? (uint64_t)(uintptr_t)w->taken : 1);
	/* Pairs with fx_drain_frames(). */
	fx_store_release(&told->key, fx_holder_word(call->start, w->holder));
}

/*
 * There is no token, so the arrow comes from the thread whose release was under way as the wait began: the holder, or `noted',
 * which the note names (waits.h). An operation that is recorded whether it waits or not (pthread:all) waited for no thread,
 * if it found the lock free.
 */
fx_hot void fx_wait_guess(struct fx_wait *w, unsigned name, uint32_t noted)
{
	if (w->looked_free && fx_records_all(fx_self))
		return;
	w->from.tid = w->holder ? w->holder : noted;
	w->from.name = name;
	w->from.time = w->start;
}

/*
 * Bodies of fx_pass_NAME(): true: the call has been made, and is not recorded; *ret is its result.
 *
 * FX_PASS_MADE: of a call that never waits, which `made' makes (t_ is the thread); FX_PASS_TRY: by the real function alone;
 * FX_PASS_TAKE: the same, of one that then has the lock alone. FX_PASS_TRIED: of one that waits, which is tried first by a
 * call that does not; `valid' is false if the real function is to be asked about the time, and `alone' where nobody else can
 * have the lock then.
 */
#define FX_TAKEN(t, l, ret)                                                                        \
	do {                                                                                       \
		if ((t) && fx_likely(*(ret) == 0))                                                 \
			fx_note_taken(t, FX_OBJECT(l), __builtin_return_address(0));               \
	} while (0)

#define FX_PASS_TAKE(ret, try_, l)                                                                 \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (fx_unlikely(t_ && fx_records_all(t_)))                                         \
			return false;                                                              \
		*(ret) = FX_REAL(try_)(l);                                                         \
		FX_TAKEN(t_, l, ret);                                                              \
		return true;                                                                       \
	} while (0)

#define FX_PASS_MADE(ret, made)                                                                    \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (fx_unlikely(t_ && fx_records_all(t_)))                                         \
			return false;                                                              \
		*(ret) = (made);                                                                   \
		return true;                                                                       \
	} while (0)

#define FX_PASS_TRY(ret, try_, ...) FX_PASS_MADE(ret, FX_REAL(try_)(__VA_ARGS__))

#define FX_PASS_TRIED(alone, valid, try_, l, ret, lock, ...)                                       \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (t_ && (fx_records_all(t_) || !(valid)))                                        \
			return false;                                                              \
		*(ret) = t_ ? FX_REAL(try_)(l) : FX_REAL(lock)(__VA_ARGS__);                       \
		if (alone)                                                                         \
			FX_TAKEN(t_, l, ret);                                                      \
		return !t_ || *(ret) == 0;                                                         \
	} while (0)

/* Mutexes, which condition variables release as well: see sync.c. */
void fx_mutex_releases(struct fx_thread *t, const pthread_mutex_t *m);

#endif
