/* SPDX-License-Identifier: MIT */
#include "manager/door/pace.h"

/* The part of a half that should fill between two looks. */
#define PART_WANTED 0.25

void fx_pace_init(struct fx_pace *pace, uint64_t now)
{
	pace->period = FX_PACE_MIN_NS;
	pace->last = now;
	pace->next = now + pace->period;
}

void fx_pace_next(struct fx_pace *pace, uint64_t now, double part, bool rang)
{
	double passed = (double)(now - pace->last);
	double wanted = part > 0 ? passed * PART_WANTED / part : (double)FX_PACE_MAX_NS;

	/* Slower step by step, faster at once. */
	if (wanted > 2.0 * (double)pace->period)
		wanted = 2.0 * (double)pace->period;
	if (rang)
		wanted = (double)pace->period / 2;
	if (wanted < (double)FX_PACE_MIN_NS)
		wanted = (double)FX_PACE_MIN_NS;
	if (wanted > (double)FX_PACE_MAX_NS)
		wanted = (double)FX_PACE_MAX_NS;
	pace->period = (uint64_t)wanted;
	pace->last = now;
	pace->next = now + pace->period;
}
