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

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum fx_clock_kind {
	FX_CLOCK_BOOTTIME = 0, /* CLOCK_BOOTTIME, through the vDSO */
	FX_CLOCK_COUNTER = 1,  /* TSC on x86-64, CNTVCT_EL0 on aarch64 */
};

/*
 * The kernel's clocks, by its vDSO or a raw system call. Not by clock_gettime(): that a program may have of its own, or
 * a library may stand before it (libfaketime); its times are not the machine's, and it may call what is recorded.
 * 0 or -errno, with no time then. The first reading finds out how, unless fx_clock_init() has been told.
 */
typedef int fx_clock_function(clockid_t clock, struct timespec *ret);
extern fx_clock_function *fx_clock_read __attribute__((visibility("hidden")));

/* Finds out how to read the clocks: `image` is where the vDSO lies (AT_SYSINFO_EHDR), NULL if there is none. */
void fx_clock_init(const void *image);

/* Whether they are read without a system call, as far as can be known. */
bool fx_clock_has_vdso(void);

static inline uint64_t fx_clock_ns(clockid_t clock)
{
	struct timespec ts = {0};

	/* relaxed: any other thread finds the same */
	fx_load_relaxed (&fx_clock_read)(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t fx_boottime_ns(void)
{
	return fx_clock_ns(CLOCK_BOOTTIME);
}

/* For deadlines: does not run while the machine sleeps. */
static inline uint64_t fx_monotonic_ns(void)
{
	return fx_clock_ns(CLOCK_MONOTONIC);
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
