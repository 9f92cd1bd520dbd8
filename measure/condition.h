/* SPDX-License-Identifier: MIT */
/* Which events a measurement is of: the pattern and the condition of a selector (spec.h). */
#ifndef FX_MEASURE_CONDITION_H
#define FX_MEASURE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/export.h"
#include "measure/spec.h"

/* An event as it is asked. */
struct fx_witness {
	const struct fx_event *event;
	const struct fx_texts *texts; /* the timeline's */
	uint64_t first_ts;	      /* of the archive */
	uint64_t duration;
	bool has_duration; /* it is a slice, and finished */
};

/* What is remembered of names; all zeros is nothing. */
struct fx_name_verdicts {
	FX_VECTOR(uint8_t) items; /* by the number of the name */
};

/* Whether the name of the event matches the pattern. -ENOMEM, else 0 or 1. */
int fx_selector_matches_name(const struct fx_selector *selector, struct fx_name_verdicts *verdicts,
			     const struct fx_witness *witness);

/* What the leaves of the condition say, a bit for each; those about the duration only if `of_duration', and only
 * those then. */
uint64_t fx_selector_leaves(const struct fx_selector *selector, const struct fx_witness *witness,
			    bool of_duration);

/* Whether the condition holds, by its leaves. */
bool fx_selector_holds(const struct fx_selector *selector, uint64_t leaves);

/* An argument as a number; false: it has none of this name, or it is no number. */
bool fx_witness_number(const struct fx_witness *witness, const char *argument, long double *ret);

/* What a field or an argument of the event says, for comparison with those of other events: its length, or 0 if it says
 * nothing. Cut where the room ends. */
size_t fx_witness_key(const struct fx_witness *witness, const struct fx_asked *asked, char *text,
		      size_t size);

#endif
