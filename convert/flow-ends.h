/* SPDX-License-Identifier: MIT */
/* Ends of flows, as slices have them, from which those who export arrows make them. */
#ifndef FX_CONVERT_FLOW_ENDS_H
#define FX_CONVERT_FLOW_ENDS_H

#include <stdint.h>

struct fx_flow_end {
	uint64_t chain;
	uint64_t ts;
	uint32_t role; /* enum fx_flow_role */
	uint64_t slice;
};

/* For qsort() of what begins with a struct fx_flow_end: along each chain, which is in order of time. */
int fx_flow_ends_compare(const void *left, const void *right);

#endif
