/* SPDX-License-Identifier: MIT */
/*
 * Which clock a manager's providers read (base/clock.h), and why.
 *
 *	asked for	the kernel's clock source	chosen
 *	auto		tsc; any on aarch64		the counter
 *	auto		another one			the counter if it is sound (manager/settings/counter.h), else CLOCK_BOOTTIME
 *	counter		any				the counter
 *	boottime	any				CLOCK_BOOTTIME
 */
#ifndef FX_MANAGER_CLOCK_H
#define FX_MANAGER_CLOCK_H

#include <stddef.h>

#include "base/clock.h"

/* What --clock says. */
enum fx_clock_wish { FX_CLOCK_WISH_AUTO, FX_CLOCK_WISH_COUNTER, FX_CLOCK_WISH_BOOTTIME };

struct fx_clock_choice {
	enum fx_clock_kind kind;
	char text[120]; /* "the processor's counter: WHY", or "CLOCK_BOOTTIME: WHY" */
};

void fx_clock_choose(enum fx_clock_wish wish, struct fx_clock_choice *ret);

#endif
