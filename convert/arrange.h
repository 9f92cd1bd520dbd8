/* SPDX-License-Identifier: MIT */
/*
 * The events of a thread, in the order of a call tree.
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
 * fx_thread_arrange() gives the begins their ends. Afterwards a walk yields the entries in that order,
 * as often as it is wanted, each time the same:
 *
 *     r = fx_walk_begin(&walk, timeline, thread);
 *     while (r >= 0 && (r = fx_walk_next(&walk)) > 0) {
 *             while ((ended = fx_walk_pop(&walk)))
 *                     slice_ends(ended);
 *             entry = fx_walk_place(&walk);
 *             ...
 *     }
 *     while ((ended = fx_walk_pop_any(&walk)))
 *             slice_ends(ended);
 *     fx_walk_end(&walk);
 */
#ifndef FX_CONVERT_ARRANGE_H
#define FX_CONVERT_ARRANGE_H

#include "convert/timeline.h"

/* Perfetto counts what is nested deeper as an error. */
#define FX_MAX_DEPTH 512

/* Entries between the one at hand and the one whose record is asked for from memory. */
#define FX_WALK_AHEAD 12

/* An entry in its place. */
struct fx_placed {
	struct fx_entry
	    entry;	   /* of a slice: `end' is when it ends, UINT64_MAX: it did not finish */
	uint64_t end_word; /* of a begin: its end record; FX_NO_WORD: none */
	uint64_t index;	   /* counts from 0 in the order of the walk */
};

struct fx_walk {
	struct fx_timeline *timeline;
	const struct fx_thread *thread;
	struct fx_merge merge;
	struct fx_merge end_merge;
	const struct fx_entry *next;	     /* in the thread's list */
	const struct fx_entry_end *next_end; /* of the begins that are still to come */
	uint64_t begins;		     /* that were taken from the list */
	uint64_t index;
	FX_VECTOR(struct fx_placed) group; /* entries of one time */
	size_t group_at;
	struct fx_placed alone; /* an entry that is the only one of its time */
	struct fx_placed *now;	/* it, or one of the group */

	/* The slices that are open, the innermost last. */
	size_t depth;
	struct fx_placed open[FX_MAX_DEPTH];
	uint64_t instant_ts; /* Perfetto nests what has no length and the same time */
	size_t instants;
	uint64_t too_deep; /* entries LEFT_OUT */
};

/* Makes the thread's list of ends. Returns 0 or -errno. */
int fx_thread_arrange(struct fx_timeline *timeline, struct fx_thread *thread);

/* Returns 0 or -errno; fx_walk_end() must follow either way. */
int fx_walk_begin(struct fx_walk *walk, struct fx_timeline *timeline, struct fx_thread *thread);

/* Where a walk may go on: between entries of two times. */
struct fx_walk_place {
	uint64_t ts; /* of the next entry */
	uint64_t begins;
	uint64_t index;
	size_t depth;
	struct fx_placed *open; /* to be freed */
};

/* false: not here, or no memory. */
bool fx_walk_note_place(const struct fx_walk *walk, struct fx_walk_place *ret);

/* As fx_walk_begin(), from a place that was noted. */
int fx_walk_begin_at(struct fx_walk *walk, struct fx_timeline *timeline, struct fx_thread *thread,
		     const struct fx_walk_place *place);

/* Goes on to the next entry. Returns 1, 0 behind the last, or -errno. */
int fx_walk_next(struct fx_walk *walk);

const struct fx_placed *fx_walk_pop_at_end_(struct fx_walk *walk);

/* Takes the innermost slice if it has ended where the entry stands. NULL: none has. */
static inline const struct fx_placed *fx_walk_pop(struct fx_walk *walk)
{
	uint64_t ts = walk->now->entry.ts;

	if (walk->depth == 0 || walk->open[walk->depth - 1].entry.end > ts)
		return NULL;
	if (walk->open[walk->depth - 1].entry.end < ts)
		return &walk->open[--walk->depth];
	return fx_walk_pop_at_end_(walk);
}

/* The entry, with its final end and flags. A slice is open from now on, unless it is LEFT_OUT. */
const struct fx_placed *fx_walk_place(struct fx_walk *walk);

/* An entry that the walk will probably come to soon; NULL: none is known. */
static inline const struct fx_entry *fx_walk_ahead(const struct fx_walk *walk)
{
	const struct fx_runs_source *source = walk->merge.count ? walk->merge.heap[0] : NULL;
	const char *at = source ? source->at + FX_WALK_AHEAD * sizeof(struct fx_entry) : NULL;

	return source && at < source->end ? (const struct fx_entry *)at : NULL;
}

/*
 * What stands before the entry and has its time, the @n-th, counted backwards from 0. NULL: there are
 * not so many.
 */
const struct fx_placed *fx_walk_before(const struct fx_walk *walk, size_t n);

/* Takes the innermost slice, whatever its end. NULL: none is open. */
const struct fx_placed *fx_walk_pop_any(struct fx_walk *walk);

void fx_walk_end(struct fx_walk *walk);

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
