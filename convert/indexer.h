/* SPDX-License-Identifier: MIT */
/* The first way through an archive: what stands where, as the timeline keeps it. */
#ifndef FX_CONVERT_INDEXER_H
#define FX_CONVERT_INDEXER_H

#include "convert/timeline.h"

/*
 * Reads an archive, plain or compressed, from a descriptor (borrowed). Faults inside it are no
 * error: they stand in @fault and @fault_count, and the timeline has all that was whole. Returns
 * 0 or -errno: -EBADMSG if this is no trace (see @fault), -EOVERFLOW if it is too large, -ENOMEM,
 * or what read(2) said. With an error, too, the timeline must be closed.
 */
int fx_timeline_open(struct fx_timeline *timeline, int fd, fx_progress *progress, void *opaque);

/* One without events. Returns 0 or -ENOMEM. */
int fx_timeline_open_empty(struct fx_timeline *timeline);

#endif
