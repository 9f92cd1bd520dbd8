/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include "report/noise.h"

struct fx_sample fx_sample_of(const double *values, size_t count)
{
	struct fx_sample sample = {0, 0, 0};
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		double step = values[i] - sample.mean;

		if (isnan(values[i]))
			continue;
		sample.count++;
		sample.mean += step / (double)sample.count;
		squares += step * (values[i] - sample.mean);
	}
	if (sample.count > 1)
		sample.deviation = sqrt(squares / (double)(sample.count - 1));
	return sample;
}

/* Student's t, two-sided, 99 %: of the number of degrees of freedom in the table that is next below. */
static double noise_quantile(double freedom)
{
	static const struct {
		double freedom, t;
	} table[] = {{1, 63.657}, {2, 9.925},  {3, 5.841},  {4, 4.604},	 {5, 4.032},  {6, 3.707},
		     {7, 3.499},  {8, 3.355},  {9, 3.250},  {10, 3.169}, {12, 3.055}, {15, 2.947},
		     {20, 2.845}, {30, 2.750}, {60, 2.660}, {120, 2.617}};
	size_t i = sizeof(table) / sizeof(table[0]) - 1;

	while (i > 0 && table[i].freedom > freedom)
		i--;
	return table[i].t;
}

double fx_noise(const struct fx_sample *before, const struct fx_sample *after)
{
	double left = before->deviation * before->deviation;
	double right = after->deviation * after->deviation;
	double freedom, sum;

	if (before->count == 0 || after->count == 0 || before->count + after->count < 3)
		return NAN;
	if (before->count == 1)
		left = right;
	if (after->count == 1)
		right = left;
	left /= (double)before->count;
	right /= (double)after->count;
	sum = left + right;
	if (sum <= 0)
		return 0;
	if (before->count == 1 || after->count == 1)
		freedom = (double)(before->count + after->count - 2);
	else
		freedom = sum * sum /
			  (left * left / (double)(before->count - 1) +
			   right * right / (double)(after->count - 1));
	/* What rounding takes away from a whole number is none. */
	return noise_quantile(freedom + 1e-9) * sqrt(sum);
}
