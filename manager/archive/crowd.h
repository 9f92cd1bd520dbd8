/* SPDX-License-Identifier: MIT */
/*
 * Functions that drown the others (--auto-suppress): called so often, and over so soon, that recording them costs about as much
 * as they do. They are found while the archive is made, by their share of a process's newest calls; from then on they are left
 * out, in all processes, by a line of the list of functions (symbols/patterns.h: ^), of which the processes are told as of any
 * other. What they do then is known from samples (engine/recipe.h: FX_SUPPRESSED_PERIOD).
 *
 * Belongs to the writer thread, but for what fx_crowd_news() is for.
 */
#ifndef FX_MANAGER_CROWD_H
#define FX_MANAGER_CROWD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/names.h"
#include "manager/settings/functions.h"
#include "protocol/messages.h"

struct fx_stream;
struct fx_stream_thread;

/* A function that is left out; its name is the list's line. */
struct fx_crowd_function {
	char *name;	   /* without its module; owned */
	uint64_t recorded; /* calls of it that are in the archive */
	uint64_t calls;	   /* that are not: about so many */
	uint64_t ns;	   /* in which they were open, all together */
};

/* Of a session. All zero: nothing is looked for. */
struct fx_crowd {
	uint32_t share; /* of a process's calls, in thousandths */
	struct fx_crowd_function *functions;
	size_t count;
	pthread_mutex_t lock; /* of `news' */
	char
	    *news; /* all lines of the list that were added; NULL: none since they were asked for */
};

/* Calls of one function of a process that stand in the archive. */
struct fx_crowd_count {
	uint64_t all;
	uint32_t newest; /* of those that are looked at together */
	uint64_t self;	 /* ns of these, without what they call */
};

/* Of a process. */
struct fx_crowd_counts {
	struct fx_crowd_count *items; /* by the index of the name */
	uint32_t room;
	uint32_t calls; /* of those that are looked at together */
	uint64_t first; /* ns; when the first of them began */
};

/* A call that has ended, and lies in none that has. */
struct fx_crowd_call {
	uint64_t start, ns; /* with what it stands for, if it is several */
};

#define FX_CROWD_CALLS 64u

/* Of a thread: the newest of them. */
struct fx_crowd_thread {
	uint32_t count;
	struct fx_crowd_call calls[FX_CROWD_CALLS];
};

void fx_crowd_init(struct fx_crowd *crowd, const char *functions);
void fx_crowd_destroy(struct fx_crowd *crowd);

/* A call of a function, by the reference to its name, that goes into the archive; or the record of one that does not, since the
 * function is left out. */
void fx_crowd_note(struct fx_stream *s, struct fx_stream_thread *t, uint32_t ref, uint64_t start,
		   uint64_t end);
void fx_crowd_count(struct fx_stream *s, uint32_t ref, const uint64_t *words, size_t size);

/* All lines that the list has more by now, for malloc()'s free(); NULL: it has no more than it had. Any thread. */
char *fx_crowd_news(struct fx_crowd *crowd);

/* The functions for RESULT, those with most calls first. */
void fx_crowd_tell(const struct fx_crowd *crowd, char ret[FX_SUPPRESSED_MAX]);

#endif
