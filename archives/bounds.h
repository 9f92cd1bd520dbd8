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
	double by;
	bool is_least;
};

struct fx_bounds {
	struct fx_bound *items;
	size_t count, capacity;
};

/* Time `at`, moved, is to be no earlier than `other` (`is_least`), or no later. 0 or -ENOMEM. */
int fx_bounds_add(struct fx_bounds *bounds, bool is_least, uint64_t at, uint64_t other);

/* By how much a clock is to be moved: `constant` + `slope` * (time - `at`), in ns. */
struct fx_line {
	double constant, slope;
	uint64_t at;
};

/*
 * The line that keeps all bounds: the one with the least change if `is_known`, for then the clock is nearly right; else
 * in the middle between them. False: there is none of a slope that a clock could have. There is a bound at least.
 */
bool fx_bounds_solve(const struct fx_bounds *bounds, bool is_known, struct fx_line *ret);

void fx_bounds_free(struct fx_bounds *bounds);

#endif
