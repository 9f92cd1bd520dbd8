/* SPDX-License-Identifier: MIT */
/* The types that the prototypes in wrappers.tbl name. */
#ifndef FX_PRELOAD_TYPES_H
#define FX_PRELOAD_TYPES_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

typedef char *const *fx_strings; /* argv, envp: ends with NULL */
typedef void *(*fx_thread_main)(void *);
typedef void (*fx_once_main)(void);

#endif
