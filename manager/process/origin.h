/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of a process as it registers: as which user it runs, and by which numbers others know it. A process
 * may live in process-id namespaces below the manager's; it and its neighbours then tell numbers of those, and the
 * archive has those that the manager sees.
 *
 * Taken by the control thread while the process waits for its answer; shared by the provider and by what the writers
 * know of it.
 */
#ifndef FX_MANAGER_ORIGIN_H
#define FX_MANAGER_ORIGIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/process/about.h"
#include "symbols/view.h"

/* As deep as the kernel lets them be nested. */
#define FX_ORIGIN_LEVELS 32u

/* How a process is called in one namespace. */
struct fx_origin_name {
	uint64_t space; /* the namespace's inode */
	uint32_t pid;
};

struct fx_origin_thread;

/* See title.h. */
struct fx_title {
	uint64_t began, looked; /* CLOCK_MONOTONIC ns; the control thread's */
	char *text;		/* the newest; NULL: none was seen; under the lock */
	uint32_t changes;	/* atomic */
};

struct fx_origin {
	unsigned refs; /* atomic */
	uint32_t pid;  /* as the manager sees it */
	uint32_t own_pid;
	uint32_t parent; /* as it registered, as the manager sees it; 0 not known */
	uint32_t
	    said_parent; /* what it calls its parent itself; 0: not by a number of the manager's */
	uid_t uid;
	int proc; /* its folder of /proc, which names nobody else once it has ended; -1: none is needed */
	unsigned levels; /* namespaces below the manager's, the outermost first */
	struct fx_origin_name *names;
	struct fx_view view; /* from where it sees its files */
	bool unfiltered;     /* no filter looks at its system calls */
	bool is_beside;	     /* from where the manager does: a path is the same for both */
	struct fx_abouts abouts;
	pthread_mutex_t lock;		  /* of what follows */
	struct fx_origin_thread *threads; /* uthash, by what the process calls them */
	uint64_t next_scan;		  /* CLOCK_MONOTONIC ns */
	struct fx_title title;
};

/* `own_pid`: what the process calls itself, for where the kernel does not tell any more. NULL without memory. */
struct fx_origin *fx_origin_take(pid_t pid, uid_t uid, uint32_t own_pid);

/* The process ended before anybody looked what it was and where it lived, as a forked child may, which does not wait for its
 * answer. */
bool fx_origin_is_orphan(const struct fx_origin *origin);

/* Then it is taken to be what its parent is, and to live where that does, which may be wrong by a namespace. */
void fx_origin_inherit(struct fx_origin *origin, const struct fx_origin *parent);

/* NULL is allowed. */
struct fx_origin *fx_origin_share(struct fx_origin *origin);
void fx_origin_release(struct fx_origin *origin);

/* The path of the file that it runs, as it sees that itself; NULL: not known. */
const char *fx_origin_program(const struct fx_origin *origin);

/* Whether the kernel says that no filter looks at its system calls. */
bool fx_origin_is_unfiltered(const struct fx_origin *origin);

/* What the process calls its first thread. */
uint32_t fx_origin_first_tid(const struct fx_origin *origin);

/* The namespace whose numbers the process tells; 0: the manager's. */
uint64_t fx_origin_space(const struct fx_origin *origin);

/* A new thread has that number: what was known of it is another's. */
void fx_origin_forget_tid(struct fx_origin *origin, uint32_t told);

/* Looks which threads there are, before they end, unless that would take too long. */
void fx_origin_look(struct fx_origin *origin);

/* The kernel's number, for the manager, of a thread that the process calls `told`; 0: it is not known, as of one that
 * ended before anybody looked. */
uint32_t fx_origin_tid(struct fx_origin *origin, uint32_t told);

#endif
