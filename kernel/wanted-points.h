/* SPDX-License-Identifier: MIT */
/* All tracepoints of a run: those that sets of our own have, and those that the user names, each once. */
#ifndef FX_KERNEL_WANTED_POINTS_H
#define FX_KERNEL_WANTED_POINTS_H

#include <stdbool.h>

#include "kernel/points.h"
#include "kernel/tracepoint.h"
#include "kernel/wish.h"
#include "protocol/kernel-ready.h"

struct fx_wanted_points {
	struct fx_tracepoints tracepoints;
	struct fx_points named;
	struct fx_kernel_point list[FX_TRACEPOINT_COUNT + FX_POINTS_MAX];
	unsigned count;
	uint32_t followed; /* bits by enum fx_tracepoint: programs tell what is known of it */
	char unknown
	    [FX_KERNEL_WORD_MAX]; /* a word of the user's that means none; "": there is none */
	bool is_cut;		  /* the user names more than can be had */
};

/* Those of `sets' (enum fx_kernel_set), as far as there are any, and those that the list of categories names; `machine': switches
 * and what is named are of interest in all threads. */
void fx_wanted_points_find(uint32_t sets, const char *list, bool machine,
			   struct fx_wanted_points *ret);

/* Those that programs tell of are not asked for, but for those of all threads. */
void fx_wanted_points_follow(struct fx_wanted_points *points, struct fx_follow *follow,
			     bool everyone);

void fx_wanted_points_free(struct fx_wanted_points *points);

#endif
