/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/sort.h"

enum { INSERTION_MAX = 16 };

struct sorter {
	FX_VECTOR(struct fx_entry) spare;
};

static void sort_small(struct fx_entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct fx_entry moved = entries[i];
		size_t at = i;

		for (; at > 0 && entries[at - 1].ts > moved.ts; at--)
			entries[at] = entries[at - 1];
		entries[at] = moved;
	}
}

/* The number of entries at the start of a sorted range that are not later than @ts. */
static size_t count_not_after(const struct fx_entry *entries, size_t count, uint64_t ts)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (entries[middle].ts <= ts)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* The number of entries at the start of a sorted range that are earlier than @ts. */
static size_t count_before(const struct fx_entry *entries, size_t count, uint64_t ts)
{
	return ts == 0 ? 0 : count_not_after(entries, count, ts - 1);
}

/* Merges two sorted ranges that stand side by side; only where they overlap is anything moved. */
static int merge(struct sorter *sorter, struct fx_entry *entries, size_t middle, size_t count)
{
	size_t first, left, right, out;

	if (entries[middle - 1].ts <= entries[middle].ts)
		return 0;
	first = count_not_after(entries, middle, entries[middle].ts);
	count = middle + count_before(entries + middle, count - middle, entries[middle - 1].ts);

	sorter->spare.count = 0;
	if (fx_vector_reserve(&sorter->spare, middle - first) < 0)
		return -ENOMEM;
	memcpy(sorter->spare.items, entries + first, (middle - first) * sizeof(*entries));
	left = 0;
	right = middle;
	out = first;
	while (left < middle - first && right < count) {
		if (sorter->spare.items[left].ts <= entries[right].ts)
			entries[out++] = sorter->spare.items[left++];
		else
			entries[out++] = entries[right++];
	}
	memcpy(entries + out, sorter->spare.items + left,
	       (middle - first - left) * sizeof(*entries));
	return 0;
}

static int sort_range(struct sorter *sorter, struct fx_entry *entries, size_t count)
{
	size_t middle = count / 2;
	int r;

	if (count <= INSERTION_MAX) {
		sort_small(entries, count);
		return 0;
	}
	r = sort_range(sorter, entries, middle);
	if (r == 0)
		r = sort_range(sorter, entries + middle, count - middle);
	return r < 0 ? r : merge(sorter, entries, middle, count);
}

/* --- Calls, each behind those that it made ---------------------------------------------------- */

enum { NESTED_MAX = 4096, STEPS_MAX = 32 };

/*
 * A call and all that it made, sorted: a chain of entries. Those side by side are in order, so whatever comes stands before
 * the last few of them, which become its own, or inside the last one.
 */
struct chain {
	uint16_t head, tail;
};

struct nester {
	const struct fx_entry *entries;
	size_t chain_count;
	struct chain chains[NESTED_MAX];
	uint16_t
	    next[NESTED_MAX]; /* of each entry but the last of a chain: what stands behind it */
	struct fx_entry sorted[NESTED_MAX];
};

/* Puts an entry into a chain that begins before it and ends behind it. False: too far from its head. */
static bool nest_inside(struct nester *nester, const struct chain *chain, uint16_t at)
{
	const struct fx_entry *entries = nester->entries;
	uint16_t before = chain->head;

	for (unsigned steps = 0; entries[nester->next[before]].ts <= entries[at].ts; steps++) {
		if (steps == STEPS_MAX)
			return false;
		before = nester->next[before];
	}
	nester->next[at] = nester->next[before];
	nester->next[before] = at;
	return true;
}

static bool nest_entry(struct nester *nester, uint16_t at)
{
	const struct fx_entry *entries = nester->entries;
	uint64_t ts = entries[at].ts;
	uint16_t head = at,
		 tail = at; /* of what becomes its own, from the last chain to the first */
	struct chain *last;

	for (; nester->chain_count > 0; nester->chain_count--) {
		last = &nester->chains[nester->chain_count - 1];
		if (entries[last->head].ts <= ts)
			break;
		if (head == at)
			tail = last->tail;
		else
			nester->next[last->tail] = head;
		head = last->head;
	}
	if (nester->chain_count > 0 && entries[last->tail].ts > ts)
		return head == at && nest_inside(nester, last, at);
	if (head != at)
		nester->next[at] = head;
	nester->chains[nester->chain_count++] = (struct chain){at, tail};
	return true;
}

static void nest_write(struct nester *nester, struct fx_entry *entries, size_t count)
{
	size_t put = 0;

	for (size_t i = 0; i < nester->chain_count; i++) {
		const struct chain *chain = &nester->chains[i];

		for (uint16_t at = chain->head;; at = nester->next[at]) {
			nester->sorted[put++] = entries[at];
			if (at == chain->tail)
				break;
		}
	}
	memcpy(entries, nester->sorted, count * sizeof(*entries));
}

/* Sorts entries of which that is true, at once; false: they are as they were. */
static bool sort_nested(struct fx_entry *entries, size_t count)
{
	struct nester nester;

	if (count > NESTED_MAX)
		return false;
	nester.entries = entries;
	nester.chain_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!nest_entry(&nester, (uint16_t)i))
			return false;
	}
	if (nester.chain_count < count)
		nest_write(&nester, entries, count);
	return true;
}

int fx_entries_sort(struct fx_entry *entries, size_t count)
{
	struct sorter sorter = {0};
	int r;

	if (sort_nested(entries, count))
		return 0;
	r = sort_range(&sorter, entries, count);
	fx_vector_free(&sorter.spare);
	return r;
}

static int sort_entries(void *items, size_t count)
{
	return fx_entries_sort(items, count);
}

static int compare_asyncs(const void *a, const void *b)
{
	const struct fx_async_entry *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->word < right->word ? -1 : left->word > right->word;
}

static int compare_scheds(const void *a, const void *b)
{
	const struct fx_sched_entry *left = a, *right = b;

	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->word < right->word ? -1 : left->word > right->word;
}

const struct fx_runs_kind fx_entries_kind = {
    .size = sizeof(struct fx_entry),
    .sort = sort_entries,
};
const struct fx_runs_kind fx_asyncs_kind = {
    .size = sizeof(struct fx_async_entry),
    .compare = compare_asyncs,
};
const struct fx_runs_kind fx_scheds_kind = {
    .size = sizeof(struct fx_sched_entry),
    .compare = compare_scheds,
};
