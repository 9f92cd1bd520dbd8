/* SPDX-License-Identifier: MIT */
/* Read-write locks: which thread waited, how long, which wrote, and which let which in. */
#include "preload/types.h"

#include "preload/call/shares.h"
#include "preload/call/waiting.h"
#include "preload/host/real.h"

/* Where tokens lie: a writer's, which is for all readers or a writer, and behind it those of readers, which may be many
 * before a writer has the lock. */
#define BY_WRITER 0
#define BY_READER 1

/* Bits of glibc's word: below them the phase, above them the number of readers. */
#define RWLOCK_WRITING 1u /* the phase is the writers' */
#define RWLOCK_LOCKED  2u /* a writer has it, or is next */
#define RWLOCK_AWAITED 4u /* by readers */
#define RWLOCK_READER  8u /* one */

/* Processes share it; after a wait. */
static fx_cold void rwlock_share_had(const struct fx_wait *w, const pthread_rwlock_t *l,
				     enum fx_share_kind kind, bool was_held)
{
	const struct fx_share_word word = {.kind = kind,
					   .value = (int32_t)w->holder,
					   .begin = w->start,
					   .looked = was_held ? w->looked : 0,
					   .end = fx_share_now()};

	fx_share_tell(fx_self, l, &word);
}

static bool rwlock_prefers_writers(const pthread_rwlock_t *l)
{
	return l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* If waits alone are recorded, it could not be had as the call began. */
static bool rwlock_was_held(const struct fx_wait *w)
{
	return !w->looked_free || !fx_records_all(fx_self);
}

/* A writer of one that processes share has given up: whoever was held back for it may go on now, and no release is why. */
static fx_cold void rwlock_share_given_up(const pthread_rwlock_t *l)
{
	const struct fx_share_word word = {.kind = FX_SHARE_NOT_SAID};

	if (rwlock_prefers_writers(l))
		fx_share_tell(fx_self, l, &word);
}

static void begin_rwlock(struct fx_wait *w, const struct fx_call *call, const pthread_rwlock_t *l,
			 uint64_t sp)
{
	fx_wait_open(w, call, l->__data.__shared ? NULL : l, sp);
	w->holder = (uint32_t)fx_load_relaxed(&l->__data.__cur_writer);
	fx_wait_look_back(w, l);
	if (w->cell)
		w->stale = fx_token_stale(&w->cell->tokens[BY_WRITER]);
}

static void fx_begin_reading(struct fx_wait *w, const struct fx_call *call,
			     const pthread_rwlock_t *l, uint64_t sp)
{
	const unsigned taken = RWLOCK_WRITING | RWLOCK_LOCKED;

	unsigned word;

	begin_rwlock(w, call, l, sp);
	word = fx_load_relaxed(&l->__data.__readers);
	if (fx_unlikely(l->__data.__shared))
		w->looked = fx_share_now();
	if ((word & taken) == taken)
		return;
	w->held_back = rwlock_prefers_writers(l) && word & RWLOCK_LOCKED && word >= RWLOCK_READER;
	if (!w->held_back)
		fx_wait_found_free(w);
}

/* No writer has had it since the one that let this reader in, and none can while this one reads. */
static void fx_end_reading(struct fx_wait *w, const pthread_rwlock_t *l, int error)
{
	struct fx_wait_cell *cell = fx_wait_cell(w);

	if (error == 0 && w->looked)
		rwlock_share_had(w, l, FX_SHARE_READS,
				 rwlock_was_held(w) && !w->held_back &&
				     !(w->looked_free && rwlock_prefers_writers(l)));
	if (error == 0 && cell && !fx_token_get(&cell->tokens[BY_WRITER], w->stale, &w->from) &&
	    !w->held_back)
		fx_wait_guess(w, FX_STR_pthread_rwlock_unlock, fx_wait_written(l));
	fx_wait_end(w);
}

static void fx_begin_writing(struct fx_wait *w, const struct fx_call *call,
			     const pthread_rwlock_t *l, uint64_t sp)
{
	begin_rwlock(w, call, l, sp);
	if (!(fx_load_relaxed(&l->__data.__readers) & ~(RWLOCK_WRITING | RWLOCK_AWAITED)))
		fx_wait_found_free(w);
	if (fx_unlikely(l->__data.__shared))
		w->looked = fx_share_now();
}

/* Nobody can release it but this one. A writer's release takes the readers' tokens away: those that are there are newer
 * than that release. */
static void fx_end_writing(struct fx_wait *w, const pthread_rwlock_t *l, int error)
{
	struct fx_wait_cell *cell = fx_wait_cell(w);
	bool any;

	if (w->looked && error == 0)
		rwlock_share_had(w, l, FX_SHARE_WRITES, rwlock_was_held(w));
	else if (w->looked)
		rwlock_share_given_up(l);
	if (error == 0 && cell) {
		if (!fx_token_newest(w, BY_READER, &w->from, &any) &&
		    (any || !fx_token_get(&cell->tokens[BY_WRITER], w->stale, &w->from)))
			fx_wait_guess(w, FX_STR_pthread_rwlock_unlock, fx_wait_noted(w, l, false));
		fx_tokens_clear(cell, BY_READER);
	}
	fx_wait_end(w);
}

/* Asked by the thread that holds it. */
fx_hot bool rwlock_is_written(const pthread_rwlock_t *l, const struct fx_thread *t)
{
	return (uint32_t)fx_load_relaxed(&l->__data.__cur_writer) == t->tid;
}

/* The release, with a token if somebody waits; else false. */
static fx_cold bool rwlock_release(struct fx_thread *t, pthread_rwlock_t *l, bool writes, int *ret)
{
	struct fx_token *token;
	struct fx_source from;
	struct fx_wait visit;
	uint64_t who = 0;

	if (!fx_visit_begin(&visit, l))
		return false;
	from = fx_source_now(t, FX_STR_pthread_rwlock_unlock);
	if (writes)
		fx_tokens_clear(visit.cell, BY_READER);
	token = writes ? &visit.cell->tokens[BY_WRITER] : fx_token_place(visit.cell, BY_READER);
	if (token)
		who = fx_token_set(token, &from, writes);
	fx_note_beside(l, t->tid);
	*ret = FX_REAL(pthread_rwlock_unlock)(l);
	if (token)
		fx_token_done(visit.cell, token, who);
	fx_wait_end(&visit);
	return true;
}

/* Processes share it. Readers may release it at the same time, and which of them was the last is known only where they did not. */
static fx_cold int rwlock_share_unlock(struct fx_thread *t, pthread_rwlock_t *l)
{
	struct fx_share_word word = {.kind = FX_SHARE_READER_LEAVES, .end = fx_share_now()};
	bool writes = rwlock_is_written(l, t);
	int ret;

	if (writes)
		word.kind = FX_SHARE_WRITER_LEAVES;
	fx_share_tell(t, l, &word);
	ret = FX_REAL(pthread_rwlock_unlock)(l);
	word.kind = FX_SHARE_READER_LEFT;
	word.end = fx_share_now();
	if (!writes)
		fx_share_tell(t, l, &word);
	return ret;
}

static int rwlock_unlock(struct fx_thread *t, pthread_rwlock_t *l)
{
	struct fx_wait_head *h = fx_wait_head(l);
	uint64_t note;
	bool writes;
	int ret;

	if (fx_unlikely(!t)) {
		if (fx_category_on(FX_CAT_SYNC))
			fx_release_unknown(l);
		return FX_REAL(pthread_rwlock_unlock)(l);
	}
	if (l->__data.__shared)
		return rwlock_share_unlock(t, l);
	writes = rwlock_is_written(l, t);
	if (writes)
		fx_store_relaxed(&h->writer, fx_note_written(l, t->tid));
	if (fx_unlikely(fx_load_relaxed(&h->waiting) != 0) && rwlock_release(t, l, writes, &ret))
		return ret;
	note = fx_note_begin(h, l, t->tid);
	FX_FAULT(release_looked);
	ret = FX_REAL(pthread_rwlock_unlock)(l);
	fx_note_end(h, note);
	return ret;
}

static int fx_call_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	return rwlock_unlock(fx_sync_thread(), l);
}

/* With a time that is none, there is no wait: then what processes share is not looked at, for it is not tried first. */
#define RWLOCK_TIMED(alone, valid, try_, ret, lock, ...)                                           \
	do {                                                                                       \
		bool valid_ = valid;                                                               \
                                                                                                   \
		if (fx_unlikely(!valid_ && l->__data.__shared)) {                                  \
			*(ret) = FX_REAL(lock)(__VA_ARGS__);                                       \
			return true;                                                               \
		}                                                                                  \
		FX_PASS_TRIED(alone, valid_, try_, l, ret, lock, __VA_ARGS__);                     \
	} while (0)

fx_hot bool fx_pass_pthread_rwlock_rdlock(pthread_rwlock_t *l, int *ret)
{
	FX_PASS_TRIED(false, true, pthread_rwlock_tryrdlock, l, ret, pthread_rwlock_rdlock, l);
}

fx_hot bool fx_pass_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *time,
					       int *ret)
{
	RWLOCK_TIMED(false, fx_time_is_valid(CLOCK_REALTIME, time), pthread_rwlock_tryrdlock, ret,
		     pthread_rwlock_timedrdlock, l, time);
}

fx_hot bool fx_pass_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
					       const struct timespec *time, int *ret)
{
	RWLOCK_TIMED(false, fx_time_is_valid(clock, time), pthread_rwlock_tryrdlock, ret,
		     pthread_rwlock_clockrdlock, l, clock, time);
}

fx_hot bool fx_pass_pthread_rwlock_wrlock(pthread_rwlock_t *l, int *ret)
{
	FX_PASS_TRIED(true, true, pthread_rwlock_trywrlock, l, ret, pthread_rwlock_wrlock, l);
}

fx_hot bool fx_pass_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *time,
					       int *ret)
{
	RWLOCK_TIMED(true, fx_time_is_valid(CLOCK_REALTIME, time), pthread_rwlock_trywrlock, ret,
		     pthread_rwlock_timedwrlock, l, time);
}

fx_hot bool fx_pass_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
					       const struct timespec *time, int *ret)
{
	RWLOCK_TIMED(true, fx_time_is_valid(clock, time), pthread_rwlock_trywrlock, ret,
		     pthread_rwlock_clockwrlock, l, clock, time);
}

fx_hot bool fx_pass_pthread_rwlock_tryrdlock(pthread_rwlock_t *l, int *ret)
{
	FX_PASS_TRY(ret, pthread_rwlock_tryrdlock, l);
}

fx_hot bool fx_pass_pthread_rwlock_trywrlock(pthread_rwlock_t *l, int *ret)
{
	FX_PASS_TAKE(ret, pthread_rwlock_trywrlock, l);
}

/* What is no release at hand; INT64_MIN: it is to be recorded. */
static fx_cold int64_t rwlock_unlock_slowly(pthread_rwlock_t *l)
{
	struct fx_thread *t = fx_sync_thread();

	return fx_unlikely(t && fx_records_all(t)) ? INT64_MIN : rwlock_unlock(t, l);
}

/* (Nothing but the note and its place is kept over the call: each register that is saved waits for the lock's atomic instruction.) */
fx_hot bool fx_pass_pthread_rwlock_unlock(pthread_rwlock_t *l, int *ret)
{
	struct fx_thread *t = fx_sync_thread_at_hand();
	__typeof__(fx_real.fn.pthread_rwlock_unlock) real =
	    fx_load_relaxed(&fx_real.fn.pthread_rwlock_unlock);
	struct fx_wait_head *h = fx_wait_head(l);
	uint64_t note;
	int64_t r;

	if (fx_likely(t && real) &&
	    fx_likely((fx_load_relaxed(&h->waiting) | (unsigned)l->__data.__shared) == 0)) {
		if (rwlock_is_written(l, t))
			fx_store_relaxed(&h->writer, fx_note_written(l, t->tid));
		note = fx_note_begin(h, l, t->tid);
		FX_FAULT(release_looked);
		*ret = real(l);
		fx_note_end(h, note);
		return true;
	}
	r = rwlock_unlock_slowly(l);
	*ret = (int)r;
	return r != INT64_MIN;
}

#include "preload/unit-rwlock.inc"
