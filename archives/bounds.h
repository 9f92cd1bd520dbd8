/* SPDX-License-Identifier: MIT */
/* How far a clock has to be moved so that nothing is received before it was sent. */
#ifndef FX_ARCHIVES_BOUNDS_H
#define FX_ARCHIVES_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/vector.h"

/* At time `at` of the clock, it is to be moved by at least, or by at most, so many ns. */
struct fx_bound {
	uint64_t at;
	double by; /* more than `base` */
	bool is_least;
};

struct fx_bounds {
	struct fx_bound *items;
	size_t count, capacity;
	bool is_known;	   /* the clock is nearly right; else it may lie anywhere */
	int64_t base;	   /* of one that may lie anywhere, what the first bound says */
	uint64_t from, to; /* the times that are of interest */
	double tilt; /* by how much faster the clock goes by now than it was recorded, as a part */
};

/* Time `at`, moved, is to be no earlier than `other` (`is_least`), or no later; which may be wrong by `error` ns. 0 or
 * -ENOMEM. */
int fx_bounds_add(struct fx_bounds *bounds, bool is_least, uint64_t at, uint64_t other,
		  double error);

/* By how much a clock is to be moved: `base` + `constant` + `slope` * (time - `at`), in ns. */
struct fx_line {
	int64_t base;
	double constant, slope;
	uint64_t at;
};

/*
 * The line that keeps all bounds: the one with the least change if the clock is nearly right; else in the middle between
 * them. False: there is none of a slope that a clock could have, and this is the one that is wrong by least. There is a bound
 * at least.
 */
bool fx_bounds_solve(struct fx_bounds *bounds, struct fx_line *ret);

/* Whether it may stay where it is. */
bool fx_bounds_are_kept(const struct fx_bounds *bounds);

/*
 * How far the truth may be from a line, between `from` and `to`: it is a line, too, that keeps all bounds, and whose slope differs by
 * no more than two clocks of computers do from that of the clock as it was recorded. INFINITY: nothing tells.
 */
double fx_bounds_error(struct fx_bounds *bounds, const struct fx_line *line);

void fx_bounds_free(struct fx_bounds *bounds);

#endif
