/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/clockmap.h"

#include <string.h>

#define TILT_MAX 9e18 /* ns; below 2^63 */

/* Of points that are nearer to each other, the slope says more about how they were read than about the clocks. */
#define BEYOND_LEAST_NS UINT64_C(10000000)

int fx_clockmap_add(struct fx_clockmap *map, uint64_t from, uint64_t to)
{
	const struct fx_clockpoint *last = NULL;

	if (map->points.count > 0)
		last = &map->points.items[map->points.count - 1];
	if (last && (from <= last->from || to < last->to))
		return 0;
	if (fx_vector_reserve(&map->points, 1) < 0)
		return -ENOMEM;
	map->points.items[map->points.count++] = (struct fx_clockpoint){.from = from, .to = to};
	return 0;
}

/* Between two points, rounded down. */
static uint64_t clockmap_between(uint64_t x, uint64_t x0, uint64_t x1, uint64_t y0, uint64_t y1)
{
	return y0 + (uint64_t)((unsigned __int128)(x - x0) * (y1 - y0) / (x1 - x0));
}

/* With slope 1 from a point. */
static uint64_t clockmap_beside(uint64_t x, uint64_t x0, uint64_t y0)
{
	if (x >= x0)
		return y0 + (x - x0);
	return y0 > x0 - x ? y0 - (x0 - x) : 0;
}

uint64_t fx_clockmap_to(struct fx_clockmap *map, uint64_t from)
{
	const struct fx_clockpoint *p = map->points.items;
	size_t count = map->points.count, i = map->current;

	if (count == 0)
		return from;
	if (from <= p[0].from)
		return clockmap_beside(from, p[0].from, p[0].to);
	if (from >= p[count - 1].from)
		return clockmap_beside(from, p[count - 1].from, p[count - 1].to);
	while (p[i].from > from)
		i--;
	while (p[i + 1].from <= from)
		i++;
	map->current = i;
	return clockmap_between(from, p[i].from, p[i + 1].from, p[i].to, p[i + 1].to);
}

uint64_t fx_clockmap_from(const struct fx_clockmap *map, uint64_t to)
{
	const struct fx_clockpoint *p = map->points.items;
	size_t count = map->points.count, i = 0;

	if (count == 0)
		return to;
	if (to <= p[0].to)
		return clockmap_beside(to, p[0].to, p[0].from);
	if (to >= p[count - 1].to)
		return clockmap_beside(to, p[count - 1].to, p[count - 1].from);
	while (p[i + 1].to <= to)
		i++;
	return clockmap_between(to, p[i].to, p[i + 1].to, p[i].from, p[i + 1].from);
}

/* What `part` of a distance is too much or too little. */
static uint64_t clockmap_more(uint64_t at, uint64_t distance, double part)
{
	double more = (double)distance * part;

	if (more >= 0)
		return at + (uint64_t)more;
	return at > (uint64_t)-more ? at - (uint64_t)-more : 0;
}

static bool clockmap_tells(const struct fx_clockmap *map)
{
	size_t count = map->points.count;
	const struct fx_clockpoint *p = map->points.items;

	return count >= 2 && p[count - 1].from - p[0].from >= BEYOND_LEAST_NS &&
	       p[count - 1].to > p[0].to;
}

uint64_t fx_clockmap_beyond(struct fx_clockmap *map, uint64_t from)
{
	uint64_t to = fx_clockmap_to(map, from);
	const struct fx_clockpoint *first = map->points.items, *last;
	double part = fx_clockmap_slope(map) - 1;

	if (!clockmap_tells(map))
		return to;
	last = first + map->points.count - 1;
	if (from < first->from)
		return clockmap_more(to, first->from - from, -part);
	return from > last->from ? clockmap_more(to, from - last->from, part) : to;
}

uint64_t fx_clockmap_from_beyond(const struct fx_clockmap *map, uint64_t to)
{
	uint64_t from = fx_clockmap_from(map, to);
	const struct fx_clockpoint *first = map->points.items, *last;
	double part;

	if (!clockmap_tells(map))
		return from;
	part = 1 / fx_clockmap_slope(map) - 1;
	last = first + map->points.count - 1;
	if (to < first->to)
		return clockmap_more(from, first->to - to, -part);
	return to > last->to ? clockmap_more(from, to - last->to, part) : from;
}

double fx_clockmap_bend(const struct fx_clockmap *map)
{
	const struct fx_clockpoint *p = map->points.items;
	double slope = fx_clockmap_slope(map), most = 0;

	for (size_t i = 1; i + 1 < map->points.count; i++) {
		double line = (double)(p[i].from - p[0].from) * slope;
		double bend = (double)(p[i].to - p[0].to) - line;

		if (bend > most || -bend > most)
			most = bend < 0 ? -bend : bend;
	}
	return most;
}

bool fx_clockmap_is_identity(const struct fx_clockmap *map)
{
	for (size_t i = 0; i < map->points.count; i++) {
		if (map->points.items[i].from != map->points.items[i].to)
			return false;
	}
	return true;
}

double fx_clockmap_slope(const struct fx_clockmap *map)
{
	const struct fx_clockpoint *first = map->points.items, *last;

	if (map->points.count < 2)
		return 1;
	last = first + map->points.count - 1;
	if (last->from == first->from)
		return 1;
	return (double)(last->to - first->to) / (double)(last->from - first->from);
}

void fx_clockmap_tilt(struct fx_clockmap *map, double constant, double slope, uint64_t at)
{
	for (size_t i = 0; i < map->points.count; i++) {
		struct fx_clockpoint *p = &map->points.items[i];
		double distance = p->to > at ? (double)(p->to - at) : -(double)(at - p->to);
		double change = constant + slope * distance;
		int64_t more;

		/* Of clocks that cannot be, it may be no number, or none that a time has room for. */
		if (!(change > -TILT_MAX && change < TILT_MAX))
			continue;
		more = (int64_t)(change < 0 ? change - 0.5 : change + 0.5);
		p->to = more < 0 && p->to < 0 - (uint64_t)more ? 0 : p->to + (uint64_t)more;
	}
}

void fx_clockmap_spread(struct fx_clockmap *map)
{
	struct fx_clockpoint *p = map->points.items, *last;
	size_t kept = 1;

	if (map->points.count < 2)
		return;
	last = &p[map->points.count - 1];
	if (last->to < p[0].to + (last->from - p[0].from))
		last->to = p[0].to + (last->from - p[0].from);
	for (size_t i = 1; i + 1 < map->points.count; i++) {
		if (p[i].to >= p[kept - 1].to + (p[i].from - p[kept - 1].from) &&
		    last->to >= p[i].to + (last->from - p[i].from))
			p[kept++] = p[i];
	}
	p[kept++] = *last;
	map->points.count = kept;
	map->current = 0;
}

void fx_clockmap_free(struct fx_clockmap *map)
{
	fx_vector_free(&map->points);
	memset(map, 0, sizeof(*map));
}
