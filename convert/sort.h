/* SPDX-License-Identifier: MIT */
#ifndef FX_CONVERT_SORT_H
#define FX_CONVERT_SORT_H

#include "convert/entry.h"
#include "lists/runs.h"

/*
 * Sorts by time, stably. Made for records that were written when their slices ended: those are
 * almost in order, and the time this takes is almost linear. Returns 0 or -ENOMEM.
 */
int fx_entries_sort(struct fx_entry *entries, size_t count);

/* Lists of the index, each in order of time and, of one time, of the file. */
extern const struct fx_runs_kind fx_entries_kind;
extern const struct fx_runs_kind fx_asyncs_kind;
extern const struct fx_runs_kind fx_scheds_kind;

#endif
