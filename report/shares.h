/* SPDX-License-Identifier: MIT */
/*
 * Shares: the time of each object, divided among sharers: that of a lock among the threads that held it, or among the
 * places where it was waited for. Objects are numbers from 0 on, sharers any numbers.
 */
#ifndef FX_REPORT_SHARES_H
#define FX_REPORT_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"
#include "report/keys.h"

/* All zeros, but for the limit of the keys, is an empty one. */
struct fx_shares {
	struct fx_keys keys;	   /* address is the object; the first number the sharer */
	FX_VECTOR(uint64_t) times; /* by number of the key */
};

struct fx_share {
	size_t object; /* SIZE_MAX: behind the last one */
	uint64_t time;
	uint32_t sharer;
	uint32_t number; /* in order of appearance */
};

/* Returns 0 or -ENOMEM. What is beyond the limit is counted by the keys alone. */
int fx_shares_add(struct fx_shares *shares, size_t object, uint32_t sharer, uint64_t time);

/* All of them by object, of each the longest time first, and one behind the last. To be freed; NULL: no memory. */
struct fx_share *fx_shares_sorted(const struct fx_shares *shares);

/* How many are the object's, of which *at becomes the first one. Objects are asked for in rising order. */
size_t fx_shares_of(const struct fx_share **at, size_t object);

void fx_shares_free(struct fx_shares *shares);

#endif
