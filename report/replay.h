/* SPDX-License-Identifier: MIT */
/*
 * The calls of all threads in the order of time, as indented text: each thread's in the order of its call tree
 * (convert/arrange.h), merged by time.
 */
#ifndef FX_REPORT_REPLAY_H
#define FX_REPORT_REPLAY_H

#include <stdbool.h>
#include <stdio.h>

#include "convert/timeline.h"
#include "report/filter.h"

struct fx_replay_order {
	struct fx_filter filter;
	bool instants, counters; /* print these too */
	bool deltas;		 /* times since the line before */
	bool color;
	FILE *out;
};

/* Returns 1, 0 if there was nothing to print, or -errno; errors of writing stay in the file. */
int fx_replay(struct fx_timeline *timeline, const struct fx_replay_order *order);

/*
 * Prints the calls as they stand in an archive that is still written: in the order in which they ended, with the time
 * of the end, not indented. --from and --to do not count. Returns 0 or -errno: -EBADMSG if it is none.
 */
int fx_follow(struct fxt_reader *reader, const struct fx_replay_order *order);

#endif
