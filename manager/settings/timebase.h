/* SPDX-License-Identifier: MIT */
/*
 * From counter ticks to nanoseconds of CLOCK_BOOTTIME.
 *
 * The two clocks drift against each other by some parts in a million, and the kernel steers one of
 * them. The map is therefore piecewise linear. Each segment begins where the one before it has got
 * to, so that the map is continuous, and its slope steers towards the true time, so that it stays
 * monotonic and no error accumulates. A segment begins at a time that nobody has asked for yet, and
 * never changes; so it is one map for the whole session, and equal ticks are equal times whenever they
 * are converted. Times that are a nanosecond apart never fall together, not even where segments meet.
 *
 * While a machine sleeps, CLOCK_BOOTTIME goes on and many a counter does not: then the map jumps ahead, at
 * the first anchor after the sleep. It never goes back.
 *
 * One thread uses a timebase at a time.
 */
#ifndef FX_MANAGER_TIMEBASE_H
#define FX_MANAGER_TIMEBASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Both clocks at one moment. */
struct fx_anchor {
	uint64_t ticks;
	uint64_t ns;
};

/* From `ticks` on: ns + (part + (t - ticks) * mult) / 2^FX_TIMEBASE_SHIFT, rounded down. */
struct fx_segment {
	uint64_t ticks;
	uint64_t ns;
	uint64_t part; /* of a nanosecond: what rounding would lose where segments meet */
	uint64_t mult;
};

#define FX_TIMEBASE_SHIFT 40

/* What the newest anchor showed of the two clocks. */
enum fx_timebase_finding {
	FX_TIMEBASE_AS_BEFORE,
	FX_TIMEBASE_JUMP,  /* one of them has jumped: the machine slept, or was moved */
	FX_TIMEBASE_DRIFT, /* the counter's rate is another one than it was */
};

struct fx_timebase {
	enum fx_clock_kind kind;
	enum fx_timebase_finding found;
	int64_t
	    found_by; /* JUMP: by so many ns (positive: the map is ahead now); DRIFT: by millionths */
	double
	    steady_slope; /* over a long time, or since it was found to be another; 0: not known yet */
	struct fx_anchor first, newest;
	struct fx_anchor older; /* the slope is taken from here to the newest */
	double slope;		/* ns a tick, as last measured; 0 before */
	bool jumped;		/* the newest anchor was not where the slope leads */
	struct fx_segment *segments;
	struct fx_segment few[4]; /* the first of them: for these there is always memory */
	size_t count, room;
	size_t current; /* the segment of the newest conversion */
};

/* The closest of several pairs of readings. */
struct fx_anchor fx_anchor_take(enum fx_clock_kind kind);

void fx_timebase_init(struct fx_timebase *ret, enum fx_clock_kind kind, struct fx_anchor first);
void fx_timebase_destroy(struct fx_timebase *tb);

/* Adds an anchor; `period_ns` is how long from now the next one is expected. 0 or -ENOMEM, never for the first;
 * anchors that are not later than the newest are ignored. */
int fx_timebase_add(struct fx_timebase *tb, struct fx_anchor anchor, uint64_t period_ns);

/* The whole map at one time, for times far apart; fx_timebase_ns() is for runs of close ones. */
uint64_t fx_timebase_ns_slow(struct fx_timebase *tb, uint64_t ticks);

/* ns of CLOCK_BOOTTIME. Needs two anchors, unless the clock is CLOCK_BOOTTIME itself. */
static inline uint64_t fx_timebase_ns(struct fx_timebase *tb, uint64_t ticks)
{
	const struct fx_segment *s;

	if (tb->kind == FX_CLOCK_BOOTTIME)
		return ticks;
	s = &tb->segments[tb->current];
	if (ticks < s->ticks || (tb->current + 1 < tb->count && ticks >= s[1].ticks))
		return fx_timebase_ns_slow(tb, ticks);
	return s->ns + (uint64_t)(((unsigned __int128)(ticks - s->ticks) * s->mult + s->part) >>
				  FX_TIMEBASE_SHIFT);
}

/* A span of time in ticks, rounded down. */
uint64_t fx_timebase_ticks(const struct fx_timebase *tb, uint64_t ns);

#endif
