/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "report/convoys.h"

enum { OBJECTS = 3 };

static void add(struct fx_convoys *convoys, size_t object, uint64_t begin, uint64_t end)
{
	cr_assert_eq(fx_convoys_add(convoys, object, begin, end), 0);
}

static void expect(struct fx_convoys *convoys, uint32_t first, uint32_t second, uint32_t third)
{
	uint32_t most[OBJECTS] = {9, 9, 9};

	cr_assert_eq(fx_convoys_count(convoys, most, OBJECTS), 0);
	cr_assert_eq(most[0], first);
	cr_assert_eq(most[1], second);
	cr_assert_eq(most[2], third);
	fx_convoys_free(convoys);
}

Test(convoys, nothing)
{
	struct fx_convoys convoys = {0};

	expect(&convoys, 0, 0, 0);
}

Test(convoys, each_object_has_its_own)
{
	struct fx_convoys convoys = {0};

	add(&convoys, 2, 10, 40);
	add(&convoys, 0, 10, 20);
	add(&convoys, 2, 20, 30);
	add(&convoys, 2, 25, 50);
	add(&convoys, 0, 30, 40);
	expect(&convoys, 1, 0, 3);
}

Test(convoys, one_ends_before_another_begins_at_the_same_time)
{
	struct fx_convoys convoys = {0};

	add(&convoys, 1, 10, 20);
	add(&convoys, 1, 20, 30);
	add(&convoys, 1, 5, 5); /* takes no time */
	expect(&convoys, 0, 1, 0);
}

Test(convoys, of_too_many_the_longer_ones_are_kept)
{
	struct fx_convoys convoys = {0};

	for (uint64_t i = 0; i <= 1 << 19; i++)
		add(&convoys, 0, i * 10, i * 10 + 1);
	cr_assert(convoys.is_cut);
	add(&convoys, 1, 0, 1 << 30);
	for (uint64_t i = 0; i <= 1 << 19; i++)
		add(&convoys, 0, i * 10 + 5, i * 10 + 6);
	cr_assert_leq(convoys.waits.count, 1 << 19);
	add(&convoys, 1, 5, 6);
	expect(&convoys, 1, 2, 0);
}
