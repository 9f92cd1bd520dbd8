/* SPDX-License-Identifier: MIT */
#include "provider/thread-end.h"

#include <pthread.h>

#include "engine/provider/engine.h"

/* glibc keeps the values of the first keys in the thread itself; for others it allocates, which no event may. */
#define KEYS_AT_HAND 32u

static pthread_key_t end_key;

static void thread_ends(void *unused)
{
	(void)unused;
	fx_thread_exit();
}

/* A destructor that traces makes it begin once more, and its end be told again. */
static void thread_begins(struct fx_thread *t)
{
	pthread_setspecific(end_key, t);
}

void fx_thread_ends_prepare(void)
{
	if (pthread_key_create(&end_key, thread_ends) != 0)
		return;
	if (end_key < KEYS_AT_HAND)
		fx_thread_began = thread_begins;
	else
		pthread_key_delete(end_key);
}
