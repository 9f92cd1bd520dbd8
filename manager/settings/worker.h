/* SPDX-License-Identifier: MIT */
/* Threads beside the control thread: those of the writer, and of who looks where everybody stands. */
#ifndef FX_MANAGER_WORKER_H
#define FX_MANAGER_WORKER_H

#include <pthread.h>
#include <stddef.h>

/* A thread in which all signals are blocked, for they are the control thread's; to be joined. 0 or -errno. */
int fx_worker_start(pthread_t *ret, size_t stack_size, void *(*function)(void *), void *opaque);

#endif
