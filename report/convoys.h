/* SPDX-License-Identifier: MIT */
/*
 * Convoys: how many waits for one object there were at one time. Objects are numbers from 0 on. All zeros is an empty
 * one.
 */
#ifndef FX_REPORT_CONVOYS_H
#define FX_REPORT_CONVOYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

struct fx_convoy_wait {
	uint64_t begin, end;
	size_t object;
};

struct fx_convoys {
	FX_VECTOR(struct fx_convoy_wait) waits;
	bool is_cut; /* there were too many: the shorter ones are gone */
};

/* Returns 0 or -ENOMEM. */
int fx_convoys_add(struct fx_convoys *convoys, size_t object, uint64_t begin, uint64_t end);

/* Of each object the most waits at one time, 0 of one without; `most' has room for all objects. 0 or -ENOMEM. */
int fx_convoys_count(const struct fx_convoys *convoys, uint32_t *most, size_t objects);

void fx_convoys_free(struct fx_convoys *convoys);

#endif
