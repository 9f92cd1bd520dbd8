/* SPDX-License-Identifier: MIT */
/* The first way through an archive: what stands where, as the timeline keeps it. */
#ifndef FX_CONVERT_INDEXER_H
#define FX_CONVERT_INDEXER_H

#include "convert/timeline.h"

/* Fills an empty timeline from its source. Returns 0 or -errno, as fx_timeline_open() does. */
int fx_timeline_index(struct fx_timeline *timeline, fx_progress *progress, void *opaque);

#endif
