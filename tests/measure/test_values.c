/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <math.h>

#include "measure/pairs.h"
#include "measure/statistics.h"

static struct fx_values values_of(const double *items, size_t count)
{
	struct fx_values values = {0};

	for (size_t i = 0; i < count; i++)
		cr_assert_eq(fx_values_add(&values, items[i]), 0);
	return values;
}

Test(values, statistics)
{
	struct fx_values values = values_of((double[]){9, 2, 4, 5, 4, 5, 4, 7}, 8);

	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_COUNT, 0), 8, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_SUM, 0), 40, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_MIN, 0), 2, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_MEAN, 0), 5, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_MEDIAN, 0), 4, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_MAX, 0), 9, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_DEVIATION, 0), sqrt(32.0 / 7),
			   1e-12);
	/* What comes later counts, too. */
	cr_assert_eq(fx_values_add(&values, 1), 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_MIN, 0), 1, 0);
	fx_values_free(&values);
}

Test(values, percentiles_are_values)
{
	struct fx_values values = {0};

	for (int i = 1000; i >= 1; i--)
		cr_assert_eq(fx_values_add(&values, i), 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 50), 500, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 99), 990, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 99.9), 999, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 99.91), 1000, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 100), 1000, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 0.001), 1, 0);
	fx_values_free(&values);
}

Test(values, of_nothing_and_of_one)
{
	struct fx_values values = {0};

	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_COUNT, 0), 0, 0);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_SUM, 0), 0, 0);
	cr_assert(isnan(fx_values_statistic(&values, FX_STATISTIC_MAX, 0)));
	cr_assert(isnan(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 99)));
	cr_assert_eq(fx_values_add(&values, 3), 0);
	cr_assert(isnan(fx_values_statistic(&values, FX_STATISTIC_DEVIATION, 0)));
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_PERCENTILE, 1), 3, 0);
	fx_values_free(&values);
}

struct expected_pairs {
	size_t count;
	double sum;
	uint64_t begins_left, ends_left;
};

static void expect_pairs(const struct fx_moment *moments, size_t count, struct expected_pairs want)
{
	struct fx_pairs pairs = {0};
	struct fx_values values = {0};

	for (size_t i = 0; i < count; i++) {
		char key = (char)('a' + moments[i].key);

		cr_assert_eq(fx_pairs_add(&pairs, moments[i].ts,
					  (enum fx_moment_role)moments[i].role, &key,
					  moments[i].key ? 1 : 0),
			     0);
	}
	cr_assert_eq(fx_pairs_finish(&pairs, &values), 0);
	cr_assert_eq(values.items.count, want.count);
	cr_assert_float_eq(fx_values_statistic(&values, FX_STATISTIC_SUM, 0), want.sum, 0);
	cr_assert_eq(pairs.begins_left, want.begins_left);
	cr_assert_eq(pairs.ends_left, want.ends_left);
	fx_pairs_free(&pairs);
	fx_values_free(&values);
}

#define PAIRS(...)                                                                                 \
	((const struct fx_moment[]){__VA_ARGS__}),                                                 \
	    sizeof((const struct fx_moment[]){__VA_ARGS__}) / sizeof(struct fx_moment)

#define B FX_MOMENT_BEGIN
#define E FX_MOMENT_END
#define X FX_MOMENT_BOTH

/* Whatever the order in which they are seen. */
Test(pairs, first_in_first_out)
{
	expect_pairs(PAIRS({30, 0, E}, {10, 0, B}), (struct expected_pairs){1, 20, 0, 0});
	expect_pairs(PAIRS({10, 0, B}, {20, 0, B}, {35, 0, E}, {36, 0, E}),
		     (struct expected_pairs){2, 41, 0, 0});
	expect_pairs(PAIRS({10, 0, B}, {20, 0, B}, {35, 0, E}),
		     (struct expected_pairs){1, 25, 1, 0});
	expect_pairs(PAIRS({5, 0, E}, {10, 0, B}, {12, 0, E}, {13, 0, E}),
		     (struct expected_pairs){1, 2, 0, 2});
	expect_pairs(PAIRS({10, 0, E}, {10, 0, B}), (struct expected_pairs){1, 0, 0, 0});
}

Test(pairs, keys_are_told_apart)
{
	expect_pairs(PAIRS({10, 1, B}, {20, 2, B}, {21, 2, E}, {50, 1, E}, {51, 3, E}, {60, 3, B}),
		     (struct expected_pairs){2, 41, 1, 1});
}

/* From an event to the next one of the same kind. */
Test(pairs, intervals)
{
	expect_pairs(PAIRS({10, 0, X}, {15, 0, X}, {40, 0, X}),
		     (struct expected_pairs){2, 30, 0, 0});
	expect_pairs(PAIRS({10, 0, X}), (struct expected_pairs){0, 0, 0, 0});
}
