/* SPDX-License-Identifier: MIT */
/* What can be said of many values. They are kept, 8 bytes each, so that percentiles are exact. */
#ifndef FX_MEASURE_STATISTICS_H
#define FX_MEASURE_STATISTICS_H

#include "lists/vector.h"
#include "measure/spec.h"

struct fx_values {
	FX_VECTOR(double) items;
	bool is_sorted;
};

/* Returns 0 or -ENOMEM. All zeros is an empty one. */
int fx_values_add(struct fx_values *values, double value);
void fx_values_free(struct fx_values *values);

/*
 * A percentile is the smallest value such that so many percent of the values are no larger. The deviation is that of a
 * sample. NAN: there are no values, or, of the deviation, only one; count and sum are 0 then.
 */
double fx_values_statistic(struct fx_values *values, enum fx_statistic statistic, double percent);

#endif
