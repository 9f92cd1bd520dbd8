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

#include "manager/settings/functions.h"

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

/* A call of the function whose name has this index, that stands in the archive. *thread is made when it is first needed. True: there
 * are as many as are looked at together. */
bool fx_crowd_note(struct fx_crowd_counts *counts, struct fx_crowd_thread **thread, uint32_t index,
		   uint64_t start, uint64_t end);

/* Then: whether that function drowns the others; and all that is looked at together begins anew. */
bool fx_crowd_drowns(const struct fx_crowd *crowd, const struct fx_crowd_counts *counts,
		     uint32_t index, uint64_t now);
void fx_crowd_go_on(struct fx_crowd_counts *counts);

/* A function is left out from now on: `line' is its line of the list, without the sign. False: it is not. */
bool fx_crowd_add(struct fx_crowd *crowd, struct fx_function_list *list, const char *line,
		  uint64_t recorded);

/* Of one that is left out, the how manieth line of these it has: a call was as long, and stands for so many. */
void fx_crowd_count(struct fx_crowd *crowd, uint32_t suppressed, uint64_t ns, uint64_t calls);

/* How many calls of a function are in the archive that nobody has asked for yet. */
uint64_t fx_crowd_take_all(struct fx_crowd_counts *counts, uint32_t index);

/* The list is another one, but for the lines that were found. Without memory it stays as it is. */
void fx_crowd_choose(struct fx_function_list *list, const char *functions);

/* All lines that the list has more by now, for malloc()'s free(); NULL: it has no more than it had. Any thread. */
char *fx_crowd_news(struct fx_crowd *crowd);

/* The functions for RESULT, those with most calls first. */
void fx_crowd_tell(const struct fx_crowd *crowd, char *ret, size_t size);

#endif
