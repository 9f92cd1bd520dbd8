/* SPDX-License-Identifier: MIT */
/* Semaphores, condition variables, barriers, once: which thread waited, how long, and which woke it. */
#include "preload/types.h"

#include "preload/host/real.h"
#include "preload/call/shares.h"
#include "preload/call/waiting.h"

/*
 * A thread lets one of the threads go that wait for an object, or all: release_NAME() leaves a token before the real
 * function, or a note if nobody waits; and behind it the word that it is done. A thread that was let go may have freed the
 * object by then. `row': how many have stood in the object's own row, where it has one. `shared': tells what is done if
 * processes share it, and returns true.
 */
#define RELEASE(name, type, many, row, shared)                                                     \
	static fx_cold bool token_##name(struct fx_thread *t, type *object, int *ret)              \
	{                                                                                          \
		struct fx_source from = {.tid = 0};                                                \
		struct fx_wait visit;                                                              \
		struct fx_left left;                                                               \
                                                                                                   \
		if (!fx_visit_begin(&visit, object))                                               \
			return false;                                                              \
		if (t) {                                                                           \
			from = fx_source_now(t, FX_STR_##name);                                    \
			fx_note_beside(object, t->tid);                                            \
		}                                                                                  \
		left = fx_token_add(&visit, &from, many, row(object));                             \
		*ret = FX_REAL(name)(object);                                                      \
		if (*ret)                                                                          \
			fx_left_undo(&left);                                                       \
		else                                                                               \
			fx_left_done(&left, fx_now());                                             \
		fx_wait_end(&visit);                                                               \
		return true;                                                                       \
	}                                                                                          \
                                                                                                   \
	/* By a thread that is not traced. */                                                      \
	static fx_cold int unknown_##name(type *object)                                            \
	{                                                                                          \
		int ret;                                                                           \
                                                                                                   \
		if (!fx_category_on(FX_CAT_SYNC))                                                  \
			return FX_REAL(name)(object);                                              \
		fx_note_forget(object);                                                            \
		return fx_is_awaited(object) && token_##name(NULL, object, &ret)                   \
			   ? ret                                                                   \
			   : FX_REAL(name)(object);                                                \
	}                                                                                          \
                                                                                                   \
	fx_hot int release_##name(struct fx_thread *t, type *object)                               \
	{                                                                                          \
		struct fx_wait_head *h = fx_wait_head(object);                                     \
		uint64_t note;                                                                     \
		int ret;                                                                           \
                                                                                                   \
		if (fx_unlikely(!t))                                                               \
			return unknown_##name(object);                                             \
		if (shared(t, object, &ret))                                                       \
			return ret;                                                                \
		if (fx_unlikely(fx_load_relaxed(&h->waiting) != 0) &&                              \
		    token_##name(t, object, &ret))                                                 \
			return ret;                                                                \
		note = fx_note_begin(h, object, t->tid);                                           \
		FX_FAULT(release_looked);                                                          \
		ret = FX_REAL(name)(object);                                                       \
		fx_note_end(h, note);                                                              \
		return ret;                                                                        \
	}                                                                                          \
                                                                                                   \
	static int fx_call_##name(type *object)                                                    \
	{                                                                                          \
		return release_##name(fx_sync_thread(), object);                                   \
	}

/* Recorded with pthread:all alone. */
#define PASS_RELEASE(name, object, ret) FX_PASS_MADE(ret, release_##name(t_, object))

/* --- Semaphores ------------------------------------------------------------------------------- */

/* What a sem_t holds: the low half of the word is the value. */
struct semaphore {
	uint64_t word;
	int shared; /* 0: not by processes */
};

fx_hot const struct semaphore *semaphore_of(const sem_t *s)
{
	return (const struct semaphore *)s;
}

fx_hot uint32_t sem_units(const sem_t *s)
{
	return (uint32_t)fx_load_relaxed(&semaphore_of(s)->word);
}

/* Processes share it: what is told of a call, before it is made. */
static fx_cold struct fx_share_word share_begins(const sem_t *s, enum fx_share_kind kind)
{
	const uint64_t begin = fx_share_now();

	return (struct fx_share_word){.kind = kind, .begin = begin, .value = (int32_t)sem_units(s)};
}

static void fx_begin_sem(struct fx_wait *w, const struct fx_call *call, const sem_t *s, uint64_t sp)
{
	fx_wait_open(w, call, semaphore_of(s)->shared ? NULL : s, sp);
	w->round = sem_units(s);
	if (w->round)
		fx_wait_found_left(w, call->start);
	else if (semaphore_of(s)->shared)
		w->looked = fx_share_now();
}

/* After a wait. */
static fx_cold void share_taken(const struct fx_wait *w, const sem_t *s)
{
	struct fx_share_word word = {
	    .kind = FX_SHARE_TAKES, .begin = w->start, .looked = w->looked, .end = fx_share_now()};

	if (w->looked && sem_units(s) == 0)
		word.value = (int32_t)((fx_share_now() - word.end) & INT32_MAX);
	else if (!w->looked)
		word.value = (int32_t)w->round;
	fx_share_tell(fx_self, s, &word);
}

static void fx_end_sem(struct fx_wait *w, const sem_t *s, int ret)
{
	if (ret == 0 && semaphore_of(s)->shared)
		share_taken(w, s);
	if (ret == 0 && fx_wait_cell(w) && !fx_token_take(w, &w->from))
		fx_wait_guess(w, FX_STR_sem_post, fx_wait_noted(w, s, false));
	fx_wait_end(w);
}

fx_hot bool sem_would_wait(const struct fx_thread *t, const sem_t *s)
{
	return t && (fx_records_all(t) || sem_units(s) == 0);
}

/* A thread that did not wait has taken what was meant for another one. */
static fx_cold void sem_grabbed(const sem_t *s)
{
	struct fx_source gone;
	struct fx_wait visit;

	if (!fx_visit_begin(&visit, s))
		return;
	fx_token_take(&visit, &gone);
	fx_wait_end(&visit);
}

/* It was made. */
static fx_cold void share_ends(struct fx_thread *t, const sem_t *s, struct fx_share_word *word,
			       int ret)
{
	word->end = fx_share_now();
	if (ret == 0)
		fx_share_tell(t, s, word);
}

/* It began while nothing was recorded: if that has changed, how many units there are is not known. */
static fx_cold void share_unseen(const sem_t *s, int ret)
{
	const struct fx_share_word word = {.kind = FX_SHARE_NOT_SAID};
	struct fx_thread *t = fx_sync_thread();

	if (t && ret == 0)
		fx_share_tell(t, s, &word);
}

#define PASS_SEM(s, ret, wait, ...)                                                                \
	do {                                                                                       \
		struct fx_thread *t_ = fx_sync_thread();                                           \
                                                                                                   \
		if (sem_would_wait(t_, s))                                                         \
			return false;                                                              \
		if (t_ && fx_unlikely(semaphore_of(s)->shared)) {                                  \
			struct fx_share_word word_ = share_begins(s, FX_SHARE_TAKES);              \
                                                                                                   \
			*(ret) = FX_REAL(wait)(__VA_ARGS__);                                       \
			share_ends(t_, s, &word_, *(ret));                                         \
			return true;                                                               \
		}                                                                                  \
		*(ret) = FX_REAL(wait)(__VA_ARGS__);                                               \
		if (!t_ && semaphore_of(s)->shared)                                                \
			share_unseen(s, *(ret));                                                   \
		if (t_ && fx_is_awaited(s) && *(ret) == 0)                                         \
			sem_grabbed(s);                                                            \
		return true;                                                                       \
	} while (0)

fx_hot bool fx_pass_sem_wait(sem_t *s, int *ret)
{
	PASS_SEM(s, ret, sem_wait, s);
}

fx_hot bool fx_pass_sem_timedwait(sem_t *s, const struct timespec *time, int *ret)
{
	PASS_SEM(s, ret, sem_timedwait, s, time);
}

fx_hot bool fx_pass_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *time, int *ret)
{
	PASS_SEM(s, ret, sem_clockwait, s, clock, time);
}

fx_hot int sem_tried(struct fx_thread *t, sem_t *s)
{
	int ret;

	if (t && fx_unlikely(semaphore_of(s)->shared)) {
		struct fx_share_word word = share_begins(s, FX_SHARE_TAKES);

		ret = FX_REAL(sem_trywait)(s);
		share_ends(t, s, &word, ret);
		return ret;
	}
	ret = FX_REAL(sem_trywait)(s);
	if (t && fx_is_awaited(s) && ret == 0)
		sem_grabbed(s);
	return ret;
}

fx_hot bool fx_pass_sem_trywait(sem_t *s, int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (fx_unlikely(t && fx_records_all(t)))
		return false;
	*ret = sem_tried(t, s);
	return true;
}

static int fx_call_sem_trywait(sem_t *s)
{
	return sem_tried(fx_sync_thread(), s);
}

/* A post that comes first is not lost. */
#define NO_ROW(object) UINT64_MAX

/* Processes share it. */
static fx_cold int share_posted(struct fx_thread *t, sem_t *s)
{
	struct fx_share_word word = share_begins(s, FX_SHARE_POSTS);
	int ret = FX_REAL(sem_post)(s);

	share_ends(t, s, &word, ret);
	return ret;
}

fx_hot bool sem_shared(struct fx_thread *t, sem_t *s, int *ret)
{
	if (fx_likely(!semaphore_of(s)->shared))
		return false;
	*ret = share_posted(t, s);
	return true;
}

RELEASE(sem_post, sem_t, false, NO_ROW, sem_shared)

fx_hot bool fx_pass_sem_post(sem_t *s, int *ret)
{
	PASS_RELEASE(sem_post, s, ret);
}

/* --- Condition variables ---------------------------------------------------------------------- */

#define COND_SHARED 1u /* of __wrefs */

/* How many have begun to wait, ever: glibc's first word, above a bit. */
static uint64_t cond_row(const volatile void *cond)
{
	return fx_load_relaxed((const volatile uint64_t *)cond) >> 1;
}

fx_hot bool cond_is_shared(const volatile void *cond)
{
	return fx_load_relaxed(&((const volatile pthread_cond_t *)cond)->__data.__wrefs) &
	       COND_SHARED;
}

static void fx_begin_cond(struct fx_wait *w, const struct fx_call *call, const pthread_cond_t *c,
			  uint64_t sp)
{
	bool shared = cond_is_shared(c);

	fx_wait_open(w, call, shared ? NULL : c, sp);
	w->place = cond_row(c);
	w->looked = shared ? fx_share_now() : 0; /* behind that of whoever had the mutex before */
}

/* Processes share it. (It may be gone, but its address is known.) */
static fx_cold void share_woken(const struct fx_wait *w, const pthread_cond_t *c, int error)
{
	const struct fx_share_word word = {.kind = FX_SHARE_WAKES,
					   .value = error != 0 && error != EOWNERDEAD,
					   .begin = w->looked,
					   .looked = w->place,
					   .end = fx_share_now()};

	fx_share_tell(fx_self, c, &word);
}

/* Here too a note may tell which thread it was: one that signals without the mutex can have looked before this wait
 * began. */
static void fx_end_cond(struct fx_wait *w, const pthread_cond_t *c, int error)
{
	if (w->looked)
		share_woken(w, c, error);
	if (error == 0 && fx_wait_cell(w) && !fx_token_take(w, &w->from))
		fx_wait_guess(w, FX_STR_pthread_cond_signal, fx_wait_noted(w, c, false));
	fx_wait_end(w);
}

/* A wait always waits. It also releases the mutex, without a call of unlock. */
fx_hot bool cond_waits(const pthread_mutex_t *m)
{
	struct fx_thread *t = fx_sync_thread();

	if (t)
		fx_mutex_releases(t, m);
	else if (fx_unlikely(fx_category_on(FX_CAT_SYNC)))
		fx_release_unknown(m);
	return t;
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

/* It is told before it is done, or a thread that is let go might have nobody to come from; and then, that it is over. */
#define SHARE_SIGNALS(name, type, kind_)                                                           \
	static fx_cold int share_##name(struct fx_thread *t, type *c)                              \
	{                                                                                          \
		struct fx_share_word word = {.kind = (kind_), .looked = cond_row(c)};              \
		int ret;                                                                           \
                                                                                                   \
		word.begin = word.end = fx_share_now();                                            \
		fx_share_tell(t, c, &word);                                                        \
		ret = FX_REAL(name)(c);                                                            \
		word.kind = FX_SHARE_SIGNALLED;                                                    \
		word.end = fx_share_now();                                                         \
		fx_share_tell(t, c, &word);                                                        \
		return ret;                                                                        \
	}                                                                                          \
                                                                                                   \
	fx_hot bool name##_shared(struct fx_thread *t, type *c, int *ret)                          \
	{                                                                                          \
		if (fx_likely(!cond_is_shared(c)))                                                 \
			return false;                                                              \
		*ret = share_##name(t, c);                                                         \
		return true;                                                                       \
	}

SHARE_SIGNALS(pthread_cond_signal, pthread_cond_t, FX_SHARE_SIGNALS)

SHARE_SIGNALS(pthread_cond_broadcast, pthread_cond_t, FX_SHARE_BROADCASTS)

/* C11's are of one process. */
fx_hot bool cnd_shared(struct fx_thread *t, const cnd_t *c, int *ret)
{
	(void)t, (void)c;
	*ret = 0;
	return false;
}

RELEASE(pthread_cond_signal, pthread_cond_t, false, cond_row, pthread_cond_signal_shared)

RELEASE(pthread_cond_broadcast, pthread_cond_t, true, cond_row, pthread_cond_broadcast_shared)

fx_hot bool fx_pass_pthread_cond_signal(pthread_cond_t *c, int *ret)
{
	PASS_RELEASE(pthread_cond_signal, c, ret);
}

fx_hot bool fx_pass_pthread_cond_broadcast(pthread_cond_t *c, int *ret)
{
	PASS_RELEASE(pthread_cond_broadcast, c, ret);
}

/* Only told of with pthread:all; destroying waits for threads that are still on their way out. */
fx_hot bool fx_pass_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr, int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (t && fx_records_all(t))
		return false;
	*ret = FX_REAL(pthread_cond_init)(c, attr);
	return true;
}

fx_hot bool fx_pass_pthread_cond_destroy(pthread_cond_t *c, int *ret)
{
	struct fx_thread *t = fx_sync_thread();

	if (t && fx_records_all(t))
		return false;
	*ret = FX_REAL(pthread_cond_destroy)(c);
	return true;
}

/* C11's are the same inside. */
_Static_assert(sizeof(cnd_t) <= sizeof(pthread_cond_t), "C11's conditions are conditions");

static void fx_begin_cnd(struct fx_wait *w, const struct fx_call *call, const cnd_t *c, uint64_t sp)
{
	fx_begin_cond(w, call, (const pthread_cond_t *)c, sp);
}

static void fx_end_cnd(struct fx_wait *w, const cnd_t *c, int error)
{
	fx_end_cond(w, (const pthread_cond_t *)c, error);
}

fx_hot bool fx_pass_cnd_wait(cnd_t *c, mtx_t *m, int *ret)
{
	if (cond_waits((const pthread_mutex_t *)m))
		return false;
	*ret = FX_REAL(cnd_wait)(c, m);
	return true;
}

fx_hot bool fx_pass_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *time, int *ret)
{
	if (cond_waits((const pthread_mutex_t *)m))
		return false;
	*ret = FX_REAL(cnd_timedwait)(c, m, time);
	return true;
}

RELEASE(cnd_signal, cnd_t, false, cond_row, cnd_shared)

RELEASE(cnd_broadcast, cnd_t, true, cond_row, cnd_shared)

fx_hot bool fx_pass_cnd_signal(cnd_t *c, int *ret)
{
	PASS_RELEASE(cnd_signal, c, ret);
}

fx_hot bool fx_pass_cnd_broadcast(cnd_t *c, int *ret)
{
	PASS_RELEASE(cnd_broadcast, c, ret);
}

/* --- Barriers --------------------------------------------------------------------------------- */

/* What a pthread_barrier_t holds. */
struct barrier {
	unsigned in, round;
	unsigned count;
	int shared;
	unsigned out;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "what a barrier holds");

/* All threads that arrive take part in the cell. The last one of a round, by their count, says so before any can go on. */
static void fx_begin_barrier(struct fx_wait *w, const struct fx_call *call,
			     const pthread_barrier_t *barrier, uint64_t sp)
{
	const struct barrier *b = (const struct barrier *)barrier;
	struct fx_source from;
	uint64_t arrival;
	unsigned before;

	fx_wait_open(w, call, b->shared ? NULL : b, sp);
	if (fx_unlikely(b->shared && b->count)) {
		w->round = fx_load_relaxed(&b->in) / b->count;
		w->place = b->count;
		w->looked = w->start;
	}
	if (!w->cell || !b->count)
		return;
	/* Before the first thread that is counted here some may have come that are not: they are in the barrier already. */
	before = fx_load_relaxed(&b->in) % b->count;
	arrival = fx_add_acq_rel(&w->cell->count, 1);
	if (arrival == 0 && before) {
		fx_add_acq_rel(&w->cell->count, before);
		arrival = before;
	}
	w->round = (unsigned)(arrival / b->count % FX_TOKENS);
	w->stale = fx_token_stale(&w->cell->tokens[w->round]);
	if (arrival % b->count != b->count - 1)
		return;
	from = fx_source_now(call->thread, FX_STR_pthread_barrier_wait);
	fx_token_set(&w->cell->tokens[w->round], &from, true);
}

/* Processes share it. (It may be gone, but its address is known.) */
static fx_cold void share_met(const struct fx_wait *w, const pthread_barrier_t *barrier, bool last)
{
	const struct fx_share_word word = {.kind = last ? FX_SHARE_MEETS_LAST : FX_SHARE_MEETS,
					   .value = (int32_t)(w->round & INT32_MAX),
					   .begin = w->start,
					   .looked = w->place,
					   .end = fx_share_now()};

	fx_share_tell(fx_self, barrier, &word);
}

/* How often a thread that was the last by the count, but not by the barrier, looks for the one that was. */
#define LAST_LOOKS 2000

/*
 * Of two threads that arrive at the same time, the barrier itself may count the other one last: that one is told so, and
 * puts the token right. It is a token that is over: the next of this place have begun when it is.
 */
static void fx_end_barrier(struct fx_wait *w, const pthread_barrier_t *barrier, int ret)
{
	struct fx_wait_cell *cell = fx_wait_cell(w);
	uint32_t own = fx_self->tid;
	struct fx_token *token;

	if (w->looked && (ret == 0 || ret == PTHREAD_BARRIER_SERIAL_THREAD))
		share_met(w, barrier, ret != 0);
	if (cell && ret == PTHREAD_BARRIER_SERIAL_THREAD) {
		token = &cell->tokens[w->round];
		w->from = (struct fx_source){own, FX_STR_pthread_barrier_wait, w->start, 0};
		if (fx_token_tid(token) != own)
			fx_token_set(token, &w->from, true);
		fx_token_done(cell, token, fx_load_relaxed(&token->who));
	} else if (cell && ret == 0) {
		token = &cell->tokens[w->round];
		for (int i = 0; i < LAST_LOOKS && fx_token_tid(token) == own; i++)
			;
		fx_token_get(token, w->stale, &w->from);
	}
	fx_wait_end(w);
}

/* --- Once ------------------------------------------------------------------------------------- */

/* glibc's word: bit 1 when the routine has run. It runs inside the call, or is waited for there. */
#define ONCE_DONE 2

/* The routine that this thread may be about to run. */
static __thread struct once {
	fx_once_main routine;
	const void *object;
	bool ran; /* it did, in the newest call */
} once __attribute__((tls_model("initial-exec")));

/* The thread that runs it takes part in the cell too, so that the cell is there for threads that come meanwhile. For those
 * that were just about to, there is the note. */
static void once_run(void)
{
	struct once mine = once;
	struct fx_thread *t;
	struct fx_wait visit;

	mine.routine();
	t = fx_sync_thread();
	if (t)
		fx_note_holder(mine.object, t->tid);
	else
		fx_release_unknown(mine.object);
	if (t && fx_visit_begin(&visit, mine.object)) {
		struct fx_source from = fx_source_now(t, FX_STR_pthread_once);

		fx_token_set(&visit.cell->tokens[0], &from, true);
		fx_wait_end(&visit);
	}
	once.ran = true;
}

/* Without a call that is recorded nobody asks which thread has run it. */
#define CALL_ONCE(object_, routine_, call)                                                         \
	do {                                                                                       \
		struct once before = once;                                                         \
                                                                                                   \
		once = (struct once){routine_, object_, false};                                    \
		call;                                                                              \
		before.ran = once.ran;                                                             \
		once = before;                                                                     \
	} while (0)

static int fx_call_pthread_once(pthread_once_t *control, fx_once_main routine)
{
	int ret;

	CALL_ONCE(control, routine, ret = FX_REAL(pthread_once)(control, once_run));
	return ret;
}

static void fx_call_call_once(once_flag *flag, fx_once_main routine)
{
	CALL_ONCE(flag, routine, FX_REAL(call_once)(flag, once_run));
}

fx_hot bool once_is_recorded(const int *word)
{
	struct fx_thread *t = fx_sync_thread();

	return t && (fx_records_all(t) || !(fx_load_relaxed(word) & ONCE_DONE));
}

fx_hot bool fx_pass_pthread_once(pthread_once_t *control, fx_once_main routine, int *ret)
{
	if (once_is_recorded(control))
		return false;
	*ret = FX_REAL(pthread_once)(control, routine);
	return true;
}

fx_hot bool fx_pass_call_once(once_flag *flag, fx_once_main routine)
{
	if (once_is_recorded((const int *)flag))
		return false;
	FX_REAL(call_once)(flag, routine);
	return true;
}

static void fx_begin_once(struct fx_wait *w, const struct fx_call *call,
			  const volatile void *control, uint64_t sp)
{
	fx_wait_open(w, call, control, sp);
	w->looked_free = fx_load_relaxed((const volatile int *)control) & ONCE_DONE;
}

/* The routine runs once: whenever it was, it is what was waited for. */
static void fx_end_once(struct fx_wait *w, const volatile void *control, int ret)
{
	struct fx_wait_cell *cell = fx_wait_cell(w);

	w->ran = once.ran;
	if (!w->ran && ret == 0 && cell && !fx_token_get(&cell->tokens[0], 0, &w->from))
		fx_wait_guess(w, FX_STR_pthread_once, fx_wait_noted(w, control, true));
	fx_wait_end(w);
}

#include "preload/unit-wake.inc"
