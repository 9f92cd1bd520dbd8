/* SPDX-License-Identifier: MIT */
#include "manager/settings/worker.h"

#include <signal.h>

int fx_worker_start(pthread_t *ret, size_t stack_size, void *(*function)(void *), void *opaque)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_size);
	r = pthread_create(ret, &attr, function, opaque);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
