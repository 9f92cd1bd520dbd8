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
/* The number of the bucket of a value; and that many values of one bucket, of a spread whose count, min and max are set. */
unsigned fx_spread_bucket(uint64_t value);
void fx_spread_put(struct fx_spread *spread, unsigned bucket, uint64_t count);
void fx_spread_free(struct fx_spread *spread);

/* The value below which `share' (0 to 1) of the values lie. 0 of an empty one. */
uint64_t fx_spread_percentile(const struct fx_spread *spread, double share);

#endif
