/* SPDX-License-Identifier: MIT */
/* Threads: where they come from, what they are called, where they end. */
#include "preload/types.h"

#include <limits.h>

#include "preload/call.h"
#include "preload/flow.h"
#include "preload/handoff.h"
#include "preload/heap.h"
#include "preload/real.h"

/* What a new thread needs from its creator. Real malloc's: freed by the thread. */
struct start {
	fx_thread_main function;
	void *arg;
	uint64_t flow; /* 0: the creator did not record */
};

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

/* The thread ends, by return, pthread_exit() or cancellation. */
static void thread_leave(void *unused)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PTHREAD);
	int saved = errno;

	(void)unused;
	if (t)
		fx_handoff_put((uint64_t)pthread_self(),
			       fx_flow_out(t, FX_STR_pthread, FX_STR_thread_exit), fx_now());
	fx_heap_thread_exit();
	fx_thread_exit();
	if (fx_load_acquire(&key_state) == KEY_MADE)
		pthread_setspecific(again_key, (void *)1);
	errno = saved;
}

static void *thread_main(void *p)
{
	struct start s = *(struct start *)p;
	struct fx_thread *t = fx_thread_on(FX_CAT_PTHREAD);
	void *value;

	FX_REAL(free)(p);
	if (t)
		fx_flow_in(t, FX_STR_pthread, FX_STR_thread_start, s.flow);
	pthread_cleanup_push(thread_leave, NULL);
	value = s.function(s.arg);
	pthread_cleanup_pop(1);
	return value;
}

static int fx_call_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
				  fx_thread_main function, void *arg)
{
	struct fx_thread *t;
	struct start *s;
	int ret;

	/* Not traced, and never will be. */
	if (!fx_engine.wiped)
		return FX_REAL(pthread_create)(thread, attr, function, arg);
	s = FX_REAL(malloc)(sizeof *s);
	if (!s)
		return FX_REAL(pthread_create)(thread, attr, function, arg);
	key_make();
	t = fx_thread_on(FX_CAT_PTHREAD);
	*s = (struct start){function, arg,
			    t ? fx_flow_out(t, FX_STR_pthread, FX_STR_thread_create) : 0};
	ret = FX_REAL(pthread_create)(thread, attr, thread_main, s);
	if (ret != 0)
		FX_REAL(free)(s);
	return ret;
}

/* The flow from the end of a thread that was joined. */
static uint64_t fx_joined(pthread_t thread, int error)
{
	return error ? 0 : fx_handoff_take((uint64_t)thread, 0);
}

static int fx_call_pthread_setname_np(pthread_t thread, const char *name)
{
	int ret = FX_REAL(pthread_setname_np)(thread, name);

	if (ret == 0)
		fx_thread_set_name((uint64_t)thread, name);
	return ret;
}

/* Threads that were created end in thread_leave(). The main thread was not; the process may live on
 * without it. */
void fx_wrap_pthread_exit(void *value)
{
	struct fx_thread *t = fx_thread_on(UINT32_MAX);

	if (t && t->tid == (uint32_t)fx_engine.pid)
		thread_leave(NULL);
	FX_REAL(pthread_exit)(value);
	__builtin_unreachable();
}

#include "preload/unit-pthread.inc"
