/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <math.h>

#include "report/noise.h"

static double noise_of(const double *before, size_t n, const double *after, size_t m)
{
	struct fx_sample left = fx_sample_of(before, n), right = fx_sample_of(after, m);

	return fx_noise(&left, &right);
}

Test(noise, samples)
{
	struct fx_sample sample = fx_sample_of((double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8);

	cr_assert_eq(sample.count, 8);
	cr_assert_float_eq(sample.mean, 5, 1e-12);
	cr_assert_float_eq(sample.deviation, sqrt(32.0 / 7), 1e-12);
	sample = fx_sample_of((double[]){NAN, 3, NAN}, 3);
	cr_assert_eq(sample.count, 1);
	cr_assert_float_eq(sample.mean, 3, 0);
	cr_assert_float_eq(sample.deviation, 0, 0);
	cr_assert_eq(fx_sample_of(NULL, 0).count, 0);
}

/* Welch's test by hand: the standard error of the difference, and t of the degrees of freedom for 99 %. */
Test(noise, of_two_series)
{
	const double low[] = {1, 2, 3}, high[] = {4, 5, 6}, wide[] = {0, 10, 20, 30};

	cr_assert_float_eq(noise_of(low, 3, high, 3), 4.604 * sqrt(2.0 / 3), 1e-9);
	/* 1/3 and 500/3/4 = 41.67: 42^2 / (1/18 + 41.67^2/3) = 3.05 degrees */
	cr_assert_float_eq(noise_of(low, 3, wide, 4), 5.841 * sqrt(1.0 / 3 + 500.0 / 12), 1e-9);
	cr_assert_float_eq(noise_of(wide, 4, low, 3), noise_of(low, 3, wide, 4), 1e-12);
}

Test(noise, of_a_single_value)
{
	const double low[] = {1, 2, 3}, one[] = {9};

	cr_assert(isnan(noise_of(one, 1, one, 1)));
	cr_assert(isnan(noise_of(low, 3, one, 0)));
	cr_assert_float_eq(noise_of(low, 3, one, 1), 9.925 * sqrt(1 + 1.0 / 3), 1e-9);
	cr_assert_float_eq(noise_of(one, 1, low, 3), 9.925 * sqrt(1 + 1.0 / 3), 1e-9);
}

Test(noise, of_what_is_always_the_same)
{
	const double five[] = {5, 5}, six[] = {6, 6};

	cr_assert_float_eq(noise_of(five, 2, six, 2), 0, 0);
}
