/* SPDX-License-Identifier: MIT */
/* Measuring: one walk through an archive for all measurements of a spec. */
#ifndef FX_MEASURE_COLLECT_H
#define FX_MEASURE_COLLECT_H

#include "convert/timeline.h"
#include "measure/pairs.h"
#include "measure/spec.h"
#include "measure/statistics.h"
#include "report/filter.h"

/* What a measurement found. */
struct fx_measured {
	struct fx_values values;
	struct fx_pairs pairs;	/* of FX_MEASURE_BETWEEN */
	uint64_t matched;	/* events; of FX_MEASURE_BETWEEN, begins and ends */
	uint64_t unfinished;	/* of them, those whose duration nobody knows */
	uint64_t without_value; /* of them, those without the argument, or where it is no number */
};

struct fx_measurements {
	struct fx_measured *items; /* of each measurement of the spec */
	size_t count;
	uint64_t lost; /* records that the archive says are missing */
};

/*
 * Walks through the timeline (borrowed, and its events are gone then). The filter decides by the begin of an event;
 * nothing is cut. Returns 0 or -ENOMEM; to be freed in any case.
 */
int fx_measure(struct fx_timeline *timeline, const struct fx_spec *spec,
	       const struct fx_filter *filter, struct fx_measurements *ret);

void fx_measurements_free(struct fx_measurements *measurements);

#endif
