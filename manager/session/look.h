/* SPDX-License-Identifier: MIT */
/*
 * A look at processes from outside: what every thread of them does at one moment. How that is found out the command brings; it runs on
 * a thread of its own, since it reads symbols, and of this process, for the kernel may let nobody look but the ancestors of a
 * process. What it has seen is told on standard error, and in the archive, on the threads that it is of.
 */
#ifndef FX_MANAGER_LOOK_H
#define FX_MANAGER_LOOK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "manager/door/roster.h"
#include "manager/session/standstill.h"

/* A thread as it was seen. */
struct fx_look_thread {
	pid_t pid, tid;
	bool is_lost; /* it waits in a circle */
	char *text;   /* for malloc()'s free() */
};

/* What was seen. */
struct fx_look_answer {
	char *text; /* all of it, in lines, for malloc()'s free(); NULL: nothing could be seen */
	int error;  /* why, -errno */
	bool has_circle;
	uint32_t stopped; /* threads that were, to be looked at */
	struct fx_look_thread *threads;
	size_t count;
};

/* Looks at them; those that have ended meanwhile are left out. */
typedef void fx_look_function(const pid_t *pids, size_t count, struct fx_look_answer *ret);

struct fx_look {
	fx_look_function *function; /* NULL: nobody can look */
	struct fx_poller *poller;
	struct fx_watch watch;
	bool is_on;
	int done_fd; /* written when it is over; valid while it is on */
	pthread_t thread;
	char title[160]; /* what the answer is told under */
	uint64_t ticks;	 /* when it began */
	struct fx_pids pids;
	struct fx_look_answer answer;
	void (*done)(void *opaque); /* the answer is there */
	void *opaque;
};

/* It must not move. */
void fx_look_init(struct fx_look *ret, struct fx_poller *poller, void (*done)(void *opaque),
		  void *opaque);

/* Begins one, unless one is on. What `pids` has is taken over, and is none there then. */
bool fx_look_begin(struct fx_look *look, const char *title, uint64_t ticks, struct fx_pids *pids);

/* Tells what was seen, once `done` was called; `name` is a literal, what the events in the archive are called. */
void fx_look_tell(struct fx_look *look, const struct fx_roster *roster, const char *name);

/* The part of that which goes to standard error. */
void fx_look_print(const struct fx_look *look);

/* What a thread that waits in a circle has as the name of its event. */
#define FX_LOOK_LOST "deadlock"

/* The number under which the archive knows a thread of `p`. */
uint32_t fx_look_tid(const struct fx_provider *p, pid_t tid);

/* Waits for the one that is on, and forgets what it has seen. */
void fx_look_end(struct fx_look *look);

#endif
