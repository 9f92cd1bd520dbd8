/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "report/spread.h"

static int compare_values(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

Test(spread, nothing)
{
	struct fx_spread spread = {0};

	cr_assert_eq(fx_spread_percentile(&spread, 0.5), 0);
	fx_spread_free(&spread);
}

Test(spread, equal_values_need_no_memory)
{
	struct fx_spread spread = {0};

	for (int i = 0; i < 1000; i++)
		fx_spread_add(&spread, 77);
	cr_assert_null(spread.buckets);
	cr_assert_eq(fx_spread_percentile(&spread, 0.99), 77);
	cr_assert_eq(spread.total, 77000);
	fx_spread_add(&spread, 1);
	cr_assert_not_null(spread.buckets);
	cr_assert_eq(fx_spread_percentile(&spread, 0.5), 77, "the first thousand are forgotten");
	fx_spread_free(&spread);
}

Test(spread, extremes)
{
	struct fx_spread spread = {0};

	fx_spread_add(&spread, 0);
	fx_spread_add(&spread, UINT64_MAX);
	cr_assert_eq(spread.min, 0);
	cr_assert_eq(spread.max, UINT64_MAX);
	cr_assert_eq(fx_spread_percentile(&spread, 0.5), 0);
	cr_assert_eq(fx_spread_percentile(&spread, 1), UINT64_MAX);
	fx_spread_free(&spread);
}

/* Whatever the values, an estimate is not below the true percentile, and at most 1/16 above. */
Test(spread, estimates_are_near)
{
	enum { COUNT = 5000 };
	static const double shares[] = {0.01, 0.25, 0.5, 0.9, 0.99, 1};
	static uint64_t values[COUNT];

	srand(1);
	for (int power = 0; power < 40; power += 3) {
		struct fx_spread spread = {0};

		for (size_t i = 0; i < COUNT; i++) {
			values[i] = (uint64_t)rand() >> (31 - power % 31);
			values[i] <<= power / 31 * 9;
			fx_spread_add(&spread, values[i]);
		}
		qsort(values, COUNT, sizeof(*values), compare_values);
		for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
			size_t rank = (size_t)(shares[i] * COUNT);
			uint64_t truth = values[rank > 0 ? rank - 1 : 0];
			uint64_t estimate = fx_spread_percentile(&spread, shares[i]);

			cr_assert_geq(estimate, truth, "2^%d, %g", power, shares[i]);
			cr_assert_leq(estimate, truth + truth / 16, "2^%d, %g", power, shares[i]);
		}
		fx_spread_free(&spread);
	}
}
