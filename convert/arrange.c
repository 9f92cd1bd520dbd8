/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "convert/arrange.h"

/* How far out the begin of an end is looked for. */
enum { MATCH_DEPTH = 1024 };

/* --- Begins and ends -------------------------------------------------------------------------- */

struct open_begin {
	uint64_t number;
	uint32_t name;
};

struct matcher {
	struct fx_timeline *timeline;
	struct fx_thread *thread;
	uint64_t begins;
	FX_VECTOR(struct open_begin) open;
};

static int compare_ends(const void *a, const void *b)
{
	const struct fx_entry_end *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static const struct fx_runs_kind ends_kind = {
    .size = sizeof(struct fx_entry_end),
    .compare = compare_ends,
};

static int open_begin(struct matcher *matcher, const struct fx_entry *entry)
{
	if (fx_vector_reserve(&matcher->open, 1) < 0)
		return -ENOMEM;
	matcher->open.items[matcher->open.count++] = (struct open_begin){
	    matcher->begins++, fx_timeline_event_name(matcher->timeline, entry)};
	return 0;
}

/* The place in the stack of the begin that an end of this name closes, counted from 1; or 0. */
static size_t find_begin(const struct matcher *matcher, uint32_t name)
{
	size_t count = matcher->open.count;
	size_t last = count > MATCH_DEPTH ? count - MATCH_DEPTH : 0;

	if (name == 0)
		return count;
	for (size_t i = count; i > last; i--) {
		if (matcher->open.items[i - 1].name == name)
			return i;
	}
	return 0;
}

static int close_begin(struct matcher *matcher, const struct fx_entry *entry)
{
	size_t at = find_begin(matcher, fx_timeline_event_name(matcher->timeline, entry));
	struct fx_entry_end *end;

	if (at == 0) {
		matcher->timeline->misfits[FX_MISFIT_UNMATCHED_END]++;
		return 0;
	}
	end = fx_runs_add(matcher->thread->ends);
	if (!end)
		return -ENOMEM;
	*end = (struct fx_entry_end){matcher->open.items[at - 1].number, entry->ts, entry->word};
	matcher->open.count = at - 1;
	return 0;
}

/* Finds the end of each begin. */
static int match_ends(struct matcher *matcher)
{
	const struct fx_entry *entry;
	struct fx_merge merge;
	int r = fx_merge_begin(&merge, &matcher->thread->entries);

	if (r < 0)
		return r;
	entry = fx_merge_first(&merge);
	for (; entry && r == 0; entry = fx_merge_next(&merge)) {
		if (entry->kind == FX_ENTRY_END)
			r = close_begin(matcher, entry);
		else if (entry->kind == FX_ENTRY_BEGIN)
			r = open_begin(matcher, entry);
	}
	fx_merge_end(&merge);
	return r < 0 ? r : merge.error;
}

int fx_thread_arrange(struct fx_timeline *timeline, struct fx_thread *thread)
{
	struct matcher matcher = {.timeline = timeline, .thread = thread};
	int r;

	if (!thread->has_pairs)
		return 0;
	thread->ends = malloc(sizeof(*thread->ends));
	if (!thread->ends)
		return -ENOMEM;
	fx_runs_init(thread->ends, &timeline->pool, &ends_kind);
	r = match_ends(&matcher);
	fx_vector_free(&matcher.open);
	return r;
}

/* --- Events of one time ----------------------------------------------------------------------- */

static bool has_length(const struct fx_entry *entry)
{
	return fx_entry_is_slice(entry) && entry->end > entry->ts;
}

/*
 * Slices that have a length before all else, the longest first. Of two equal ones, a begin
 * record was written before what it contains, a complete record behind it.
 */
static int compare_group(const void *a, const void *b)
{
	const struct fx_entry *left = a, *right = b; /* the first member of what they are in */
	bool long_left = has_length(left), long_right = has_length(right);
	int by_word = left->word < right->word ? -1 : left->word > right->word;

	if (long_left != long_right)
		return long_left ? -1 : 1;
	if (!long_left)
		return by_word;
	if (left->end != right->end)
		return left->end > right->end ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind == FX_ENTRY_BEGIN ? -1 : 1;
	return left->kind == FX_ENTRY_BEGIN ? by_word : -by_word;
}

/* --- The list, with its ends in their begins -------------------------------------------------- */

static void walk_take_end(struct fx_walk *walk, struct fx_placed *placed)
{
	uint64_t number = walk->begins++;

	placed->entry.end = UINT64_MAX;
	placed->end_word = FX_NO_WORD;
	if (!walk->next_end || walk->next_end->begin != number)
		return;
	placed->entry.end = walk->next_end->end;
	placed->end_word = walk->next_end->word;
	walk->next_end = fx_merge_next(&walk->end_merge);
}

static void skip_ends(struct fx_walk *walk)
{
	while (walk->next && walk->next->kind == FX_ENTRY_END)
		walk->next = fx_merge_next(&walk->merge);
}

/* Takes the next entry, which there is, from the list. */
static void take_entry(struct fx_walk *walk, struct fx_placed *placed)
{
	placed->entry = *walk->next;
	if (placed->entry.kind == FX_ENTRY_BEGIN)
		walk_take_end(walk, placed);
	walk->next = fx_merge_next(&walk->merge);
	skip_ends(walk);
}

/* Opens the lists, from the first entry of @ts on, of which the begins have the numbers from @begins on. */
static int walk_open_lists(struct fx_walk *walk, struct fx_thread *thread, uint64_t ts,
			   uint64_t begins)
{
	int r = fx_merge_begin_at(&walk->merge, &thread->entries, ts);

	if (r == 0 && thread->ends)
		r = fx_merge_begin_at(&walk->end_merge, thread->ends, begins);
	if (r < 0)
		return r;
	walk->begins = begins;
	walk->next = fx_merge_first(&walk->merge);
	walk->next_end = fx_merge_first(&walk->end_merge);
	skip_ends(walk);
	return 0;
}

static void walk_init(struct fx_walk *walk, struct fx_timeline *timeline, struct fx_thread *thread)
{

	walk->timeline = timeline;
	walk->thread = thread;
	walk->next = NULL;
	walk->next_end = NULL;
	walk->begins = walk->index = 0;
	memset(&walk->group, 0, sizeof(walk->group));
	memset(&walk->end_merge, 0, sizeof(walk->end_merge));
	walk->group_at = walk->depth = walk->instants = 0;
	walk->instant_ts = walk->too_deep = 0;
}

int fx_walk_begin(struct fx_walk *walk, struct fx_timeline *timeline, struct fx_thread *thread)
{
	walk_init(walk, timeline, thread);
	return walk_open_lists(walk, thread, 0, 0);
}

bool fx_walk_note_place(const struct fx_walk *walk, struct fx_walk_place *ret)
{
	if (walk->group_at < walk->group.count || !walk->next)
		return false;
	ret->ts = walk->next->ts;
	ret->begins = walk->begins;
	ret->index = walk->index;
	ret->depth = walk->depth;
	ret->open = NULL;
	if (walk->depth == 0)
		return true;
	ret->open = malloc(walk->depth * sizeof(*ret->open));
	if (ret->open)
		memcpy(ret->open, walk->open, walk->depth * sizeof(*ret->open));
	return ret->open;
}

int fx_walk_begin_at(struct fx_walk *walk, struct fx_timeline *timeline, struct fx_thread *thread,
		     const struct fx_walk_place *place)
{
	walk_init(walk, timeline, thread);
	walk->index = place->index;
	walk->depth = place->depth;
	if (place->depth > 0)
		memcpy(walk->open, place->open, place->depth * sizeof(*place->open));
	return walk_open_lists(walk, thread, place->ts, place->begins);
}

void fx_walk_end(struct fx_walk *walk)
{
	fx_merge_end(&walk->merge);
	fx_merge_end(&walk->end_merge);
	fx_vector_free(&walk->group);
}

/* Takes the entry that is alone so far, and all others of its time. */
static int take_group(struct fx_walk *walk)
{
	uint64_t ts = walk->alone.entry.ts;

	walk->group.count = walk->group_at = 0;
	if (fx_vector_reserve(&walk->group, 1) < 0)
		return -ENOMEM;
	walk->group.items[walk->group.count++] = walk->alone;
	while (walk->next && walk->next->ts == ts) {
		if (fx_vector_reserve(&walk->group, 1) < 0)
			return -ENOMEM;
		take_entry(walk, &walk->group.items[walk->group.count++]);
	}
	qsort(walk->group.items, walk->group.count, sizeof(*walk->group.items), compare_group);
	return 0;
}

int fx_walk_next(struct fx_walk *walk)
{
	if (walk->group_at < walk->group.count) {
		walk->now = &walk->group.items[walk->group_at++];
		walk->now->index = walk->index++;
		return 1;
	}
	if (!walk->next)
		return walk->merge.error < 0 ? walk->merge.error : walk->end_merge.error;
	take_entry(walk, &walk->alone);
	walk->now = &walk->alone;
	walk->group_at = walk->group.count = 0;
	if (walk->next && walk->next->ts == walk->alone.entry.ts) {
		if (take_group(walk) < 0)
			return -ENOMEM;
		walk->now = &walk->group.items[walk->group_at++];
	}
	walk->now->index = walk->index++;
	return 1;
}

const struct fx_placed *fx_walk_before(const struct fx_walk *walk, size_t n)
{
	return n + 1 < walk->group_at ? &walk->group.items[walk->group_at - 2 - n] : NULL;
}

/* --- Nesting ---------------------------------------------------------------------------------- */

/* Whether the record that ended @slice stands before @entry in the file. */
static bool ended_before(const struct fx_placed *slice, const struct fx_entry *entry)
{
	if (slice->entry.flags & (FX_ENTRY_CUT | FX_ENTRY_UNFINISHED))
		return true;
	if (slice->entry.kind == FX_ENTRY_BEGIN)
		return slice->end_word < entry->word;
	return slice->entry.word < entry->word;
}

/* Whether @slice, open so far and until the time of @entry, is over where that stands. */
static bool has_ended(const struct fx_placed *slice, const struct fx_entry *entry)
{
	if (slice->entry.ts == slice->entry.end)
		return true;
	return has_length(entry) || ended_before(slice, entry);
}

const struct fx_placed *fx_walk_pop_at_end_(struct fx_walk *walk)
{
	if (!has_ended(&walk->open[walk->depth - 1], &walk->now->entry))
		return NULL;
	return &walk->open[--walk->depth];
}

const struct fx_placed *fx_walk_pop_any(struct fx_walk *walk)
{
	return walk->depth > 0 ? &walk->open[--walk->depth] : NULL;
}

/* Whether there is room for an entry, a slice or an instant. */
static bool nest_has_room(struct fx_walk *walk, const struct fx_entry *entry)
{
	if (walk->instant_ts != entry->ts) {
		walk->instant_ts = entry->ts;
		walk->instants = 0;
	}
	if (walk->depth + walk->instants >= FX_MAX_DEPTH)
		return false;
	if (!has_length(entry))
		walk->instants++;
	return true;
}

/* Ends @slice with the one around it, at the latest. */
static void fit_slice(const struct fx_walk *walk, struct fx_entry *slice)
{
	uint64_t limit = walk->depth > 0 ? walk->open[walk->depth - 1].entry.end : UINT64_MAX;

	if (slice->end == UINT64_MAX)
		slice->flags |= FX_ENTRY_UNFINISHED;
	else if (slice->end > limit)
		slice->flags |= FX_ENTRY_CUT;
	if (slice->end > limit)
		slice->end = limit;
}

const struct fx_placed *fx_walk_place(struct fx_walk *walk)
{
	struct fx_entry *entry = &walk->now->entry;

	if (!fx_entry_is_slice(entry) && !fx_entry_is_instant(entry))
		return walk->now;
	if (!nest_has_room(walk, entry)) {
		entry->flags |= FX_ENTRY_LEFT_OUT;
		walk->too_deep++;
		return walk->now;
	}
	if (fx_entry_is_slice(entry)) {
		fit_slice(walk, entry);
		walk->open[walk->depth++] = *walk->now;
	}
	return walk->now;
}
