/* SPDX-License-Identifier: MIT */
/*
 * When slices of a virtual thread begin and end, whatever the order in which that is said: whether a moment lies in one. The newest moments
 * are kept; of those before it is known how many slices were open.
 */
#ifndef FX_MANAGER_VTHREAD_LINE_H
#define FX_MANAGER_VTHREAD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lists/vector.h"

/* All zero at first. */
struct fx_vthread_line {
	FX_VECTOR(uint64_t) steps; /* by their times: ns << 1, and 1 if it is an end */
	uint64_t folded;	   /* ns; what is before is not kept */
	uint32_t open;		   /* slices that were open then, */
	int64_t late;		   /* and begins less ends before it that were said since */
};

/* A slice begins or ends. 0, or -ENOMEM: from now on nothing is known. */
int fx_vthread_line_note(struct fx_vthread_line *line, uint64_t ns, bool is_end);

/* The time before which nothing is known any more if no more than `keep' moments are kept. */
uint64_t fx_vthread_line_fold_ns(const struct fx_vthread_line *line, size_t keep);

/* Keeps no more than so many. */
void fx_vthread_line_fold(struct fx_vthread_line *line, size_t keep);

/* Whether a slice is open at `ns'; if not `all' has been said, one whose end has. */
bool fx_vthread_line_is_open(const struct fx_vthread_line *line, uint64_t ns, bool all);

void fx_vthread_line_clear(struct fx_vthread_line *line);

#endif
