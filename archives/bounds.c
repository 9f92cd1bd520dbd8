/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Clocks of computers drift less against each other. */
#define BOUNDS_SLOPE_MAX 2e-3

/* And of what the messages leave open, two that run by a crystal and are set right by NTP, less than this. */
#define BOUNDS_SLOPE_USUAL 2e-4

/* For what rounding takes, ns. */
#define BOUNDS_MARGIN 4.0

enum { BOUNDS_STEPS = 100 };

int fx_bounds_add(struct fx_bounds *bounds, bool is_least, uint64_t at, uint64_t other,
		  double error)
{
	int64_t by = (int64_t)(other - at);

	if (fx_vector_reserve(bounds, 1) < 0)
		return -ENOMEM;
	if (bounds->count == 0 && !bounds->is_known)
		bounds->base = by;
	by -= bounds->base;
	bounds->items[bounds->count++] = (struct fx_bound){
	    .at = at,
	    .by = (double)by + (is_least ? BOUNDS_MARGIN - error : error - BOUNDS_MARGIN),
	    .is_least = is_least,
	};
	return 0;
}

/* --- Those that count ------------------------------------------------------------------------- */

static int bounds_compare(const void *left, const void *right)
{
	const struct fx_bound *a = left, *b = right;

	if (a->is_least != b->is_least)
		return a->is_least ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->by < b->by ? -1 : a->by > b->by;
}

static double bounds_distance(uint64_t at, uint64_t from)
{
	return at > from ? (double)(at - from) : -(double)(from - at);
}

/* Whether the middle one of three lies on, or on the far side of, the line through the others: no line needs it. */
static bool bounds_is_idle(const struct fx_bound *a, const struct fx_bound *b,
			   const struct fx_bound *c)
{
	double there = (b->by - a->by) * bounds_distance(c->at, a->at);
	double line = (c->by - a->by) * bounds_distance(b->at, a->at);

	return a->is_least ? there <= line : there >= line;
}

/* Leaves those that a line can touch: a chain that is bent away from the others, on either side. */
static void bounds_reduce(struct fx_bounds *bounds)
{
	size_t kept = 0, begin = 0;

	qsort(bounds->items, bounds->count, sizeof(*bounds->items), bounds_compare);
	for (size_t i = 0; i < bounds->count; i++) {
		const struct fx_bound bound = bounds->items[i];

		if (kept > 0 && bounds->items[kept - 1].is_least != bound.is_least)
			begin = kept;
		while (kept >= begin + 2 &&
		       bounds_is_idle(&bounds->items[kept - 2], &bounds->items[kept - 1], &bound))
			kept--;
		bounds->items[kept++] = bound;
	}
	bounds->count = kept;
}

/* --- Lines ------------------------------------------------------------------------------------ */

struct bounds_room {
	double least, most; /* of the constant */
};

/* What a slope leaves. */
static struct bounds_room bounds_room(const struct fx_bounds *bounds, double slope, uint64_t at)
{
	struct bounds_room room = {-INFINITY, INFINITY};

	for (size_t i = 0; i < bounds->count; i++) {
		const struct fx_bound *bound = &bounds->items[i];
		double by = bound->by - slope * bounds_distance(bound->at, at);

		if (bound->is_least && by > room.least)
			room.least = by;
		if (!bound->is_least && by < room.most)
			room.most = by;
	}
	return room;
}

/* The slope up to `most' that leaves most. What it leaves is a concave function of the slope. */
static double bounds_slope(const struct fx_bounds *bounds, uint64_t at, double most)
{
	double low = -most, high = most;

	for (int i = 0; i < BOUNDS_STEPS && high - low > 1e-15; i++) {
		double third = (high - low) / 3;
		struct bounds_room a = bounds_room(bounds, low + third, at);
		struct bounds_room b = bounds_room(bounds, high - third, at);

		if (a.most - a.least < b.most - b.least)
			low += third;
		else
			high -= third;
	}
	return (low + high) / 2;
}

static double bounds_constant(const struct fx_bounds *bounds, const struct bounds_room *room)
{
	bool is_known = bounds->is_known && room->least <= room->most;

	if (is_known && room->least <= 0 && room->most >= 0)
		return 0;
	if (is_known)
		return room->least > 0 ? room->least : room->most;
	if (isinf(room->least))
		return room->most;
	return isinf(room->most) ? room->least : room->least / 2 + room->most / 2;
}

/* --- What is left open ------------------------------------------------------------------------ */

/* How far from a slope with room, towards another one, there still is some. */
static double bounds_edge(const struct fx_bounds *bounds, uint64_t at, double inside, double edge)
{
	for (int i = 0; i < BOUNDS_STEPS && fabs(edge - inside) > 1e-15; i++) {
		double middle = (inside + edge) / 2;
		struct bounds_room room = bounds_room(bounds, middle, at);

		if (room.least <= room.most)
			inside = middle;
		else
			edge = middle;
	}
	return edge;
}

/* The highest that any line with a slope between these lies at distance `there`, or, `sign` -1, the lowest. */
static double bounds_extreme(const struct fx_bounds *bounds, uint64_t at, double low, double high,
			     double there, double sign)
{
	double best = -INFINITY;

	for (int i = 0; i < BOUNDS_STEPS; i++) {
		double third = (high - low) / 3, values[2];

		for (int side = 0; side < 2; side++) {
			double slope = side ? high - third : low + third;
			struct bounds_room room = bounds_room(bounds, slope, at);

			values[side] = sign * ((sign > 0 ? room.most : room.least) + slope * there);
			best = values[side] > best ? values[side] : best;
		}
		if (values[0] < values[1])
			low += third;
		else
			high -= third;
	}
	return sign * best;
}

double fx_bounds_error(struct fx_bounds *bounds, const struct fx_line *line)
{
	const uint64_t ends[2] = {bounds->from, bounds->to};
	struct bounds_room room;
	double low, high, error = 0;

	bounds_reduce(bounds);
	room = bounds_room(bounds, line->slope, line->at);
	if (room.least > room.most || isinf(room.least) || isinf(room.most))
		return INFINITY;
	/* Messages may have tilted the clock more than it drifts. */
	low = bounds_edge(bounds, line->at, line->slope,
			  fmin(fmin(line->slope, 0), -bounds->tilt) - BOUNDS_SLOPE_USUAL);
	high = bounds_edge(bounds, line->at, line->slope,
			   fmax(fmax(line->slope, 0), -bounds->tilt) + BOUNDS_SLOPE_USUAL);
	/* What lies between two times is no farther from the line than at one of them. */
	for (int i = 0; i < 2; i++) {
		double there = bounds_distance(ends[i], line->at);
		double here = line->constant + line->slope * there;
		double most = bounds_extreme(bounds, line->at, low, high, there, 1) - here;
		double least = here - bounds_extreme(bounds, line->at, low, high, there, -1);

		error = most > error ? most : error;
		error = least > error ? least : error;
	}
	return error + 2 * BOUNDS_MARGIN;
}

bool fx_bounds_solve(struct fx_bounds *bounds, struct fx_line *ret)
{
	struct bounds_room room;

	bounds_reduce(bounds);
	*ret = (struct fx_line){.at = bounds->items[0].at, .base = bounds->base};
	room = bounds_room(bounds, 0, ret->at);
	if (room.least > room.most) {
		ret->slope = bounds_slope(bounds, ret->at, BOUNDS_SLOPE_USUAL);
		room = bounds_room(bounds, ret->slope, ret->at);
	}
	if (room.least > room.most) {
		ret->slope = bounds_slope(bounds, ret->at, BOUNDS_SLOPE_MAX);
		room = bounds_room(bounds, ret->slope, ret->at);
	}
	ret->constant = bounds_constant(bounds, &room);
	return room.least <= room.most;
}

bool fx_bounds_are_kept(const struct fx_bounds *bounds)
{
	struct bounds_room room = bounds_room(bounds, 0, bounds->count ? bounds->items[0].at : 0);
	double by = -(double)bounds->base;

	/* What lies in the middle of too little room is as right as can be. */
	return room.least <= by + 1 && by - 1 <= room.most;
}

void fx_bounds_free(struct fx_bounds *bounds)
{
	fx_vector_free(bounds);
	memset(bounds, 0, sizeof(*bounds));
}
