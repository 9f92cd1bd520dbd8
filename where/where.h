/* SPDX-License-Identifier: MIT */
/*
 * Where the threads of running processes stand: what each does this moment, in which call, whom it waits for, and by which way
 * it came there. Nothing of it is in the processes. Of a thread that computes the kernel makes a copy, where it permits that (sampled.h).
 * One whose stack can be followed neither so nor while it waits is stopped, for as long as it takes to copy its registers and stack:
 * some ten microseconds (ptrace(2), which lets go when this process ends).
 */
#ifndef FX_WHERE_H
#define FX_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lists/vector.h"
#include "where/ages.h"
#include "where/thread.h"

struct fx_where {
	FX_VECTOR(struct fx_where_thread)
	threads; /* processes in the order in which they were added */
	uint32_t circles;
	uint32_t held;	       /* threads that were stopped to be looked at, */
	uint64_t held_most_ns; /* none for longer */
	uint32_t missed;       /* threads of which the kernel has made no copy */
	uint32_t
	    settling; /* turns that were waited for stopped threads to be back in their calls */
	struct fx_ages_clock began;
	struct fx_symbol_cache *names;
	struct fx_spaces *spaces;
};

int fx_where_init(struct fx_where *ret);
void fx_where_destroy(struct fx_where *where);

/* Looks at all threads of a process. 0; -ESRCH: there is none; -EPERM: it may not be looked into; or another -errno. */
int fx_where_add(struct fx_where *where, pid_t pid);

/* NULL: it is not among those that were looked at; 0 is nobody. */
struct fx_where_thread *fx_where_thread_of(const struct fx_where *where, pid_t tid);

#endif
