/* SPDX-License-Identifier: MIT */
/*
 * When to look at the buffers next: often while they fill fast, rarely while nothing happens. The
 * doorbell helps out when a burst comes in between.
 */
#ifndef FX_MANAGER_PACE_H
#define FX_MANAGER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define FX_PACE_MIN_NS UINT64_C(1000000)
#define FX_PACE_MAX_NS UINT64_C(50000000)

struct fx_pace {
	uint64_t period; /* ns */
	uint64_t last;	 /* CLOCK_MONOTONIC ns of the newest look */
	uint64_t next;	 /* when to look next */
};

void fx_pace_init(struct fx_pace *pace, uint64_t now);

/* After a look at `now` that found at most `part` of a half newly filled; `rang`: a half was full
 * before it was looked at. */
void fx_pace_next(struct fx_pace *pace, uint64_t now, double part, bool rang);

#endif
