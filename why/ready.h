/* SPDX-License-Identifier: MIT */
/*
 * When threads were ready and had no processor, as the kernel provider recorded it: from when one lost it without giving
 * it up, or was woken, until it had one again; and which thread had it meanwhile. Of more stretches than there is
 * memory for, the shorter ones are forgotten. And when threads ended: others are told later, since it takes the system up to
 * a second to take down the recording of a thread.
 */
#ifndef FX_WHY_READY_H
#define FX_WHY_READY_H

#include "convert/export.h"
#include "lists/vector.h"
#include "why/tree.h"

struct fx_why_stretch {
	uint64_t begin, end;
	uint32_t thread;
	uint32_t by; /* 1 + number of the thread that had the processor; 0: not known */
};

struct fx_why_ready {
	struct fx_timeline *timeline;
	FX_VECTOR(struct fx_why_stretch) stretches; /* by thread, each in order of time */
	size_t *first;	/* by thread; NULL: there are no records of scheduling */
	uint64_t *ends; /* by thread, when it had a processor last; 0: that is not recorded */
};

/* Collects it. Returns 0 or -errno; to be freed either way. */
int fx_why_ready_collect(struct fx_why_ready *ready, struct fx_timeline *timeline);

void fx_why_ready_free(struct fx_why_ready *ready);

/* Adds a stretch of a thread to the tree, below `parent': as `what', but for the time in which it was ready. */
void fx_why_ready_add(const struct fx_why_ready *ready, struct fx_why_tree *tree, uint32_t parent,
		      const struct fx_why_what *what, uint32_t thread, uint64_t begin,
		      uint64_t end);

#endif
