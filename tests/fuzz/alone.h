/* SPDX-License-Identifier: MIT */
/*
 * The manager in a fuzzer: the same sources, compiled with this header in front of each, so that
 * nothing but the input decides what happens.
 *
 *	time       stands still, but for what is slept and a microsecond at each reading
 *	threads    run when the fuzzer says, and give the word back where they would wait
 *	waiting    for events first asks the fuzzer, and never takes time
 *	peers      are who the fuzzer says
 *	memory     that another process shares may change before each atomic look at it; large blocks and
 *	           shared memory are used again, cleared (alone_memory.c)
 *	stderr     goes nowhere
 */
#ifndef FX_TESTS_FUZZ_ALONE_H
#define FX_TESTS_FUZZ_ALONE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "manager/door/memfd.h"

/* What a fuzzer does itself; NULL: nothing, or what the system does. */
struct alone_hooks {
	/* A word of memory is about to be loaded. */
	void (*look)(const volatile void *word);
	/* The manager waits for something to happen. */
	void (*wait)(void);
	/* As the functions of protocol/socket.h. */
	int (*accept)(int listener);
	int (*peer)(int fd, pid_t *ret_pid, uid_t *ret_uid);
	int (*pidfd)(int fd, pid_t pid);
};

extern struct alone_hooks alone_hooks;

/* Begins anew: the clock at its beginning, no threads, no hooks. */
void alone_reset(void);

void alone_advance(uint64_t ns);
uint64_t alone_now(void);

/* Lets every writer's thread do what there is to do. */
void alone_step(void);

int alone_clock_gettime(clockid_t clock, struct timespec *ret);
int alone_nanosleep(const struct timespec *time, struct timespec *ret_rest);
uint64_t alone_counter(void);
int alone_thread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *),
			void *opaque);
int alone_thread_join(pthread_t thread, void **ret);
int alone_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
			 const struct timespec *deadline);
int alone_epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms);
int alone_socket_accept(int listener);
int alone_socket_peer(int fd, pid_t *ret_pid, uid_t *ret_uid);
int alone_socket_peer_pidfd(int fd, pid_t pid);
void alone_look(const volatile void *word);
FILE *alone_stderr(void);

void *alone_malloc(size_t size);
void *alone_calloc(size_t count, size_t size);
void *alone_realloc(void *old, size_t size);
void alone_free(void *at);
int alone_memory_create(const char *name, uint64_t size);
int alone_memory_map_and_seal(int fd, uint64_t size, enum fx_memfd_writer writer, void **ret);
int alone_munmap(void *at, size_t size);

/* A view of the memory behind a descriptor, to read or to write: at most one of each. */
void *alone_memory_map(int fd, bool writable);

/* At the end of an input: nothing is in use any more, and all can be used again. */
void alone_memory_check(void);

#ifdef FX_FUZZ_ALONE

#define clock_gettime	       alone_clock_gettime
#define fx_clock_read	       alone_clock_read
#define nanosleep	       alone_nanosleep
#define __builtin_ia32_rdtsc() alone_counter()

#include "base/atomic.h"
#include "base/clock.h"
#include "base/syscall.h"

#define malloc(size)	    alone_malloc(size)
#define calloc(count, size) alone_calloc(count, size)
#define realloc(old, size)  alone_realloc(old, size)
#define free(at)	    alone_free(at)

#define fx_memfd_create	      alone_memory_create
#define fx_memfd_map_and_seal alone_memory_map_and_seal
#define munmap		      alone_munmap

#define FX_BLOCK_SIZE FX_DRAIN_BLOCK_MIN

/* Nobody waits for a futex. */
static inline long alone_syscall(long nr, long a, long b, long c)
{
	return nr == SYS_futex ? 0 : fx_syscall6(nr, a, b, c, 0, 0, 0);
}

#undef fx_syscall3
#define fx_syscall3(nr, a, b, c) alone_syscall(nr, (long)(a), (long)(b), (long)(c))

#define pthread_create	       alone_thread_create
#define pthread_join	       alone_thread_join
#define pthread_cond_timedwait alone_cond_timedwait
#define epoll_wait	       alone_epoll_wait
#define fx_socket_accept       alone_socket_accept
#define fx_socket_peer	       alone_socket_peer
#define fx_socket_peer_pidfd   alone_socket_peer_pidfd

#undef STDERR_FILENO
#define STDERR_FILENO fileno(alone_stderr())
#undef stderr
#define stderr alone_stderr()

#undef fx_load_relaxed
#undef fx_load_acquire
#define fx_load_relaxed(p) (alone_look(p), __atomic_load_n((p), __ATOMIC_RELAXED))
#define fx_load_acquire(p) (alone_look(p), __atomic_load_n((p), __ATOMIC_ACQUIRE))

#endif /* FX_FUZZ_ALONE */

#endif /* FX_TESTS_FUZZ_ALONE_H */
