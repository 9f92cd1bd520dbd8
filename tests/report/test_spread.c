/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <stdio.h>
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

/* What a server counts by bucket makes the same spread. */
Test(spread, of_a_server)
{
	struct fx_spread walked = {0}, asked = {0};
	char buckets[4096], count[32], total[32], min[32], max[32];
	char *fields[FX_SPREAD_FIELDS] = {count, total, min, max, buckets};
	size_t used = (size_t)snprintf(buckets, sizeof(buckets), "([");

	for (uint64_t i = 0; i < 40; i++)
		fx_spread_add(&walked, i * i * 17);
	for (uint64_t i = 0; i < 40; i++)
		used += (size_t)snprintf(buckets + used, sizeof(buckets) - used, "%s%u",
					 i ? "," : "", fx_spread_bucket(i * i * 17));
	used += (size_t)snprintf(buckets + used, sizeof(buckets) - used, "],[");
	for (int i = 0; i < 40; i++)
		used +=
		    (size_t)snprintf(buckets + used, sizeof(buckets) - used, "%s1", i ? "," : "");
	snprintf(buckets + used, sizeof(buckets) - used, "])");
	snprintf(count, sizeof(count), "%llu", (unsigned long long)walked.count);
	snprintf(total, sizeof(total), "%llu", (unsigned long long)walked.total);
	snprintf(min, sizeof(min), "%llu", (unsigned long long)walked.min);
	snprintf(max, sizeof(max), "%llu", (unsigned long long)walked.max);
	fx_spread_take(&asked, fields);
	cr_assert_eq(asked.count, 40);
	cr_assert_eq(asked.total, walked.total);
	for (int i = 1; i <= 10; i++)
		cr_assert_eq(fx_spread_percentile(&asked, i / 10.0),
			     fx_spread_percentile(&walked, i / 10.0), "at %d/10", i);
	fx_spread_free(&walked);
	fx_spread_free(&asked);
}

/* Whatever a server says, no memory that is not there is touched. */
Test(spread, of_a_server_that_talks_nonsense)
{
	static const char *const texts[] = {
	    "", "(", "([],[])", "([1,2],[3", "([99999999],[1])", "([1", "][", "([1,,],[,1])"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct fx_spread spread = {0};
		char one[] = "1", two[] = "2", text[64];
		char *fields[FX_SPREAD_FIELDS] = {two, two, one, two, text};

		snprintf(text, sizeof(text), "%s", texts[i]);
		fx_spread_take(&spread, fields);
		cr_assert_leq(fx_spread_percentile(&spread, 0.5), 2);
		fx_spread_free(&spread);
	}
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
