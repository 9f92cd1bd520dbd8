/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "convert/arrange.h"
#include "convert/sort.h"

/* How far out the begin of an end is looked for. */
enum { MATCH_DEPTH = 1024 };

/* --- Begins and ends -------------------------------------------------------------------------- */

struct open_begin {
	size_t pair;
	uint32_t name;
};

struct matcher {
	struct fx_timeline *timeline;
	struct fx_thread *thread;
	FX_VECTOR(struct open_begin) open;
};

static int open_begin(struct matcher *matcher, struct fx_entry *entry)
{
	struct fx_thread *thread = matcher->thread;
	size_t pair = thread->pairs.count;

	if (fx_vector_reserve(&thread->pairs, 1) < 0 || fx_vector_reserve(&matcher->open, 1) < 0)
		return -ENOMEM;
	thread->pairs.items[thread->pairs.count++] = (struct fx_pair){UINT64_MAX, FX_NO_WORD};
	matcher->open.items[matcher->open.count++] =
	    (struct open_begin){pair, fx_timeline_event_name(matcher->timeline, entry)};
	entry->end = pair;
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

static void close_begin(struct matcher *matcher, const struct fx_entry *entry)
{
	size_t at = find_begin(matcher, fx_timeline_event_name(matcher->timeline, entry));
	struct fx_pair *pairs = matcher->thread->pairs.items;

	if (at == 0) {
		matcher->timeline->losses[FX_LOSS_UNMATCHED_END]++;
		return;
	}
	pairs[matcher->open.items[at - 1].pair] = (struct fx_pair){entry->ts, entry->word};
	matcher->open.count = at - 1;
}

/* Gives each begin its end, marks those that have none, and takes the ends away. */
static int match_ends(struct fx_timeline *timeline, struct fx_thread *thread)
{
	struct matcher matcher = {.timeline = timeline, .thread = thread};
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < thread->entries.count && r == 0; i++) {
		struct fx_entry *entry = &thread->entries.items[i];

		if (entry->kind == FX_ENTRY_END) {
			close_begin(&matcher, entry);
			continue;
		}
		if (entry->kind == FX_ENTRY_BEGIN)
			r = open_begin(&matcher, entry);
		thread->entries.items[kept++] = *entry;
	}
	thread->entries.count = kept;
	fx_vector_free(&matcher.open);
	return r;
}

/* --- Events of one time ----------------------------------------------------------------------- */

static bool has_length(const struct fx_thread *thread, const struct fx_entry *entry)
{
	return fx_entry_is_slice(entry) && fx_entry_end(thread, entry) > entry->ts;
}

/*
 * Slices that have a length before all else, the longest first. Of two equal ones, a begin
 * record was written before what it contains, a complete record behind it.
 */
static int compare_group(const void *a, const void *b, void *opaque)
{
	const struct fx_thread *thread = opaque;
	const struct fx_entry *left = a, *right = b;
	bool long_left = has_length(thread, left), long_right = has_length(thread, right);
	int by_word = left->word < right->word ? -1 : left->word > right->word;
	uint64_t left_end, right_end;

	if (long_left != long_right)
		return long_left ? -1 : 1;
	if (!long_left)
		return by_word;
	left_end = fx_entry_end(thread, left);
	right_end = fx_entry_end(thread, right);
	if (left_end != right_end)
		return left_end > right_end ? -1 : 1;
	if (left->kind != right->kind)
		return left->kind == FX_ENTRY_BEGIN ? -1 : 1;
	return left->kind == FX_ENTRY_BEGIN ? by_word : -by_word;
}

static void order_groups(struct fx_thread *thread)
{
	struct fx_entry *entries = thread->entries.items;
	size_t count = thread->entries.count;

	for (size_t start = 0, end; start < count; start = end) {
		for (end = start + 1; end < count && entries[end].ts == entries[start].ts; end++)
			;
		if (end - start > 1)
			qsort_r(entries + start, end - start, sizeof(*entries), compare_group,
				thread);
	}
}

/* --- Nesting ---------------------------------------------------------------------------------- */

void fx_nest_init(struct fx_nest *nest, const struct fx_thread *thread)
{
	nest->thread = thread;
	nest->depth = 0;
	nest->instant_ts = 0;
	nest->instants = 0;
}

/* Whether the record that ended @slice stands before @entry in the file. */
static bool ended_before(const struct fx_thread *thread, const struct fx_entry *slice,
			 const struct fx_entry *entry)
{
	uint64_t word = slice->word;

	if (slice->flags & (FX_ENTRY_CUT | FX_ENTRY_UNFINISHED))
		return true;
	if (slice->kind == FX_ENTRY_BEGIN)
		word = thread->pairs.items[slice->end].word;
	return word < entry->word;
}

/* Whether @slice, open so far, is over where @entry stands. */
static bool has_ended(const struct fx_thread *thread, const struct fx_entry *slice,
		      const struct fx_entry *entry)
{
	uint64_t end = fx_entry_end(thread, slice);

	if (end != entry->ts)
		return end < entry->ts;
	if (slice->ts == end)
		return true;
	return has_length(thread, entry) || ended_before(thread, slice, entry);
}

bool fx_nest_pop(struct fx_nest *nest, const struct fx_entry *entry, size_t *ret_index)
{
	const struct fx_entry *entries = nest->thread->entries.items;

	if (nest->depth == 0 ||
	    !has_ended(nest->thread, &entries[nest->open[nest->depth - 1]], entry))
		return false;
	*ret_index = nest->open[--nest->depth];
	return true;
}

bool fx_nest_pop_any(struct fx_nest *nest, size_t *ret_index)
{
	if (nest->depth == 0)
		return false;
	*ret_index = nest->open[--nest->depth];
	return true;
}

bool fx_nest_has_room(struct fx_nest *nest, const struct fx_entry *entry)
{
	if (nest->instant_ts != entry->ts) {
		nest->instant_ts = entry->ts;
		nest->instants = 0;
	}
	if (nest->depth + nest->instants >= FX_MAX_DEPTH)
		return false;
	if (!fx_entry_is_slice(entry) || fx_entry_end(nest->thread, entry) == entry->ts)
		nest->instants++;
	return true;
}

void fx_nest_push(struct fx_nest *nest, size_t index)
{
	nest->open[nest->depth++] = index;
}

static void set_end(struct fx_thread *thread, struct fx_entry *slice, uint64_t end)
{
	if (slice->kind == FX_ENTRY_BEGIN)
		thread->pairs.items[slice->end].end = end;
	else
		slice->end = end;
}

/* Ends @slice with the one around it, at the latest. */
static void fit_slice(struct fx_thread *thread, const struct fx_nest *nest, struct fx_entry *slice)
{
	uint64_t end = fx_entry_end(thread, slice);
	uint64_t limit = UINT64_MAX;

	if (nest->depth > 0)
		limit = fx_entry_end(thread, &thread->entries.items[nest->open[nest->depth - 1]]);
	if (end == UINT64_MAX)
		slice->flags |= FX_ENTRY_UNFINISHED;
	else if (end > limit)
		slice->flags |= FX_ENTRY_CUT;
	if (end > limit)
		set_end(thread, slice, limit);
}

static void nest_all(struct fx_timeline *timeline, struct fx_thread *thread)
{
	struct fx_nest nest;
	size_t ended;

	fx_nest_init(&nest, thread);
	for (size_t i = 0; i < thread->entries.count; i++) {
		struct fx_entry *entry = &thread->entries.items[i];

		if (!fx_entry_is_slice(entry) && !fx_entry_is_instant(entry))
			continue;
		while (fx_nest_pop(&nest, entry, &ended))
			;
		if (!fx_nest_has_room(&nest, entry)) {
			entry->flags |= FX_ENTRY_LEFT_OUT;
			timeline->losses[FX_LOSS_TOO_DEEP]++;
			continue;
		}
		if (!fx_entry_is_slice(entry))
			continue;
		fit_slice(thread, &nest, entry);
		fx_nest_push(&nest, i);
	}
}

int fx_thread_arrange(struct fx_timeline *timeline, struct fx_thread *thread)
{
	int r = fx_entries_sort(thread->entries.items, thread->entries.count);

	if (r == 0)
		r = match_ends(timeline, thread);
	if (r < 0)
		return r;
	order_groups(thread);
	nest_all(timeline, thread);
	return 0;
}
