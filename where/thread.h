/* SPDX-License-Identifier: MIT */
/* A thread as it stands. */
#ifndef FX_WHERE_THREAD_H
#define FX_WHERE_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "where/pipes.h"

/* What a thread waits for. */
enum fx_where_wait {
	FX_WAITS_NOT,
	FX_WAITS_MUTEX,
	FX_WAITS_RWLOCK,
	FX_WAITS_CONDITION,
	FX_WAITS_SEMAPHORE,
	FX_WAITS_THREAD, /* its end: pthread_join() */
	FX_WAITS_CHILD,	 /* its end: wait() and the like */
	FX_WAITS_BYTES,	 /* in a pipe */
	FX_WAITS_ROOM,	 /* in a pipe */
	FX_WAITS_SOCKET_BYTES,
	FX_WAITS_SOCKET_ROOM,
	FX_WAITS_CALLER,   /* a socket listens: accept() */
	FX_WAITS_ACCEPTED, /* that one accepts: connect() */
	FX_WAITS_ANY,	   /* of several descriptors: poll() and the like */
	FX_WAITS_UNKNOWN,  /* a futex of which nothing is known */
};

/* What a pipe or socket is to have for a thread. */
enum fx_wish_kind { FX_WISH_BYTES, FX_WISH_ROOM, FX_WISH_CALLER, FX_WISH_ACCEPTED };

struct fx_wish {
	enum fx_wish_kind kind;
	struct fx_pipe channel; /* the pipe, or the thread's socket; */
	struct fx_pipe
	    helps; /* what has to be open for whoever could help: the pipe, or a socket; inode 0: not known */
};

struct fx_where_thread {
	pid_t pid, tid;
	char name[16];
	char state; /* as proc(5) has it: R running, S sleeping, D on a disk, T stopped */
	bool in_call;
	int64_t call; /* its number */
	uint64_t args[6];
	char *stack;   /* functions in lines, the innermost first; NULL: not known */
	bool is_whole; /* up to where the thread began */
	int error;     /* why it is not known, -errno */
	enum fx_where_wait wait;
	uint64_t age_ns;		  /* so long it has been in its call; 0: not known */
	uint64_t address;		  /* of what it waits for */
	uint32_t readers;		  /* that have the read-write lock which it waits for */
	FX_VECTOR(struct fx_wish) wishes; /* any of them lets it go on, */
	bool may_go_on;			  /* and so does something else: a time, another machine */
	pid_t holder;	   /* the thread that it waits for; 0: nobody, or not known */
	pid_t other;	   /* the one process that has the other ends; 0: not known, or several */
	uint64_t switches; /* how often it had gone to sleep when its circle was looked at */
	uint32_t
	    circle; /* the number of the circle of waits that it is in, from 1 on; 0: it is in none */
};

#endif
