/* SPDX-License-Identifier: MIT */
/* From the times of one archive to those of another timeline: linear in pieces, with slope 1 before and behind. */
#ifndef FX_ARCHIVES_CLOCKMAP_H
#define FX_ARCHIVES_CLOCKMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "lists/vector.h"

struct fx_clockpoint {
	uint64_t from; /* ns; no two are equal */
	uint64_t to;   /* ns */
};

/* All zeros: nothing changes. */
struct fx_clockmap {
	FX_VECTOR(struct fx_clockpoint) points; /* ascending */
	size_t current;				/* the piece of the newest time */
};

/* Adds a point behind the others; one that is not is left out. 0 or -ENOMEM. */
int fx_clockmap_add(struct fx_clockmap *map, uint64_t from, uint64_t to);

uint64_t fx_clockmap_to(struct fx_clockmap *map, uint64_t from);

/* The other way, where slopes are more than 0. */
uint64_t fx_clockmap_from(const struct fx_clockmap *map, uint64_t to);

/* The same, with the slope from the first point to the last before and behind, where these are far enough from each other to tell. */
uint64_t fx_clockmap_beyond(struct fx_clockmap *map, uint64_t from);
uint64_t fx_clockmap_from_beyond(const struct fx_clockmap *map, uint64_t to);

/* How far points are, at most, from the line from the first one to the last. */
double fx_clockmap_bend(const struct fx_clockmap *map);

/* Whether no time changes. */
bool fx_clockmap_is_identity(const struct fx_clockmap *map);

/* From the first point to the last; 1 where there are no two. */
double fx_clockmap_slope(const struct fx_clockmap *map);

/* Adds `constant` + `slope` * (to - `at`) to the results, at the points. */
void fx_clockmap_tilt(struct fx_clockmap *map, double constant, double slope, uint64_t at);

/*
 * Makes no slope less than 1, so that times that differ still do: by leaving out points, and in the end by the last
 * one's time.
 */
void fx_clockmap_spread(struct fx_clockmap *map);

void fx_clockmap_free(struct fx_clockmap *map);

#endif
