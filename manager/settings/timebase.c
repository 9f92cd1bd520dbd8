/* SPDX-License-Identifier: MIT */
#include "manager/settings/timebase.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

/* Pairs of readings that one anchor is chosen from. */
#define ANCHOR_TRIES 12

/* The slope of a segment never differs from the measured one by more than this part. */
#define STEER_LIMIT 1e-3

/* The slope is measured over at least this long, once there is so much. */
#define SLOPE_BASE_NS UINT64_C(2000000000)

/* A difference of more than this to what the slope lets expect, and of more than this part of the time
 * passed, is no drift: one of the clocks has jumped. */
#define JUMP_MIN_NS 1e7
#define JUMP_PART   1e-2

/* Both clocks may be steered, by half a thousandth each. A rate that is another by more than this part was not: the counter
 * is none to be trusted. */
#define DRIFT_PART 2e-3

#define PART_MASK ((UINT64_C(1) << FX_TIMEBASE_SHIFT) - 1)

struct fx_anchor fx_anchor_take(enum fx_clock_kind kind)
{
	struct fx_anchor best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < ANCHOR_TRIES; i++) {
		uint64_t before = fx_ticks(kind);
		uint64_t ns = fx_boottime_ns();
		uint64_t after = fx_ticks(kind);

		if (after - before < best_width) {
			best_width = after - before;
			best.ticks = before + best_width / 2;
			best.ns = ns;
		}
	}
	best.ns += (uint64_t)FX_FAULT_SHIFT(clock_read);
	return best;
}

void fx_timebase_init(struct fx_timebase *ret, enum fx_clock_kind kind, struct fx_anchor first)
{
	*ret = (struct fx_timebase){.kind = kind, .first = first, .newest = first, .older = first};
}

void fx_timebase_destroy(struct fx_timebase *tb)
{
	if (tb->segments != tb->few)
		free(tb->segments);
	memset(tb, 0, sizeof(*tb));
}

static int segment_add(struct fx_timebase *tb, struct fx_segment segment)
{
	if (!tb->room) {
		tb->segments = tb->few;
		tb->room = sizeof(tb->few) / sizeof(tb->few[0]);
	} else if (tb->count == tb->room) {
		bool is_few = tb->segments == tb->few;
		size_t room = 4 * tb->room;
		struct fx_segment *segments =
		    realloc(is_few ? NULL : tb->segments, room * sizeof(*segments));

		if (!segments)
			return -ENOMEM;
		if (is_few)
			memcpy(segments, tb->few, sizeof(tb->few));
		tb->segments = segments;
		tb->room = room;
	}
	tb->segments[tb->count++] = segment;
	return 0;
}

static double slope_between(struct fx_anchor from, struct fx_anchor to)
{
	return (double)(to.ns - from.ns) / (double)(to.ticks - from.ticks);
}

static uint64_t slope_to_mult(double slope)
{
	return (uint64_t)(slope * (double)(UINT64_C(1) << FX_TIMEBASE_SHIFT));
}

/* The slope that leads from `ns` at the anchor to the true time one period later. */
static double steered_slope(double slope, struct fx_anchor anchor, uint64_t ns, uint64_t period_ns)
{
	double error = (double)(int64_t)(anchor.ns - ns);
	double correction = error / (double)(period_ns ? period_ns : 1);

	if (correction > STEER_LIMIT)
		correction = STEER_LIMIT;
	if (correction < -STEER_LIMIT)
		correction = -STEER_LIMIT;
	return slope * (1 + correction);
}

static bool is_jump(const struct fx_timebase *tb, struct fx_anchor anchor)
{
	double expected = (double)(anchor.ticks - tb->newest.ticks) * tb->slope;
	double error = fabs((double)(int64_t)(anchor.ns - tb->newest.ns) - expected);

	return tb->count && error > JUMP_MIN_NS && error > JUMP_PART * expected;
}

/* Where the map has got to at `ticks`, which the newest segment covers. */
static void segment_begin(const struct fx_timebase *tb, struct fx_segment *segment)
{
	const struct fx_segment *s = &tb->segments[tb->count - 1];
	unsigned __int128 at = (unsigned __int128)(segment->ticks - s->ticks) * s->mult + s->part;

	segment->ns = s->ns + (uint64_t)(at >> FX_TIMEBASE_SHIFT);
	segment->part = (uint64_t)at & PART_MASK;
}

/* Goes on behind a jump with the slope that was; time that went back is waited for. Two jumps in a row
 * mean that the slope is wrong. */
static int jump(struct fx_timebase *tb, struct fx_anchor anchor)
{
	struct fx_segment segment = {.ticks = anchor.ticks};

	if (tb->jumped && anchor.ns > tb->newest.ns)
		tb->slope = slope_between(tb->newest, anchor);
	tb->jumped = true;
	segment.mult = slope_to_mult(tb->slope);
	segment_begin(tb, &segment);
	tb->found = FX_TIMEBASE_JUMP;
	tb->found_by = (int64_t)(anchor.ns - segment.ns);
	if (segment.ns < anchor.ns) {
		segment.ns = anchor.ns;
		segment.part = 0;
	}
	tb->older = tb->newest = anchor;
	return segment_add(tb, segment);
}

/* Whether the rate, as measured over long enough, is still the same. */
static void timebase_watch(struct fx_timebase *tb, struct fx_anchor anchor, double slope)
{
	double change;

	if (anchor.ns - tb->older.ns <= SLOPE_BASE_NS)
		return;
	change = tb->steady_slope > 0 ? slope / tb->steady_slope - 1 : 1;
	if (tb->steady_slope > 0 && fabs(change) <= DRIFT_PART)
		return;
	if (tb->steady_slope > 0) {
		tb->found = FX_TIMEBASE_DRIFT;
		tb->found_by = (int64_t)(change * 1e6);
	}
	tb->steady_slope = slope;
}

int fx_timebase_add(struct fx_timebase *tb, struct fx_anchor anchor, uint64_t period_ns)
{
	struct fx_segment segment = {.ticks = anchor.ticks};
	double slope;
	int r;

	tb->found = FX_TIMEBASE_AS_BEFORE;
	if (tb->kind == FX_CLOCK_BOOTTIME || anchor.ticks <= tb->newest.ticks)
		return 0;
	if (is_jump(tb, anchor))
		return jump(tb, anchor);
	if (anchor.ns <= tb->newest.ns)
		return 0;
	slope = slope_between(tb->older, anchor);
	timebase_watch(tb, anchor, slope);
	tb->slope = slope;
	tb->jumped = false;
	if (tb->count == 0) {
		segment.ticks = tb->first.ticks;
		segment.ns = tb->first.ns;
		segment.mult = slope_to_mult(slope);
	} else {
		segment_begin(tb, &segment);
		segment.mult = slope_to_mult(steered_slope(slope, anchor, segment.ns, period_ns));
	}
	r = segment_add(tb, segment);
	if (r < 0)
		return r;
	if (anchor.ns - tb->older.ns > SLOPE_BASE_NS && tb->newest.ns > tb->older.ns)
		tb->older = tb->newest;
	tb->newest = anchor;
	return 0;
}

/* The newest segment that begins at or before `ticks`; the first one if none does. */
static size_t segment_find(const struct fx_timebase *tb, uint64_t ticks)
{
	size_t low = 0, high = tb->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (tb->segments[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t fx_timebase_ns_slow(struct fx_timebase *tb, uint64_t ticks)
{
	const struct fx_segment *s;
	unsigned __int128 span;

	if (tb->kind == FX_CLOCK_BOOTTIME)
		return ticks;
	tb->current = segment_find(tb, ticks);
	s = &tb->segments[tb->current];
	if (ticks >= s->ticks) {
		span = (unsigned __int128)(ticks - s->ticks) * s->mult + s->part;
		return s->ns + (uint64_t)(span >> FX_TIMEBASE_SHIFT);
	}
	/* Back from there, rounded down as well. */
	span = (unsigned __int128)(s->ticks - ticks) * s->mult;
	span = span > s->part ? (span - s->part + PART_MASK) >> FX_TIMEBASE_SHIFT : 0;
	return span > s->ns ? 0 : s->ns - (uint64_t)span;
}

uint64_t fx_timebase_ticks(const struct fx_timebase *tb, uint64_t ns)
{
	if (tb->kind == FX_CLOCK_BOOTTIME)
		return ns;
	return (uint64_t)((double)ns / tb->slope);
}
