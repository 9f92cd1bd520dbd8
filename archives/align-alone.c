/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "archives/align-internal.h"

/* A time and a distance, where that is one; else an end of all times. */
uint64_t fx_align_moved(uint64_t ns, int64_t by)
{
	if (by < 0)
		return ns > 0 - (uint64_t)by ? ns - (0 - (uint64_t)by) : 0;
	return ns < UINT64_MAX - (uint64_t)by ? ns + (uint64_t)by : UINT64_MAX;
}

int fx_align_by_offset(struct fx_aligned *a, int64_t offset, enum fx_alignment how)
{
	a->how = how;
	if (a->first_ns == UINT64_MAX)
		return 0;
	if (fx_clockmap_add(&a->map, a->first_ns, fx_align_moved(a->first_ns, offset)) < 0)
		return -ENOMEM;
	return fx_clockmap_add(&a->map, a->last_ns, fx_align_moved(a->last_ns, offset));
}

/* The clock of another archive, but for what time namespaces add. */
int fx_align_by_machine(struct fx_aligned *a, struct fx_aligned *other)
{
	int64_t more = other->facts.clock.offset - a->facts.clock.offset;
	int r = 0;

	if (other->map.points.count == 0)
		return fx_align_by_offset(a, more, FX_ALIGN_MACHINE);
	a->how = FX_ALIGN_MACHINE;
	for (size_t i = 0; i < other->map.points.count && r == 0; i++) {
		const struct fx_clockpoint *p = &other->map.points.items[i];

		r = fx_clockmap_add(&a->map, fx_align_moved(p->from, -more), p->to);
	}
	return r;
}

/* Dates are known at some times; before and behind them clocks drift as they do there. */
static int align_date(struct fx_aligned *a, struct fx_aligned *other, uint64_t ns)
{
	uint64_t date = fx_clockmap_beyond(&a->facts.dates, ns);

	return fx_clockmap_add(
	    &a->map, ns,
	    fx_clockmap_to(&other->map, fx_clockmap_from_beyond(&other->facts.dates, date)));
}

/* The two had the same date at the same time. */
static int align_by_dates(struct fx_aligned *a, struct fx_aligned *other)
{
	const struct fx_facts *facts = &a->facts;
	int r = 0;

	a->how = FX_ALIGN_DATES;
	if (a->first_ns == UINT64_MAX)
		return 0;
	if (a->first_ns < facts->dates.points.items[0].from)
		r = align_date(a, other, a->first_ns);
	for (size_t i = 0; i < facts->dates.points.count && r == 0; i++)
		r = align_date(a, other, facts->dates.points.items[i].from);
	return r < 0 ? r : align_date(a, other, a->last_ns);
}

/* What needs no other's clock but that of an archive with a date. */
int fx_align_alone(struct fx_aligned *archives, struct fx_aligned *a)
{
	a->error = INFINITY;
	if (a == archives) {
		a->error = 0;
		return fx_align_by_offset(a, a->offset, FX_ALIGN_FIRST);
	}
	if (a->has_offset) {
		a->error = -1;
		return fx_align_by_offset(a, a->offset, FX_ALIGN_OFFSET);
	}
	for (struct fx_aligned *b = archives; b < a && a->facts.has_clock; b++) {
		if (!b->leader && b->how != FX_ALIGN_NONE && b->facts.has_clock)
			return align_by_dates(a, b);
	}
	return 0;
}
