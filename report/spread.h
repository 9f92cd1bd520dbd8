/* SPDX-License-Identifier: MIT */
/*
 * How values are spread: count, total, smallest, largest, and percentiles as estimates that are at most 1/16 too high.
 * 40 bytes, and 4 KiB more once two values differ.
 */
#ifndef FX_REPORT_SPREAD_H
#define FX_REPORT_SPREAD_H

#include <stdint.h>

struct fx_spread {
	uint64_t count, total, min, max;
	uint32_t *buckets; /* NULL: all values are equal, or there is no memory for more */
};

/* All zeros is an empty one. */
void fx_spread_add(struct fx_spread *spread, uint64_t value);
/* The number of the bucket of a value. */
unsigned fx_spread_bucket(uint64_t value);
/* A spread of times as a server's rows have them: fields of a question (ask.h), and what they answer. */
#define FX_SPREAD_SELECT                                                                           \
	"count(), sum(time_ns), min(time_ns), max(time_ns), sumMap([bucket], [toUInt64(1)])"
#define FX_SPREAD_FIELDS 5
void fx_spread_take(struct fx_spread *spread, char **fields);

void fx_spread_free(struct fx_spread *spread);

/* The value below which `share' (0 to 1) of the values lie. 0 of an empty one. */
uint64_t fx_spread_percentile(const struct fx_spread *spread, double share);

#endif
