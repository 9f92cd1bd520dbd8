/* SPDX-License-Identifier: MIT */
/* How often the manager looks at buffers: as fast as they fill, and slower only step by step. */
#include <criterion/criterion.h>

#include "manager/door/pace.h"

/* The part of a half that fills in the time between two looks is what was wanted. */
#define AS_WANTED 0.25

/* A look at the time that was planned; returns the new period. */
static uint64_t look(struct fx_pace *pace, double part, bool rang)
{
	fx_pace_next(pace, pace->next, part, rang);
	cr_assert_eq(pace->next, pace->last + pace->period);
	return pace->period;
}

Test(pace, idle_buffers_are_looked_at_less_and_less)
{
	struct fx_pace pace;
	uint64_t wanted = FX_PACE_MIN_NS;

	fx_pace_init(&pace, 1000);
	cr_assert_eq(pace.period, FX_PACE_MIN_NS);
	while (wanted < FX_PACE_MAX_NS) {
		wanted = 2 * wanted < FX_PACE_MAX_NS ? 2 * wanted : FX_PACE_MAX_NS;
		cr_assert_eq(look(&pace, 0, false), wanted);
	}
	cr_assert_eq(look(&pace, 0, false), FX_PACE_MAX_NS);
}

Test(pace, a_steady_stream_keeps_its_pace)
{
	struct fx_pace pace;
	uint64_t period;

	fx_pace_init(&pace, 0);
	for (int i = 0; i < 3; i++)
		look(&pace, 0, false);
	period = pace.period;
	cr_assert_eq(look(&pace, AS_WANTED, false), period);
	cr_assert_eq(look(&pace, AS_WANTED, false), period);
}

Test(pace, a_burst_is_followed_at_once)
{
	struct fx_pace pace;

	fx_pace_init(&pace, 0);
	for (int i = 0; i < 20; i++)
		look(&pace, 0, false);
	cr_assert_eq(pace.period, FX_PACE_MAX_NS);
	cr_assert_eq(look(&pace, 4 * AS_WANTED, false), FX_PACE_MAX_NS / 4);
	cr_assert_eq(look(&pace, 1e9, false), FX_PACE_MIN_NS);
}

Test(pace, the_doorbell_halves_the_period)
{
	struct fx_pace pace;

	fx_pace_init(&pace, 0);
	for (int i = 0; i < 20; i++)
		look(&pace, 0, false);
	cr_assert_eq(look(&pace, 0, true), FX_PACE_MAX_NS / 2);
}
