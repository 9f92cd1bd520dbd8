/* SPDX-License-Identifier: MIT */
/*
 * The events of a thread, put in the order of a call tree.
 *
 * An archive has complete records where the slices ended, begin and end records where they
 * happened, and neither need be in order of time. Exporters want one sequence in which each slice
 * stands before what it contains:
 *
 *   - by time; among slices of one start, the longer first, then all else in file order;
 *   - each end with its begin: the innermost open one of its name. An end without a begin is
 *     left out and counted; a begin without an end is UNFINISHED and lasts to the end of the slice
 *     around it, or for ever;
 *   - a slice that crosses the end of the one around it is shortened to it, and CUT;
 *   - nothing stands deeper than FX_MAX_DEPTH; what would is LEFT_OUT and counted.
 *
 * fx_thread_arrange() does all of that. Afterwards fx_nest_* walks the entries and says which
 * slices are open at each.
 */
#ifndef FX_CONVERT_ARRANGE_H
#define FX_CONVERT_ARRANGE_H

#include "convert/timeline.h"

/* Perfetto counts what is nested deeper as an error. */
#define FX_MAX_DEPTH 512

/* Returns 0 or -ENOMEM. */
int fx_thread_arrange(struct fx_timeline *timeline, struct fx_thread *thread);

/* The slices that are open at a place of a thread's sequence, the innermost last. */
struct fx_nest {
	const struct fx_thread *thread;
	size_t depth;
	size_t open[FX_MAX_DEPTH]; /* indices of entries */
	uint64_t instant_ts;	   /* Perfetto nests what has no length and the same time */
	size_t instants;
};

void fx_nest_init(struct fx_nest *nest, const struct fx_thread *thread);

/*
 * Takes from the nest the innermost slice if it has ended where @entry stands, and says which.
 * Call it until it returns false, before looking at what is open around @entry.
 */
bool fx_nest_pop(struct fx_nest *nest, const struct fx_entry *entry, size_t *ret_index);

/* Takes the innermost slice, whatever its end; false: none is open. */
bool fx_nest_pop_any(struct fx_nest *nest, size_t *ret_index);

/* Whether there is room for @entry, a slice or an instant. */
bool fx_nest_has_room(struct fx_nest *nest, const struct fx_entry *entry);

/* Opens the slice of this index. There must be room. */
void fx_nest_push(struct fx_nest *nest, size_t index);

static inline bool fx_entry_is_slice(const struct fx_entry *entry)
{
	return entry->kind == FX_ENTRY_COMPLETE || entry->kind == FX_ENTRY_BEGIN;
}

/* Whether it becomes a slice without length: an instant, but for those that are slices. */
static inline bool fx_entry_is_instant(const struct fx_entry *entry)
{
	return entry->kind == FX_ENTRY_INSTANT || entry->kind == FX_ENTRY_LOG ||
	       entry->kind == FX_ENTRY_BLOB;
}

#endif
