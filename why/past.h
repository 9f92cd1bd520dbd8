/* SPDX-License-Identifier: MIT */
/*
 * What happened, as far as waiting goes: the waits of each thread, and the arrows that ended them; when each thread was there,
 * and which one made it. Found on a walk through all events.
 *
 * Of more waits than there is memory for, the shorter ones are forgotten: then they are what their thread did itself, in
 * the call that it was.
 */
#ifndef FX_WHY_PAST_H
#define FX_WHY_PAST_H

#include "convert/export.h"
#include "lists/runs.h"
#include "lists/vector.h"
#include "report/waiting.h"
#include "why/parties.h"
#include "why/takes.h"

/* Where an arrow comes from. */
struct fx_why_origin {
	uint64_t at;	 /* time; while the past is collected, the number of the arrow's chain */
	uint32_t thread; /* number; FX_WHY_NOBODY: there is no arrow */
};

struct fx_why_wait {
	uint64_t begin, end;
	uint64_t word : 36; /* its record */
	uint64_t provider : 20;
	uint64_t kind : 6; /* enum fx_wait_kind; SLEEP also of what ended when its time was up: */
	uint64_t timed_out : 1;
	uint64_t
	    by_read : 1; /* the arrow is that of the read which came next, of what a poll had found */
	struct fx_why_origin from;
	uint32_t caller; /* function that it was made in, the number of a text; 0: not known */
	uint32_t
	    holder; /* of one that has not ended: the thread that had the lock; or FX_WHY_NOBODY */
};

/* A thread. */
struct fx_why_life {
	uint64_t begin, end; /* begin UINT64_MAX: nothing is known of it */
	uint64_t exits;	     /* when it said that it ends; 0: never */
	uint64_t over;	     /* it did nothing any more from then on; 0: not known */
	size_t first, count; /* its waits */
	struct fx_why_origin maker;
};

/* A slice of the name that is asked for. */
struct fx_why_slice {
	uint64_t begin, end;
	uint64_t thread;
};

struct fx_why_past {
	struct fx_timeline *timeline;
	FX_VECTOR(struct fx_why_wait) waits; /* thread by thread, each in order of time */
	struct fx_why_life *lives;	     /* by number of the thread */
	struct fx_runs slices;		     /* struct fx_why_slice */
	struct fx_why_parties parties;
	struct fx_why_takes takes;
	uint64_t forgotten;  /* waits */
	uint64_t shortest;   /* that is remembered, ns */
	uint64_t unfinished; /* waits that had not ended */
	uint64_t arrows;
	unsigned kinds; /* FX_KIND() of the categories that have events */
	uint64_t lost;	/* records that the archive says are missing */
	char cure[120];
};

/* Collects it of an arranged timeline; @slice: as in struct fx_why_order. Returns 0 or -errno; to be freed either way. */
int fx_why_past_collect(struct fx_why_past *past, struct fx_timeline *timeline,
			struct fx_flows *flows, const char *slice);

/* When threads were over, by number; 0: not known. */
void fx_why_past_over(struct fx_why_past *past, const uint64_t *ends);

void fx_why_past_free(struct fx_why_past *past);

#endif
