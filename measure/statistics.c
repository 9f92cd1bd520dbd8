/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "measure/statistics.h"

int fx_values_add(struct fx_values *values, double value)
{
	if (fx_vector_reserve(&values->items, 1) < 0)
		return -ENOMEM;
	values->items.items[values->items.count++] = value;
	values->is_sorted = false;
	return 0;
}

void fx_values_free(struct fx_values *values)
{
	fx_vector_free(&values->items);
}

static int values_compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double values_percentile(struct fx_values *values, double percent)
{
	size_t count = values->items.count;
	/* 99.9 % of 1,000 are 999, not a little more. */
	double rank = ceil(percent / 100 * (double)count - 1e-9);

	if (!values->is_sorted)
		qsort(values->items.items, count, sizeof(double), values_compare);
	values->is_sorted = true;
	return values->items.items[rank >= 1 ? (size_t)rank - 1 : 0];
}

static double values_sum(const struct fx_values *values)
{
	long double sum = 0;

	for (size_t i = 0; i < values->items.count; i++)
		sum += values->items.items[i];
	return (double)sum;
}

static double values_deviation(const struct fx_values *values, double mean)
{
	long double squares = 0;

	if (values->items.count < 2)
		return NAN;
	for (size_t i = 0; i < values->items.count; i++) {
		long double off = values->items.items[i] - mean;

		squares += off * off;
	}
	return (double)sqrtl(squares / (long double)(values->items.count - 1));
}

double fx_values_statistic(struct fx_values *values, enum fx_statistic statistic, double percent)
{
	double count = (double)values->items.count;

	if (statistic == FX_STATISTIC_COUNT)
		return count;
	if (statistic == FX_STATISTIC_SUM)
		return values_sum(values);
	if (count == 0)
		return NAN;
	switch (statistic) {
	case FX_STATISTIC_MIN:
		return values_percentile(values, 0);
	case FX_STATISTIC_MEAN:
		return values_sum(values) / count;
	case FX_STATISTIC_DEVIATION:
		return values_deviation(values, values_sum(values) / count);
	case FX_STATISTIC_MEDIAN:
		return values_percentile(values, 50);
	case FX_STATISTIC_MAX:
		return values_percentile(values, 100);
	default:
		return values_percentile(values, percent);
	}
}
