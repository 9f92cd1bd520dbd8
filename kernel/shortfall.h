/* SPDX-License-Identifier: MIT */
/* What programs of BPF may not have seen. */
#ifndef FX_KERNEL_SHORTFALL_H
#define FX_KERNEL_SHORTFALL_H

#include <stdint.h>

struct fx_follow;

/* What of it stands in the trace. */
struct fx_shortfall {
	uint64_t missed, unfollowed;
	uint64_t next_ns; /* not before (CLOCK_MONOTONIC) */
};

/* Now and then while tracing runs: what has come to it since stands in the trace. `follow' NULL: nothing. */
void fx_shortfall_look(struct fx_shortfall *told, const struct fx_follow *follow);

/* At the end: the rest, if tracing still runs; and all of it on standard error. */
void fx_shortfall_tell(struct fx_shortfall *told, const struct fx_follow *follow);

#endif
