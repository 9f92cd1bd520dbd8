/* SPDX-License-Identifier: MIT */
/*
 * How long threads of traced processes have been in the calls that libfxtrace.so has recorded the begin of: read out of the buffers that
 * they have mapped, so no manager has to be asked.
 */
#ifndef FX_WHERE_AGES_H
#define FX_WHERE_AGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "where/thread.h"

/* The clocks at one moment, by which ticks become times. */
struct fx_ages_clock {
	uint64_t ticks, ns;
};

struct fx_ages_clock fx_ages_clock_now(void);

/* Sets age_ns of threads of one process; `began': a moment a while ago. */
void fx_ages_find(pid_t pid, const struct fx_ages_clock *began, struct fx_where_thread *threads,
		  size_t count);

#endif
