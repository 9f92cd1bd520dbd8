/* SPDX-License-Identifier: MIT */
/*
 * Threads that waited for one another to the archive's end: each for a lock that the next one held as its wait began. All
 * zeros is an empty one.
 */
#ifndef FX_REPORT_CIRCLES_H
#define FX_REPORT_CIRCLES_H

#include "lists/vector.h"
#include "report/section.h"
#include "report/show.h"

/* A thread that waits for a lock. */
struct fx_stuck {
	const struct fx_thread *thread;
	uint64_t since;
	uint64_t holder; /* tid */
	struct fx_object object;
	size_t seen; /* by which search: 0 none */
};

struct fx_circles {
	FX_VECTOR(struct fx_stuck) waits;
};

/* Takes note of a call that waits for a lock, if it has not ended and says which thread held it. 0 or -ENOMEM. */
int fx_circles_add(struct fx_circles *circles, const struct fx_open_call *call,
		   const struct fx_event *event, const struct fx_object *object);

/* Since when threads have stood in a circle; `text' says which waits for which. 0: there is none. */
uint64_t fx_circles_find(struct fx_circles *circles, const struct fx_report *report, char *text,
			 size_t size);

void fx_circles_free(struct fx_circles *circles);

#endif
