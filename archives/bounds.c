/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/bounds.h"

#include <math.h>
#include <string.h>

/* Clocks of computers drift less against each other. */
#define BOUNDS_SLOPE_MAX 2e-3

/* For what rounding takes, ns. */
#define BOUNDS_MARGIN 4.0

enum { BOUNDS_STEPS = 200 };

int fx_bounds_add(struct fx_bounds *bounds, bool is_least, uint64_t at, uint64_t other)
{
	double by = other > at ? (double)(other - at) : -(double)(at - other);

	if (fx_vector_reserve(bounds, 1) < 0)
		return -ENOMEM;
	bounds->items[bounds->count++] = (struct fx_bound){
	    .at = at,
	    .by = is_least ? by + BOUNDS_MARGIN : by - BOUNDS_MARGIN,
	    .is_least = is_least,
	};
	return 0;
}

struct bounds_room {
	double least, most; /* of the constant */
};

/* What a slope leaves. */
static struct bounds_room bounds_room(const struct fx_bounds *bounds, double slope, uint64_t at)
{
	struct bounds_room room = {-INFINITY, INFINITY};

	for (size_t i = 0; i < bounds->count; i++) {
		const struct fx_bound *bound = &bounds->items[i];
		double distance =
		    bound->at > at ? (double)(bound->at - at) : -(double)(at - bound->at);
		double by = bound->by - slope * distance;

		if (bound->is_least && by > room.least)
			room.least = by;
		if (!bound->is_least && by < room.most)
			room.most = by;
	}
	return room;
}

/* The slope that leaves most. What it leaves is a concave function of the slope. */
static double bounds_slope(const struct fx_bounds *bounds, uint64_t at)
{
	double low = -BOUNDS_SLOPE_MAX, high = BOUNDS_SLOPE_MAX;

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

static double bounds_constant(const struct bounds_room *room, bool is_known)
{
	if (is_known && room->least <= 0 && room->most >= 0)
		return 0;
	if (is_known)
		return room->least > 0 ? room->least : room->most;
	if (isinf(room->least))
		return room->most;
	return isinf(room->most) ? room->least : room->least / 2 + room->most / 2;
}

bool fx_bounds_solve(const struct fx_bounds *bounds, bool is_known, struct fx_line *ret)
{
	struct bounds_room room;

	*ret = (struct fx_line){.at = bounds->items[0].at};
	room = bounds_room(bounds, 0, ret->at);
	if (room.least > room.most) {
		ret->slope = bounds_slope(bounds, ret->at);
		room = bounds_room(bounds, ret->slope, ret->at);
	}
	ret->constant = bounds_constant(&room, is_known);
	return room.least <= room.most;
}

void fx_bounds_free(struct fx_bounds *bounds)
{
	fx_vector_free(bounds);
	memset(bounds, 0, sizeof(*bounds));
}
