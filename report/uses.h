/* SPDX-License-Identifier: MIT */
/*
 * Uses of objects, put in order of time, each with the thread whose arrow ended it. However many there are, they take
 * little memory (lists/runs.h).
 */
#ifndef FX_REPORT_USES_H
#define FX_REPORT_USES_H

#include "convert/timeline.h"
#include "lists/runs.h"

enum {
	FX_USE_OPENS = 1,
	FX_USE_CLOSES = 2,
	FX_USE_TAKES = 4,    /* has the lock in the end */
	FX_USE_WAITED = 8,   /* says itself that it had to wait */
	FX_USE_INSTANT = 16, /* a moment of a call that is not recorded */
	FX_USE_SHOWN = 32    /* the filter lets it pass; what it does counts in any case */
};

struct fx_use {
	uint64_t at; /* its place in the order: when it began; of what opens, when it ended */
	uint64_t number;
	uint64_t begin, end;
	uint64_t word; /* its record */
	uint64_t read, written;
	uint32_t provider;
	uint32_t thread; /* number */
	uint32_t object;
	uint32_t text; /* what the object was called; number of a text, 0: not told */
	uint32_t
	    holder;   /* the thread that had the lock as the wait began: 1 + number; 0: not known */
	uint8_t deed; /* enum fx_deed */
	uint8_t wait; /* enum fx_wait_kind */
	uint16_t flags; /* FX_USE_ */
};

struct fx_uses {
	struct fx_runs uses;   /* struct fx_use */
	struct fx_runs begins; /* of arrows */
	struct fx_runs ends;
	struct fx_runs origins; /* the ends with where they come from, in order of the uses */
	uint64_t count;
};

void fx_uses_init(struct fx_uses *uses, struct fx_runs_pool *pool);

/* Returns its number, or UINT64_MAX: no memory. */
uint64_t fx_uses_add(struct fx_uses *uses, const struct fx_use *use);

/* An arrow begins on a thread, or ends in a use. Return 0 or -ENOMEM. */
int fx_uses_arrow_begins(struct fx_uses *uses, uint64_t chain, uint32_t thread);
int fx_uses_arrow_ends(struct fx_uses *uses, uint64_t chain, uint64_t at, uint64_t number);

/* --- In order of time, once all were added ----------------------------------------------------- */

struct fx_uses_walk {
	struct fx_merge uses, origins;
	const void *origin;
};

/* Returns 0 or -errno; to be ended either way. */
int fx_uses_begin(struct fx_uses *uses, struct fx_uses_walk *walk);

/* NULL: there is none. `*ret_from': 1 + the number of the thread that the arrow comes from, 0: there is none. */
const struct fx_use *fx_uses_first(struct fx_uses_walk *walk, uint32_t *ret_from);
const struct fx_use *fx_uses_next(struct fx_uses_walk *walk, uint32_t *ret_from);

/* Returns 0 or -errno: why it ended. */
int fx_uses_end(struct fx_uses_walk *walk);

void fx_uses_free(struct fx_uses *uses);

#endif
