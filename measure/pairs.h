/* SPDX-License-Identifier: MIT */
/*
 * Times between two events: each begin goes with the next end of its key that no earlier begin has taken. Threads are
 * seen one after another, so all moments are kept (16 bytes each), and paired in order of time at the end.
 */
#ifndef FX_MEASURE_PAIRS_H
#define FX_MEASURE_PAIRS_H

#include "convert/texts.h"
#include "lists/vector.h"
#include "measure/statistics.h"

enum fx_moment_role {
	FX_MOMENT_BEGIN = 1,
	FX_MOMENT_BOTH, /* ends one, and begins the next */
	FX_MOMENT_END,
};

struct fx_moment {
	uint64_t ts;
	uint32_t key; /* 0: no keys are told apart */
	uint8_t role; /* enum fx_moment_role */
};

struct fx_pairs {
	FX_VECTOR(struct fx_moment) moments;
	struct fx_texts *keys;
	uint64_t begins_left, ends_left; /* that found no partner: fx_pairs_finish() */
	uint64_t keyless;		 /* moments of events that do not have the key */
};

/* Key: all of it, or length 0 if none are told apart. Returns 0 or -ENOMEM. All zeros is an empty one. */
int fx_pairs_add(struct fx_pairs *pairs, uint64_t ts, enum fx_moment_role role, const char *key,
		 size_t length);

/* Adds the times of all pairs. Returns 0 or -ENOMEM. */
int fx_pairs_finish(struct fx_pairs *pairs, struct fx_values *values);
void fx_pairs_free(struct fx_pairs *pairs);

#endif
