/* SPDX-License-Identifier: MIT */
/*
 * Slices of a thread that never cross. Signal handlers that jump out of the middle of recording may leave a call
 * that is recorded twice, or one that ends after its caller; and what a provider says is not believed. So the
 * archive takes a Duration Complete event only as far as it lies inside or outside of each one before.
 *
 * Most come in the order of their ends. Of these it is enough to know the outermost calls that have ended. Handlers
 * that interrupt a record write elsewhere, and their calls come late, in the middle of what is known already: for
 * them the newest calls of all threads are remembered, about as many as a buffer holds. What comes later than that
 * cannot be judged, and is left out; so is what would take too long to judge, where calls come late again and again.
 *
 * Nor do they lie deeper than viewers show: a call around too much is left out, as what lies in it stands in the archive by then.
 */
#ifndef FX_MANAGER_NESTING_H
#define FX_MANAGER_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/peaks.h"

/* Outermost calls that are remembered of a thread; the oldest are forgotten. */
#define FX_NESTING_OUTER 512u

/* Durations in one another; a viewer shows one level more, which instants have. */
#define FX_NESTING_LEVELS 511u

/* Calls in a block of the memory of all, and such blocks: 18 MiB. */
#define FX_NESTING_BLOCK  256u
#define FX_NESTING_BLOCKS 4096u

/* What may be looked at to judge late calls, blocks and calls in them: so many at once, and so many more for each call that is
 * remembered. A handler's chunk that comes late takes some 4 million. */
#define FX_NESTING_LOOKS	  (UINT64_C(64) << 20)
#define FX_NESTING_LOOKS_PER_CALL 32u

struct fx_nesting_block;

/* What threads share. All zero at first. */
struct fx_nesting_memory {
	struct fx_nesting_block *blocks; /* the oldest first */
	uint32_t count;
	uint64_t looked; /* at so many blocks and calls, less what remembered calls allow */
};

struct fx_interval {
	uint64_t start, end; /* ns */
};

/* A call that lies in no other one. `level`: the deepest of what lies in it, and of itself. */
struct fx_outer {
	uint64_t start, end; /* ns */
	uint32_t level;
};

/* Of a thread. All zero at first. */
struct fx_nesting {
	struct fx_outer *outer; /* none meets another, the newest is the last */
	uint32_t outer_count, outer_room;
	uint64_t forgotten_end;		 /* of the newest that is no longer there */
	struct fx_peaks forgotten;	 /* levels of calls that are forgotten, by their ends */
	struct fx_nesting_block *blocks; /* the oldest first */
	uint64_t last_end;		 /* of all calls, those forgotten too */
};

enum fx_nesting_verdict {
	FX_NESTING_WHOLE, /* it goes into the archive as it is, */
	FX_NESTING_CUT,	  /* or with the later start that is set, */
	FX_NESTING_OUT,	  /* or not at all, */
	FX_NESTING_DEEP,  /* as it would make the levels too many */
};

/* The way of a call that does not come in the usual order, or whose callees are known. */
enum fx_nesting_verdict fx_nesting_slow(struct fx_nesting *n, struct fx_nesting_memory *m,
					uint64_t *start, uint64_t end, uint32_t begun);

/* Remembers a call that nests; `level` is as of struct fx_outer. */
void fx_nesting_note(struct fx_nesting *n, struct fx_nesting_memory *m,
		     const struct fx_outer *call);

/* How a call goes into the archive; `start` <= `end`. `begun`: how many slices with a begin of their own lie in one another there, those
 * in the call and around it. */
static inline enum fx_nesting_verdict fx_nesting_take(struct fx_nesting *n,
						      struct fx_nesting_memory *m, uint64_t *start,
						      uint64_t end, uint32_t begun)
{
	uint32_t count = n->outer_count;

	/* After all that is known, and there is room. */
	if (count && count < n->outer_room && *start >= n->outer[count - 1].end &&
	    begun < FX_NESTING_LEVELS) {
		n->outer[n->outer_count++] = (struct fx_outer){*start, end, begun + 1};
		fx_nesting_note(n, m, &n->outer[count]);
		return FX_NESTING_WHOLE;
	}
	return fx_nesting_slow(n, m, start, end, begun);
}

/* Whether a slice that begins at `ns` in so many that have begun goes into the archive. */
bool fx_nesting_begin(struct fx_nesting *n, struct fx_nesting_memory *m, uint64_t ns,
		      uint32_t begun);

/* Forgets all. */
void fx_nesting_clear(struct fx_nesting *n, struct fx_nesting_memory *m);

#endif
