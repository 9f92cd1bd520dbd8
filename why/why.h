/* SPDX-License-Identifier: MIT */
/*
 * Why it took so long: the critical path through an archive, as a tree.
 *
 * The question is of a thread and a range of time. Going back from the end, each moment is what the thread did itself, or a
 * wait. What a wait was for is known where an arrow ends in it: then its time is what the thread at the arrow's other
 * end did until it let the first one go on, and in the same way what that one waited for:
 *
 *     client   ---compute---[ pthread_cond_wait                                ]--compute--
 *     worker                [ pthread_mutex_lock           ]--compute--signal /
 *     keeper   --------------nanosleep-------------unlock /
 *
 * (past.h) what happened: the waits of each thread, from where they were ended, and how long each thread lived
 * (path.h) the way back through them: a tree, and when the threads on it did something themselves
 * (computing.h) in which calls they were then: the archive is walked through a second time
 */
#ifndef FX_WHY_WHY_H
#define FX_WHY_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "convert/timeline.h"
#include "report/filter.h"
#include "report/table.h"

struct fx_why_order {
	struct fx_patterns processes; /* of one of these */
	struct fx_patterns threads;
	const char *slice; /* name of a slice; NULL: the whole life of a thread, or from and to */
	uint64_t number;   /* of the slices of this name, in order of time; 0: the longest */
	uint64_t from, to; /* ns since the first event; to UINT64_MAX: the end */
	bool is_from_given;
	double least;	 /* share below which what is said of a thread is summed up */
	unsigned depth;	 /* levels of the tree; 0: all */
	size_t top;	 /* rows of what had the time; 0: all */
	bool is_full;	 /* tables have the columns that are for programs */
	bool is_growing; /* somebody still writes the archive */
};

struct fx_why;

/*
 * Answers, of a timeline that is borrowed and used up. Returns 0 or -errno; -ENOENT: there is nothing of what is asked
 * about, and *@ret_wrong says what.
 */
int fx_why_make(struct fx_timeline *timeline, const struct fx_why_order *order, struct fx_why **ret,
		const char **ret_wrong);

/* NULL is allowed. */
void fx_why_free(struct fx_why *why);

/* The tree, and what had the time, whatever waited for it. */
size_t fx_why_table_count(const struct fx_why *why);
const struct fx_table *fx_why_table(const struct fx_why *why, size_t number);

/* Each path of the tree as a line, with its nanoseconds: for flame graphs. Returns 0 or -ENOMEM. */
int fx_why_print_collapsed(const struct fx_why *why, FILE *out);

#endif
