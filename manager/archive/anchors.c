/* SPDX-License-Identifier: MIT */
#include "manager/archive/anchors.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "manager/settings/report.h"

/* The first conversion waits until the slope of the clocks is known over this long. */
#define FIRST_SLOPE_NS UINT64_C(2000000)

/* Anchors are taken in growing distances, up to this one. */
#define ANCHOR_PERIOD_MAX_NS UINT64_C(2000000000)

/* What each process is shown of it: see inlet_mark_clock() of the writer. */
static void finding_take(struct fx_anchors *anchors, uint64_t ns)
{
	const struct fx_timebase *tb = anchors->timebase;

	if (tb->found == FX_TIMEBASE_AS_BEFORE)
		return;
	anchors->newest.what = tb->found;
	anchors->newest.by = tb->found_by;
	anchors->newest.ns = ns;
	anchors->newest.count++;
	if (tb->found == FX_TIMEBASE_DRIFT)
		fx_report("the processor's counter runs at another rate than before (by %" PRId64
			  " millionths); --clock=boottime has the kernel's times",
			  tb->found_by);
}

static void anchor_add(struct fx_anchors *anchors)
{
	struct fx_anchor anchor = fx_anchor_take(anchors->timebase->kind);

	anchors->period *= 4;
	if (anchors->period > ANCHOR_PERIOD_MAX_NS)
		anchors->period = ANCHOR_PERIOD_MAX_NS;
	anchors->next = anchor.ns + anchors->period;
	/* Without memory the map goes on with the slope that it has. */
	fx_timebase_add(anchors->timebase, anchor, anchors->period);
	finding_take(anchors, anchor.ns);
	fx_clocks_read(&anchors->clocks, anchors->archive);
}

void fx_anchors_init(struct fx_anchors *anchors, struct fx_timebase *timebase,
		     struct fx_archive *archive)
{
	*anchors = (struct fx_anchors){.timebase = timebase, .archive = archive};
	fx_clocks_init(&anchors->clocks);
}

void fx_anchors_begin(struct fx_anchors *anchors)
{
	uint64_t passed = fx_boottime_ns() - anchors->timebase->first.ns;

	if (anchors->timebase->kind == FX_CLOCK_COUNTER && passed < FIRST_SLOPE_NS) {
		struct timespec rest = {.tv_nsec = (long)(FIRST_SLOPE_NS - passed)};

		while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
			;
	}
	anchors->period = FIRST_SLOPE_NS;
	anchor_add(anchors);
}

void fx_anchors_continue(struct fx_anchors *anchors)
{
	if (fx_boottime_ns() >= anchors->next)
		anchor_add(anchors);
}
