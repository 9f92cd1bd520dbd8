/* SPDX-License-Identifier: MIT */
#ifndef FX_CONVERT_SORT_H
#define FX_CONVERT_SORT_H

#include "convert/timeline.h"

/*
 * Sorts by time, stably. Made for records that were written when their slices ended: those are
 * almost in order, and the time this takes is almost linear. Returns 0 or -ENOMEM.
 */
int fx_entries_sort(struct fx_entry *entries, size_t count);

#endif
