/* SPDX-License-Identifier: MIT */
/* Turns of many: they come in order of time, and of numbers where times are equal, as a search through all would find them. */
#include <stdint.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "archives/turns.h"

enum { MANY = 300, STEPS = 40 };

static size_t earliest(const uint64_t *times, const unsigned *left)
{
	size_t found = MANY;

	for (size_t i = 0; i < MANY; i++) {
		if (left[i] > 0 && (found == MANY || times[i] < times[found]))
			found = i;
	}
	return found;
}

Test(turns, are_in_order)
{
	struct fx_turns turns = {0};
	uint64_t times[MANY];
	unsigned left[MANY];
	size_t taken = 0;

	cr_assert_null(fx_turns_first(&turns));
	srand(1);
	for (size_t i = 0; i < MANY; i++) {
		times[i] = (uint64_t)(rand() % 50);
		left[i] = 1 + (unsigned)rand() % STEPS;
		cr_assert_eq(fx_turns_add(&turns, i, times[i]), 0);
	}
	for (const struct fx_turn *turn; (turn = fx_turns_first(&turns)); taken++) {
		size_t at = earliest(times, left);

		cr_assert_eq(turn->number, at);
		cr_assert_eq(turn->time, times[at]);
		times[at] += (uint64_t)(rand() % 5);
		if (--left[at] > 0)
			fx_turns_next(&turns, times[at]);
		else
			fx_turns_over(&turns);
	}
	cr_assert_eq(earliest(times, left), MANY);
	cr_assert_gt(taken, MANY);
	fx_turns_release(&turns);
}
