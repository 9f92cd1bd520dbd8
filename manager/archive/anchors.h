/* SPDX-License-Identifier: MIT */
/*
 * The anchors of a session's timebase: both clocks are read in growing distances, and what that shows of them is
 * remembered. With each anchor the archive gets a clock record. They belong to its writer's thread.
 */
#ifndef FX_MANAGER_ANCHORS_H
#define FX_MANAGER_ANCHORS_H

#include <stdint.h>

#include "manager/archive/archive.h"
#include "manager/archive/clocks.h"
#include "manager/settings/timebase.h"

/* What an anchor has shown of the clocks. */
struct fx_clock_finding {
	enum fx_timebase_finding what;
	int64_t by;
	uint64_t ns;
	uint32_t count; /* of the findings so far; this is the newest */
};

struct fx_anchors {
	struct fx_timebase *timebase; /* borrowed, */
	struct fx_archive *archive;   /* as this is */
	struct fx_clocks clocks;
	struct fx_clock_finding newest;
	uint64_t next;	 /* CLOCK_BOOTTIME ns; when the next one is taken */
	uint64_t period; /* ns, to the one behind that */
};

void fx_anchors_init(struct fx_anchors *anchors, struct fx_timebase *timebase,
		     struct fx_archive *archive);

/* Waits until the slope of the clocks can be known, and takes the anchor that says it. */
void fx_anchors_begin(struct fx_anchors *anchors);

/* Takes the next anchor if it is time to. */
void fx_anchors_continue(struct fx_anchors *anchors);

#endif
