/* SPDX-License-Identifier: MIT */
/* Whether two series of measurements differ by more than chance. */
#ifndef FX_REPORT_NOISE_H
#define FX_REPORT_NOISE_H

#include <stddef.h>

struct fx_sample {
	size_t count;
	double mean;
	double deviation; /* standard deviation, estimated from the sample; 0 of a single value */
};

/* Values that are no numbers do not count. */
struct fx_sample fx_sample_of(const double *values, size_t count);

/*
 * By how much two means may differ by chance: half the width of the interval that has the true difference in 99 of 100
 * cases, by Welch's t-test; where one side is a single value, it is taken to scatter as the other side does. NaN: both
 * are single values, or one is none at all.
 */
double fx_noise(const struct fx_sample *before, const struct fx_sample *after);

#endif
