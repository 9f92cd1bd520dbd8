/* SPDX-License-Identifier: MIT */
/*
 * Brings messages among many clocks into order, all at once: each clock that may move gets a constant and a drift so that as
 * little as possible, by the squares of the times, runs backwards; which is nothing at all, if that can be. One clock after another
 * would not do: each has room only as far as its neighbours leave it some.
 */
#ifndef FX_ARCHIVES_SETTLE_H
#define FX_ARCHIVES_SETTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

struct fx_settle_message {
	uint32_t from, to; /* clocks */
	double
	    early; /* ns, that it is received before it was sent, as they are now; < 0: after it */
	double sent, received; /* when, between 0 and 1 */
};

struct fx_settle_clock {
	bool moves;
	double constant, change; /* what comes of it: ns, at time 0 and how much more at time 1 */
	size_t column;
};

struct fx_settle {
	struct fx_settle_clock *clocks; /* borrowed */
	size_t count;
	FX_VECTOR(struct fx_settle_message) messages;
};

/* Clocks that can be moved together: beyond, the matrix would be too large. */
#define FX_SETTLE_MAX 2048

/* 1: all are in order then, or were before, and nothing moves; 0: not all; -ENOMEM. */
int fx_settle_solve(struct fx_settle *settle);

void fx_settle_free(struct fx_settle *settle);

#endif
