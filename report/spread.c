/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/spread.h"

/*
 * Values below 32 have a bucket each. Above, each power of two is cut into 16 buckets of one width:
 *
 *     32 34 36 … 62 | 64 68 72 … 124 | 128 136 …
 */
enum {
	LINEAR = 32,
	PARTS_LOG = 4,
	PARTS = 1 << PARTS_LOG,
	FIRST_POWER = 5, /* 2^5 is 32 */
	BUCKETS = LINEAR + (64 - FIRST_POWER) * PARTS,
};

unsigned fx_spread_bucket(uint64_t value)
{
	unsigned power;

	if (value < LINEAR)
		return (unsigned)value;
	power = 63 - (unsigned)__builtin_clzll(value);
	return LINEAR + (power - FIRST_POWER) * PARTS +
	       (unsigned)((value >> (power - PARTS_LOG)) & (PARTS - 1));
}

/* The largest value of a bucket. */
static uint64_t spread_bucket_end(unsigned bucket)
{
	unsigned power, part;

	if (bucket < LINEAR)
		return bucket;
	power = FIRST_POWER + (bucket - LINEAR) / PARTS;
	part = (bucket - LINEAR) % PARTS;
	return ((uint64_t)1 << power) + ((uint64_t)(part + 1) << (power - PARTS_LOG)) - 1;
}

static void spread_count(uint32_t *bucket, uint64_t count)
{
	*bucket = count < UINT32_MAX - *bucket ? *bucket + (uint32_t)count : UINT32_MAX;
}

void fx_spread_add(struct fx_spread *spread, uint64_t value)
{
	if (!spread->buckets && spread->count > 0 && value != spread->min) {
		spread->buckets = calloc(BUCKETS, sizeof(*spread->buckets));
		if (spread->buckets)
			spread_count(&spread->buckets[fx_spread_bucket(spread->min)],
				     spread->count);
	}
	if (spread->buckets)
		spread_count(&spread->buckets[fx_spread_bucket(value)], 1);
	if (spread->count == 0 || value < spread->min)
		spread->min = value;
	if (value > spread->max)
		spread->max = value;
	spread->count++;
	spread->total += value;
}

/* "([bucket,...],[count,...])" */
static void spread_take_buckets(struct fx_spread *spread, const char *text)
{
	const char *counts = strchr(text, ']');

	if (spread->min == spread->max || !counts)
		return;
	spread->buckets = calloc(BUCKETS, sizeof(*spread->buckets));
	text += strspn(text, "([");
	counts += strspn(counts, "],[");
	while (spread->buckets && *text >= '0' && *text <= '9') {
		char *text_end, *counts_end;
		unsigned long bucket = strtoul(text, &text_end, 10);
		uint64_t count = strtoull(counts, &counts_end, 10);

		if (bucket < BUCKETS)
			spread_count(&spread->buckets[bucket], count);
		text = text_end + (*text_end == ',');
		counts = counts_end + (*counts_end == ',');
	}
}

void fx_spread_take(struct fx_spread *spread, char **fields)
{
	fx_spread_free(spread);
	spread->count = strtoull(fields[0], NULL, 10);
	spread->total = strtoull(fields[1], NULL, 10);
	spread->min = strtoull(fields[2], NULL, 10);
	spread->max = strtoull(fields[3], NULL, 10);
	spread_take_buckets(spread, fields[4]);
}

void fx_spread_free(struct fx_spread *spread)
{
	free(spread->buckets);
	spread->buckets = NULL;
}

uint64_t fx_spread_percentile(const struct fx_spread *spread, double share)
{
	double wanted = share * (double)spread->count, seen = 0;

	if (!spread->buckets)
		return spread->max;
	for (unsigned i = 0; i < BUCKETS; i++) {
		uint64_t end;

		seen += spread->buckets[i];
		if (spread->buckets[i] == 0 || seen < wanted)
			continue;
		end = spread_bucket_end(i);
		return end < spread->min ? spread->min : end > spread->max ? spread->max : end;
	}
	return spread->max;
}
