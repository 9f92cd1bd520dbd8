/* SPDX-License-Identifier: MIT */
/*
 * The counter that time stamps are taken from.
 *
 * A provider writes raw ticks; the manager converts them to nanoseconds of CLOCK_BOOTTIME. Where
 * the kernel itself trusts the time stamp counter (its clock source is "tsc"), a reading is one
 * instruction. Everywhere else a reading is CLOCK_BOOTTIME in ns, and ticks are nanoseconds.
 */
#ifndef FX_BASE_CLOCK_H
#define FX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

enum fx_clock_kind {
	FX_CLOCK_BOOTTIME = 0, /* clock_gettime(CLOCK_BOOTTIME), through the vDSO */
	FX_CLOCK_COUNTER = 1,  /* TSC on x86-64, CNTVCT_EL0 on aarch64 */
};

static inline uint64_t fx_boottime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* For deadlines: does not run while the machine sleeps. */
static inline uint64_t fx_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The bare counter. Not ordered with other instructions: an ordered reading costs twice as much,
 * and what it would change is below the duration of the reading itself. */
fx_hot uint64_t fx_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

fx_hot uint64_t fx_ticks(enum fx_clock_kind kind)
{
	if (fx_likely(kind == FX_CLOCK_COUNTER))
		return fx_counter();
	return fx_boottime_ns();
}

#endif
