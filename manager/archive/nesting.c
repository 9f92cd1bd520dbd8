/* SPDX-License-Identifier: MIT */
#include "manager/archive/nesting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct fx_nesting_block {
	struct fx_nesting_block *prev, *next;	  /* of the thread's */
	struct fx_nesting_block *older, *younger; /* of all */
	struct fx_nesting *owner;
	uint64_t before; /* the last end of what the thread called before */
	uint64_t first_start, last_end;
	uint32_t count;
	struct fx_interval calls[FX_NESTING_BLOCK];
};

/* --- All calls ------------------------------------------------------------------------------- */

static void block_take_off(struct fx_nesting_memory *m, struct fx_nesting_block *b)
{
	DL_DELETE(b->owner->blocks, b);
	DL_DELETE2(m->blocks, b, older, younger);
	m->count--;
}

/* A new block, or the oldest of all; NULL without memory. */
static struct fx_nesting_block *block_get(struct fx_nesting *n, struct fx_nesting_memory *m)
{
	struct fx_nesting_block *b = NULL;

	if (m->count < FX_NESTING_BLOCKS)
		b = malloc(sizeof(*b));
	if (!b) {
		b = m->blocks;
		if (!b)
			return NULL;
		block_take_off(m, b);
	}
	m->looked -= m->looked < FX_NESTING_BLOCK * FX_NESTING_LOOKS_PER_CALL
			 ? m->looked
			 : FX_NESTING_BLOCK * FX_NESTING_LOOKS_PER_CALL;
	b->owner = n;
	b->before = n->last_end;
	b->first_start = UINT64_MAX;
	b->last_end = 0;
	b->count = 0;
	DL_APPEND(n->blocks, b);
	DL_APPEND2(m->blocks, b, older, younger);
	m->count++;
	return b;
}

void fx_nesting_note(struct fx_nesting *n, struct fx_nesting_memory *m, uint64_t start,
		     uint64_t end)
{
	struct fx_nesting_block *b = n->blocks ? n->blocks->prev : NULL;

	if (!b || b->count == FX_NESTING_BLOCK)
		b = block_get(n, m);
	if (end > n->last_end)
		n->last_end = end;
	if (!b)
		return;
	b->calls[b->count++] = (struct fx_interval){start, end};
	if (start < b->first_start)
		b->first_start = start;
	if (end > b->last_end)
		b->last_end = end;
}

/* Of two that begin together the one that comes first is taken for the outer one. */
static bool crosses(struct fx_interval before, uint64_t start, uint64_t end)
{
	if (before.start <= start)
		return before.end > start && before.end < end;
	return before.start < end && before.end > end;
}

static bool block_crosses(const struct fx_nesting_block *b, struct fx_nesting_memory *m,
			  uint64_t start, uint64_t end)
{
	m->looked++;
	if (b->last_end <= start || b->first_start >= end)
		return false;
	if (b->first_start > start && b->last_end <= end)
		return false; /* all lie in it */
	m->looked += b->count;
	for (uint32_t i = 0; i < b->count; i++) {
		if (crosses(b->calls[i], start, end))
			return true;
	}
	return false;
}

/* Whether it crosses one that is known, or there are too many to look at. *ret_before: what is forgotten has ended by
 * then, and matters if that is later than `start`. */
static bool crosses_known(const struct fx_nesting *n, struct fx_nesting_memory *m, uint64_t start,
			  uint64_t end, uint64_t *ret_before)
{
	const struct fx_nesting_block *b = n->blocks ? n->blocks->prev : NULL;

	*ret_before = n->last_end;
	while (b && *ret_before > start) {
		if (m->looked > FX_NESTING_LOOKS || block_crosses(b, m, start, end))
			return true;
		*ret_before = b->before;
		b = b == n->blocks ? NULL : b->prev;
	}
	return false;
}

/* Whether it crosses one that is known, or may cross one that is forgotten or too many to look at. */
static bool may_cross(const struct fx_nesting *n, struct fx_nesting_memory *m, uint64_t start,
		      uint64_t end)
{
	uint64_t before;

	return crosses_known(n, m, start, end, &before) || before > start;
}

/* --- The outermost --------------------------------------------------------------------------- */

/* Makes room for one more. False: without memory. */
static bool outer_reserve(struct fx_nesting *n)
{
	uint32_t room = n->outer_room ? 2 * n->outer_room : 8;
	struct fx_interval *outer;

	if (n->outer_count < n->outer_room)
		return true;
	if (n->outer_room == FX_NESTING_OUTER) {
		/* Half of them at once: what is moved is little for each. */
		n->outer_count -= FX_NESTING_OUTER / 2;
		n->forgotten_end = n->outer[FX_NESTING_OUTER / 2 - 1].end;
		memmove(n->outer, n->outer + FX_NESTING_OUTER / 2,
			n->outer_count * sizeof(*n->outer));
		return true;
	}
	outer = realloc(n->outer, room * sizeof(*outer));
	if (!outer)
		return false;
	n->outer = outer;
	n->outer_room = room;
	return true;
}

/* Puts a call in its place; those that lie in it are no longer outermost. */
static void outer_put(struct fx_nesting *n, uint64_t start, uint64_t end)
{
	uint32_t first, last;

	if (!outer_reserve(n)) {
		n->forgotten_end = end > n->forgotten_end ? end : n->forgotten_end;
		return;
	}
	last = n->outer_count;
	while (last && n->outer[last - 1].start >= end && n->outer[last - 1].end > end)
		last--;
	first = last;
	while (first && n->outer[first - 1].start >= start && n->outer[first - 1].end <= end)
		first--;
	if (first && n->outer[first - 1].end >= end)
		return; /* it lies in one itself */
	memmove(&n->outer[first + 1], &n->outer[last], (n->outer_count - last) * sizeof(*n->outer));
	n->outer[first] = (struct fx_interval){start, end};
	n->outer_count = n->outer_count - (last - first) + 1;
}

/* --- Verdicts -------------------------------------------------------------------------------- */

/* Between outermost calls that are known, or around some of them: then it crosses nothing that lies in these. So most calls come
 * that a handler's are ahead of, whose chunk is read up to the newest while others of the thread wait for their turn. */
static bool lies_among_outer(const struct fx_nesting *n, uint64_t start, uint64_t end)
{
	uint32_t i = n->outer_count;

	if (start < n->forgotten_end)
		return false;
	while (i && n->outer[i - 1].start >= end)
		i--;
	while (i && n->outer[i - 1].start > start && n->outer[i - 1].end <= end)
		i--;
	return !i || n->outer[i - 1].end <= start;
}

/* Somewhere in what is known. Calls that are open at the end all have the last one's end, and come from the outermost on: what is
 * forgotten says nothing against them either. */
static enum fx_nesting_verdict take_inside(const struct fx_nesting *n, struct fx_nesting_memory *m,
					   uint64_t start, uint64_t end)
{
	uint64_t before;
	bool is_crossing;

	if (lies_among_outer(n, start, end))
		return FX_NESTING_WHOLE;
	is_crossing = end == n->last_end ? crosses_known(n, m, start, end, &before)
					 : may_cross(n, m, start, end);
	return is_crossing ? FX_NESTING_OUT : FX_NESTING_WHOLE;
}

/* After all that is known, beginning before the outermost calls that are: whose callees were too many to remember, or one
 * that crosses them. What is forgotten altogether says nothing against it. */
static enum fx_nesting_verdict take_around(const struct fx_nesting *n, struct fx_nesting_memory *m,
					   uint64_t start, uint64_t end)
{
	uint64_t before;

	return start < n->forgotten_end && crosses_known(n, m, start, end, &before)
		   ? FX_NESTING_OUT
		   : FX_NESTING_WHOLE;
}

/* In the order of ends. */
static enum fx_nesting_verdict take_next(const struct fx_nesting *n, struct fx_nesting_memory *m,
					 uint64_t *start, uint64_t end)
{
	uint32_t i = n->outer_count;

	while (i && n->outer[i - 1].start > *start)
		i--;
	if (!i)
		return take_around(n, m, *start, end);
	if (n->outer[i - 1].end <= *start)
		return FX_NESTING_WHOLE;
	if (n->outer[i - 1].end >= end)
		return take_inside(n, m, *start, end);
	/* The same call again, as far as can be known; what is left of it says nothing. */
	if (n->outer[i - 1].start == *start)
		return FX_NESTING_OUT;
	*start = n->outer[i - 1].end;
	/* What begins where it does now comes before it, and would be taken for its caller. */
	for (; i < n->outer_count && n->outer[i].start == *start; i++)
		*start = n->outer[i].end;
	return *start < end ? FX_NESTING_CUT : FX_NESTING_OUT;
}

enum fx_nesting_verdict fx_nesting_slow(struct fx_nesting *n, struct fx_nesting_memory *m,
					uint64_t *start, uint64_t end)
{
	enum fx_nesting_verdict verdict = FX_NESTING_WHOLE;
	const struct fx_interval *newest = n->outer_count ? &n->outer[n->outer_count - 1] : NULL;

	if (newest && (end > newest->end || (end == newest->end && *start <= newest->start))) {
		verdict = take_next(n, m, start, end);
	} else if (newest) {
		verdict = take_inside(n, m, *start, end);
	}
	if (verdict == FX_NESTING_OUT)
		return verdict;
	outer_put(n, *start, end);
	fx_nesting_note(n, m, *start, end);
	return verdict;
}

void fx_nesting_clear(struct fx_nesting *n, struct fx_nesting_memory *m)
{
	struct fx_nesting_block *b, *next;

	DL_FOREACH_SAFE(n->blocks, b, next)
	{
		/* cppcheck-suppress uninitvar */
		block_take_off(m, b);
		free(b);
	}
	free(n->outer);
	*n = (struct fx_nesting){0};
}
