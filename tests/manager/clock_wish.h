/* SPDX-License-Identifier: MIT */
/* The clock that tests and the managers in them agree on: FX_CLOCK names it, as --clock would; else the counter. */
#ifndef FX_TESTS_CLOCK_WISH_H
#define FX_TESTS_CLOCK_WISH_H

#include <stdlib.h>
#include <string.h>

#include "manager/settings/clock.h"

static inline enum fx_clock_wish test_clock_wish(void)
{
	const char *name = getenv("FX_CLOCK");

	return name && strcmp(name, "boottime") == 0 ? FX_CLOCK_WISH_BOOTTIME
						     : FX_CLOCK_WISH_COUNTER;
}

static inline enum fx_clock_kind test_clock_kind(void)
{
	struct fx_clock_choice choice;

	fx_clock_choose(test_clock_wish(), &choice);
	return choice.kind;
}

#endif
