/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>

#include "report/charges.h"
#include "report/deeds.h"
#include "report/waiting.h"

enum { LOCK, OTHER };

static void wait_for(struct fx_charges *charges, uint32_t object, uint32_t thread, uint64_t begin,
		     uint64_t end, uint32_t holder, uint32_t from)
{
	struct fx_use use = {.begin = begin,
			     .end = end,
			     .thread = thread,
			     .holder = holder,
			     .deed = FX_DEED_TAKE,
			     .wait = FX_WAIT_LOCK,
			     .flags = FX_USE_TAKES};

	cr_assert_eq(fx_charges_add(charges, object, &use, from, true), 0);
}

/* What a thread waited for another one; 0 as that one: nobody knows. */
static uint64_t charged(struct fx_charges *charges, uint32_t object, uint32_t waiter, uint32_t whom)
{
	struct fx_key key = {.address = object, .numbers = {waiter, whom}};

	return fx_keys_has(&charges->keys, key)
		   ? charges->items.items[fx_keys_number(&charges->keys, key)].total
		   : 0;
}

static uint64_t all(const struct fx_charges *charges)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < charges->items.count; i++)
		sum += charges->items.items[i].total;
	return sum;
}

Test(charges, holders_one_after_the_other)
{
	struct fx_charges charges = {.to = UINT64_MAX};

	/* Thread 1 has it, then 2, then 3; their numbers as holders are one more. */
	wait_for(&charges, LOCK, 2, 10, 30, 2, 2);
	wait_for(&charges, LOCK, 3, 15, 50, 2, 3);
	wait_for(&charges, LOCK, 4, 40, 90, 3, 4);
	cr_assert_eq(fx_charges_finish(&charges), 0);
	cr_assert_eq(charged(&charges, LOCK, 2, 2), 20);
	cr_assert_eq(charged(&charges, LOCK, 3, 2), 15);
	cr_assert_eq(charged(&charges, LOCK, 3, 3), 20);
	cr_assert_eq(charged(&charges, LOCK, 4, 3), 10);
	cr_assert_eq(charged(&charges, LOCK, 4, 4), 40);
	cr_assert_eq(all(&charges), 20 + 35 + 50);
	fx_charges_free(&charges);
}

Test(charges, who_is_not_known_as_the_holder_is_told_by_the_arrow)
{
	struct fx_charges charges = {.to = UINT64_MAX};

	wait_for(&charges, LOCK, 2, 10, 30, 0, 6);
	wait_for(&charges, OTHER, 2, 40, 45, 0, 0);
	cr_assert_eq(fx_charges_finish(&charges), 0);
	cr_assert_eq(charged(&charges, LOCK, 2, 6), 20);
	cr_assert_eq(charged(&charges, OTHER, 2, 0), 5);
	fx_charges_free(&charges);
}

Test(charges, what_is_no_lock_is_the_arrows_alone)
{
	struct fx_charges charges = {.to = UINT64_MAX};
	struct fx_use use = {.begin = 5, .end = 9, .thread = 1, .wait = FX_WAIT_CONDITION};

	cr_assert_eq(fx_charges_add(&charges, LOCK, &use, 3, true), 0);
	cr_assert_eq(fx_charges_add(&charges, LOCK, &use, 3, true), 0);
	use.wait = FX_WAIT_NONE;
	cr_assert_eq(fx_charges_add(&charges, LOCK, &use, 3, false), 0);
	cr_assert_eq(fx_charges_finish(&charges), 0);
	cr_assert_eq(charged(&charges, LOCK, 1, 3), 8);
	cr_assert_eq(charges.items.items[0].count, 2);
	cr_assert_eq(charges.items.items[0].longest, 4);
	fx_charges_free(&charges);
}

Test(charges, a_wait_in_vain_takes_nothing)
{
	struct fx_charges charges = {.to = UINT64_MAX};
	struct fx_use use = {.begin = 10,
			     .end = 20,
			     .thread = 2,
			     .holder = 2,
			     .deed = FX_DEED_TAKE,
			     .wait = FX_WAIT_LOCK};

	cr_assert_eq(fx_charges_add(&charges, LOCK, &use, 0, true), 0);
	wait_for(&charges, LOCK, 3, 15, 60, 2, 2);
	cr_assert_eq(fx_charges_finish(&charges), 0);
	cr_assert_eq(charged(&charges, LOCK, 2, 2), 10);
	cr_assert_eq(charged(&charges, LOCK, 3, 2), 45);
	fx_charges_free(&charges);
}

/* A wait for a condition lets go of its mutex, and has it again in the end. */
Test(charges, a_condition_takes_its_mutex)
{
	struct fx_charges charges = {.to = UINT64_MAX};
	struct fx_use use = {
	    .begin = 5, .end = 20, .thread = 7, .deed = FX_DEED_WAIT, .flags = FX_USE_TAKES};

	cr_assert_eq(fx_charges_add(&charges, LOCK, &use, 0, false), 0);
	wait_for(&charges, LOCK, 2, 10, 50, 2, 8);
	cr_assert_eq(fx_charges_finish(&charges), 0);
	cr_assert_eq(charged(&charges, LOCK, 2, 2), 10);
	cr_assert_eq(charged(&charges, LOCK, 2, 8), 30);
	cr_assert_eq(all(&charges), 40);
	fx_charges_free(&charges);
}

Test(charges, a_range_cuts_what_is_charged)
{
	struct fx_charges charges = {.from = 20, .to = 40};

	wait_for(&charges, LOCK, 2, 10, 30, 2, 2);
	wait_for(&charges, LOCK, 3, 15, 50, 2, 3);
	wait_for(&charges, OTHER, 3, 5, 15, 2, 2);
	wait_for(&charges, OTHER, 4, 45, 55, 2, 2);
	cr_assert_eq(fx_charges_finish(&charges), 0);
	cr_assert_eq(charged(&charges, LOCK, 2, 2), 10);
	cr_assert_eq(charged(&charges, LOCK, 3, 2), 10);
	cr_assert_eq(charged(&charges, LOCK, 3, 3), 10);
	cr_assert_eq(all(&charges), 30);
	fx_charges_free(&charges);
}
