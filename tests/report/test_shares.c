/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "report/shares.h"

static void add(struct fx_shares *shares, size_t object, uint32_t sharer, uint64_t time)
{
	cr_assert_eq(fx_shares_add(shares, object, sharer, time), 0);
}

Test(shares, nothing)
{
	struct fx_shares shares = {.keys.limit = 10};
	struct fx_share *sorted = fx_shares_sorted(&shares);
	const struct fx_share *at = sorted;

	cr_assert_eq(fx_shares_of(&at, 0), 0);
	cr_assert_eq(fx_shares_of(&at, 5), 0);
	free(sorted);
	fx_shares_free(&shares);
}

Test(shares, by_object_and_then_the_longest_first)
{
	struct fx_shares shares = {.keys.limit = 10};
	const struct fx_share *at;
	struct fx_share *sorted;

	add(&shares, 4, 71, 5);
	add(&shares, 1, 72, 10);
	add(&shares, 4, 73, 5);
	add(&shares, 4, 72, 3);
	add(&shares, 4, 72, 4);
	at = sorted = fx_shares_sorted(&shares);
	cr_assert_eq(fx_shares_of(&at, 0), 0);
	cr_assert_eq(fx_shares_of(&at, 1), 1);
	cr_assert(at[0].sharer == 72 && at[0].time == 10);
	cr_assert_eq(fx_shares_of(&at, 2), 0);
	cr_assert_eq(fx_shares_of(&at, 4), 3);
	cr_assert(at[0].sharer == 72 && at[0].time == 7);
	cr_assert(at[1].sharer == 71 && at[2].sharer == 73, "of equal ones the one that was first");
	cr_assert_eq(fx_shares_of(&at, 5), 0);
	free(sorted);
	fx_shares_free(&shares);
}

Test(shares, what_is_too_many_is_counted)
{
	struct fx_shares shares = {.keys.limit = 2};

	add(&shares, 0, 1, 5);
	add(&shares, 0, 2, 5);
	add(&shares, 0, 3, 5);
	add(&shares, 0, 1, 5);
	cr_assert_eq(shares.keys.beyond, 1);
	cr_assert_eq(shares.times.count, 2);
	cr_assert_eq(shares.times.items[0], 10);
	fx_shares_free(&shares);
}
