/* SPDX-License-Identifier: MIT */
/* Threads: where they come from, what they are called, where they end. */
#include "preload/types.h"

#include <limits.h>

#include "base/handle.h"
#include "preload/call/call.h"
#include "preload/call/flow.h"
#include "preload/call/handoff.h"
#include "preload/call/heap.h"
#include "preload/host/real.h"
#include "preload/call/waiting.h"

/* What a new thread needs from its creator. Given back by the thread. */
struct start {
	uint32_t taken; /* as one of those that are ready */
	union {
		fx_thread_main posix;
		thrd_start_t c11;
	} function;
	void *arg;
	struct fx_source creator; /* tid 0: it did not record */
};

/* What the thread ends with, if it says so before it ends. */
static __thread struct {
	bool known;
	void *value;
} result __attribute__((tls_model("initial-exec")));

static void *result_set(void *value)
{
	result.known = true;
	result.value = value;
	return value;
}

/*
 * After a thread has left, its destructors run, and may trace: that takes a slot and a chunk anew, which
 * somebody must give back. So the thread leaves again at the very end: as a destructor of
 * thread-specific data that comes back in each of the rounds that POSIX allows. The key is made with the
 * first thread.
 */
static pthread_key_t again_key;
static enum { KEY_NONE, KEY_IN_MAKING, KEY_MADE } key_state;

static void leave_again(void *round)
{
	uintptr_t next = (uintptr_t)round + 1;

	fx_thread_exit();
	if (next < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(again_key, (void *)next);
}

static void key_make(void)
{
	int none = KEY_NONE;

	if (fx_load_relaxed(&key_state) != KEY_NONE ||
	    !fx_cas_acq_rel((int *)&key_state, &none, KEY_IN_MAKING))
		return;
	if (pthread_key_create(&again_key, leave_again) == 0)
		fx_store_release(&key_state, KEY_MADE); /* pairs with thread_leave() */
}

/* Says that the thread ends, and with what. */
static void record_exit(struct fx_thread *t)
{
	uint64_t words[2 + FX_WORDS_ptr], now = fx_thread_now(t);
	struct fx_call arguments = {.next = words + 2};

	words[1] = now;
	if (result.known)
		fx_arg_ptr(&arguments, FX_STR_value, result.value);
	else
		fx_arg_string(&arguments, FX_STR_value, FX_STR_cancelled);
	fx_words_write(t, words, (unsigned)(arguments.next - words),
		       FX_EVENT_HEADER(FX_EVENT_INSTANT, arguments.next - words, 1, FX_STR_pthread,
				       FX_STR_thread_exit));
	fx_handoff_put(fx_thread_handle(), t->tid, now);
}

/* The thread ends, by return, pthread_exit() or cancellation. */
static void thread_leave(void *unused)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PTHREAD);
	int saved = errno;

	(void)unused;
	fx_wait_abandon();
	if (t)
		record_exit(t);
	fx_heap_thread_exit();
	fx_thread_exit();
	if (fx_load_acquire(&key_state) == KEY_MADE)
		pthread_setspecific(again_key, (void *)1);
	errno = saved;
}

/*
 * As many as threads may be about to begin at a time. The memory is not malloc()'s where that can be helped: to be freed
 * by a thread that has not used it yet, it asks the kernel for more than the program has, what a seccomp filter may
 * not allow.
 */
static struct start ready[256] FX_LARGE;

static struct start *start_get(void)
{
	uint32_t free;

	for (size_t i = 0; i < FX_ARRAY_LEN(ready); i++) {
		free = 0;
		/* Pairs with start_give(). */
		if (!fx_load_relaxed(&ready[i].taken) && fx_cas_acq_rel(&ready[i].taken, &free, 1))
			return &ready[i];
	}
	return fx_engine_may(FX_ASK_ALL & ~(uint32_t)FX_ASK_SPARED)
		   ? FX_REAL(malloc)(sizeof(struct start))
		   : NULL;
}

static void start_give(struct start *s)
{
	if (s >= ready && s < ready + FX_ARRAY_LEN(ready))
		fx_store_release(&s->taken, 0);
	else
		FX_REAL(free)(s);
}

/* Takes what the creator left, and says that the thread begins. */
static struct start pthread_begin(void *p)
{
	struct start s = *(struct start *)p;
	struct fx_thread *t = fx_thread_on(FX_CAT_PTHREAD);

	start_give(p);
	fx_handoff_forget(fx_thread_handle());
	if (t)
		fx_flow_in(t, FX_STR_pthread, FX_STR_thread_start, &s.creator);
	return s;
}

static void *thread_main(void *p)
{
	struct start s = pthread_begin(p);
	void *value;

	pthread_cleanup_push(thread_leave, NULL);
	value = result_set(s.function.posix(s.arg));
	pthread_cleanup_pop(1);
	return value;
}

static int thread_main_c11(void *p)
{
	struct start s = pthread_begin(p);
	int value;

	pthread_cleanup_push(thread_leave, NULL);
	value = s.function.c11(s.arg);
	result_set((void *)(intptr_t)value);
	pthread_cleanup_pop(1);
	return value;
}

/* What a thread is to be started with; NULL: not traced, and never will be, or no memory. */
static struct start *start_new(void)
{
	struct start *s = fx_engine.wiped ? start_get() : NULL;
	struct fx_thread *t;

	if (!s)
		return NULL;
	key_make();
	t = fx_thread_on(FX_CAT_PTHREAD);
	s->creator.tid = 0;
	if (t)
		s->creator = fx_source_now(t, FX_STR_thread_create);
	return s;
}

static int fx_call_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
				  fx_thread_main function, void *arg)
{
	struct start *s = start_new();
	int ret;

	if (!s)
		return FX_REAL(pthread_create)(thread, attr, function, arg);
	s->function.posix = function;
	s->arg = arg;
	ret = FX_REAL(pthread_create)(thread, attr, thread_main, s);
	if (ret != 0)
		start_give(s);
	return ret;
}

static int fx_call_thrd_create(thrd_t *thread, thrd_start_t function, void *arg)
{
	struct start *s = start_new();
	int ret;

	if (!s)
		return FX_REAL(thrd_create)(thread, function, arg);
	s->function.c11 = function;
	s->arg = arg;
	ret = FX_REAL(thrd_create)(thread, thread_main_c11, s);
	if (ret != thrd_success)
		start_give(s);
	return ret;
}

/* The end of the thread that was joined has left a note, whenever it was. */
static void fx_begin_thread(struct fx_wait *w, const struct fx_call *call, pthread_t thread,
			    uint64_t sp)
{
	(void)thread;
	fx_wait_open(w, call, NULL, sp);
}

static void fx_end_thread(struct fx_wait *w, pthread_t thread, int error)
{
	if (error == 0 && fx_handoff_take((uint64_t)thread, &w->from.tid, &w->from.time)) {
		w->from.name = FX_STR_joined;
		w->from.time += fx_engine.tick_step; /* behind what the thread said itself */
	}
	fx_wait_end(w);
}

static int fx_call_pthread_setname_np(pthread_t thread, const char *name)
{
	int ret = FX_REAL(pthread_setname_np)(thread, name);

	if (ret == 0)
		fx_thread_set_name((uint64_t)thread, name);
	return ret;
}

static int fx_call_pthread_kill(pthread_t thread, int sig)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(pthread_kill)(thread, sig);

	if (begin && ret == 0)
		fx_signal_sent(begin, fx_engine.pid, fx_thread_tid((uint64_t)thread), sig,
			       FX_SIGNAL_TO_THREAD);
	return ret;
}

static int fx_call_pthread_sigqueue(pthread_t thread, int sig, const union sigval value)
{
	uint64_t begin = fx_signal_begin();
	int ret = FX_REAL(pthread_sigqueue)(thread, sig, value);

	if (begin && ret == 0)
		fx_signal_sent(begin, fx_engine.pid, fx_thread_tid((uint64_t)thread), sig,
			       FX_SIGNAL_QUEUED);
	return ret;
}

/* Threads that were created end in thread_leave(). The main thread was not; the process may live on
 * without it. */
static void leave_main(void)
{
	struct fx_thread *t = fx_thread_on(UINT32_MAX);

	if (t && t->tid == (uint32_t)fx_engine.pid)
		thread_leave(NULL);
}

void fx_wrap_pthread_exit(void *value)
{
	result_set(value);
	leave_main();
	FX_REAL(pthread_exit)(value);
	__builtin_unreachable();
}

void fx_wrap_thrd_exit(int value)
{
	result_set((void *)(intptr_t)value);
	leave_main();
	FX_REAL(thrd_exit)(value);
	__builtin_unreachable();
}

#include "preload/unit-pthread.inc"
