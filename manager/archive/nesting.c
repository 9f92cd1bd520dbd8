/* SPDX-License-Identifier: MIT */
#include "manager/archive/nesting.h"

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
	uint16_t level; /* the deepest of them */
	uint16_t levels[FX_NESTING_BLOCK];
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
		fx_peaks_note(&b->owner->forgotten, b->last_end, b->level);
	}
	m->looked -= m->looked < FX_NESTING_BLOCK * FX_NESTING_LOOKS_PER_CALL
			 ? m->looked
			 : FX_NESTING_BLOCK * FX_NESTING_LOOKS_PER_CALL;
	b->owner = n;
	b->before = n->last_end;
	b->first_start = UINT64_MAX;
	b->last_end = 0;
	b->count = 0;
	b->level = 0;
	DL_APPEND(n->blocks, b);
	DL_APPEND2(m->blocks, b, older, younger);
	m->count++;
	return b;
}

void fx_nesting_note(struct fx_nesting *n, struct fx_nesting_memory *m, const struct fx_outer *call)
{
	struct fx_nesting_block *b = n->blocks ? n->blocks->prev : NULL;

	if (!b || b->count == FX_NESTING_BLOCK)
		b = block_get(n, m);
	if (call->end > n->last_end)
		n->last_end = call->end;
	if (!b)
		return;
	b->levels[b->count] = (uint16_t)call->level;
	b->calls[b->count++] = (struct fx_interval){call->start, call->end};
	if (call->start < b->first_start)
		b->first_start = call->start;
	if (call->end > b->last_end)
		b->last_end = call->end;
	if (call->level > b->level)
		b->level = (uint16_t)call->level;
}

/* A call in a block. */
struct place {
	struct fx_nesting_block *block;
	uint32_t at;
};

/* What is looked for a call among those that are known, and found. */
struct look {
	uint64_t start, end;
	uint64_t
	    before; /* what is forgotten has ended by then, and matters if that is later than `start` */
	uint32_t level;				/* the deepest of those that lie in it, 0 none */
	uint32_t count;				/* of those that it lies in */
	struct place around[FX_NESTING_LEVELS]; /* the innermost first */
};

/* Of two that begin together the one that comes first is taken for the outer one. */
static bool crosses(struct fx_interval before, uint64_t start, uint64_t end)
{
	if (before.start <= start)
		return before.end > start && before.end < end;
	return before.start < end && before.end > end;
}

static void look_note_level(struct look *l, uint32_t level)
{
	if (level > l->level)
		l->level = level;
}

static uint64_t place_start(const struct place *p)
{
	return p->block->calls[p->at].start;
}

static void look_note_around(struct look *l, struct place place)
{
	uint32_t at = l->count;

	if (at == FX_NESTING_LEVELS)
		return; /* too deep anyway */
	for (; at && place_start(&l->around[at - 1]) < place_start(&place); at--)
		l->around[at] = l->around[at - 1];
	l->around[at] = place;
	l->count++;
}

/* False: it crosses one. */
static bool look_in_block(struct look *l, struct fx_nesting_block *b, struct fx_nesting_memory *m)
{
	m->looked++;
	if (b->last_end <= l->start || b->first_start >= l->end)
		return true;
	if (b->first_start > l->start && b->last_end <= l->end) {
		look_note_level(l, b->level); /* all lie in it */
		return true;
	}
	m->looked += b->count;
	for (uint32_t i = 0; i < b->count; i++) {
		struct fx_interval call = b->calls[i];

		if (crosses(call, l->start, l->end))
			return false;
		if (call.start <= l->start && call.end >= l->end) {
			look_note_around(l, (struct place){b, i});
		} else if (call.start >= l->start && call.end <= l->end) {
			look_note_level(l, b->levels[i]);
		}
	}
	return true;
}

/* Looks at all that are known. False: it crosses one, or there are too many to look at. */
static bool look_at_known(struct look *l, const struct fx_nesting *n, struct fx_nesting_memory *m)
{
	struct fx_nesting_block *b = n->blocks ? n->blocks->prev : NULL;

	l->before = n->last_end;
	while (b && l->before > l->start) {
		if (m->looked > FX_NESTING_LOOKS || !look_in_block(l, b, m))
			return false;
		l->before = b->before;
		b = b == n->blocks ? NULL : b->prev;
	}
	return true;
}

/* --- The outermost --------------------------------------------------------------------------- */

static void forget_outer(struct fx_nesting *n, const struct fx_outer *call)
{
	if (call->end > n->forgotten_end)
		n->forgotten_end = call->end;
	fx_peaks_note(&n->forgotten, call->end, call->level);
}

/* Makes room for one more. False: without memory. */
static bool outer_reserve(struct fx_nesting *n)
{
	uint32_t room = n->outer_room ? 2 * n->outer_room : 8;
	struct fx_outer *outer;

	if (n->outer_count < n->outer_room)
		return true;
	if (n->outer_room == FX_NESTING_OUTER) {
		/* Half of them at once: what is moved is little for each. */
		for (uint32_t i = 0; i < FX_NESTING_OUTER / 2; i++)
			forget_outer(n, &n->outer[i]);
		n->outer_count -= FX_NESTING_OUTER / 2;
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
static void outer_put(struct fx_nesting *n, const struct fx_outer *call)
{
	uint32_t first, last;

	if (!outer_reserve(n)) {
		forget_outer(n, call);
		return;
	}
	last = n->outer_count;
	while (last && n->outer[last - 1].start >= call->end && n->outer[last - 1].end > call->end)
		last--;
	first = last;
	while (first && n->outer[first - 1].start >= call->start &&
	       n->outer[first - 1].end <= call->end)
		first--;
	if (first && n->outer[first - 1].end >= call->end) {
		/* It lies in one itself. */
		if (n->outer[first - 1].level < call->level)
			n->outer[first - 1].level = call->level;
		return;
	}
	memmove(&n->outer[first + 1], &n->outer[last], (n->outer_count - last) * sizeof(*n->outer));
	n->outer[first] = *call;
	n->outer_count = n->outer_count - (last - first) + 1;
}

/* The levels of outermost calls that lie in it, of which it crosses none. */
static void look_at_outer(struct look *l, const struct fx_nesting *n)
{
	for (uint32_t i = n->outer_count; i && n->outer[i - 1].start >= l->start; i--) {
		if (n->outer[i - 1].end <= l->end)
			look_note_level(l, n->outer[i - 1].level);
	}
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
static enum fx_nesting_verdict take_inside(struct look *l, const struct fx_nesting *n,
					   struct fx_nesting_memory *m)
{
	if (lies_among_outer(n, l->start, l->end)) {
		look_at_outer(l, n);
		return FX_NESTING_WHOLE;
	}
	if (!look_at_known(l, n, m))
		return FX_NESTING_OUT;
	if (l->before <= l->start)
		return FX_NESTING_WHOLE;
	look_note_level(l, fx_peaks_since(&n->forgotten, l->start + 1));
	return l->end == n->last_end ? FX_NESTING_WHOLE : FX_NESTING_OUT;
}

/* After all that is known, beginning before the outermost calls that are: whose callees were too many to remember, or one
 * that crosses them. What is forgotten altogether says nothing against it. */
static enum fx_nesting_verdict take_around(struct look *l, const struct fx_nesting *n,
					   struct fx_nesting_memory *m)
{
	look_at_outer(l, n);
	if (l->start >= n->forgotten_end)
		return FX_NESTING_WHOLE;
	look_note_level(l, fx_peaks_since(&n->forgotten, l->start + 1));
	return look_at_known(l, n, m) ? FX_NESTING_WHOLE : FX_NESTING_OUT;
}

/* In the order of ends. */
static enum fx_nesting_verdict take_next(struct look *l, const struct fx_nesting *n,
					 struct fx_nesting_memory *m)
{
	uint32_t i = n->outer_count;

	while (i && n->outer[i - 1].start > l->start)
		i--;
	if (!i)
		return take_around(l, n, m);
	if (n->outer[i - 1].end >= l->end && n->outer[i - 1].end > l->start)
		return take_inside(l, n, m);
	look_at_outer(l, n);
	if (n->outer[i - 1].end <= l->start)
		return FX_NESTING_WHOLE;
	/* The same call again, as far as can be known; what is left of it says nothing. */
	if (n->outer[i - 1].start == l->start)
		return FX_NESTING_OUT;
	l->start = n->outer[i - 1].end;
	/* What begins where it does now comes before it, and would be taken for its caller. */
	for (; i < n->outer_count && n->outer[i].start == l->start; i++)
		l->start = n->outer[i].end;
	return l->start < l->end ? FX_NESTING_CUT : FX_NESTING_OUT;
}

/* Tells those that it lies in how deep they are by it. False: that is too deep. `level`: its own, as if it lay in none. */
static bool look_raise(const struct look *l, uint32_t level)
{
	if (level + l->count > FX_NESTING_LEVELS)
		return false;
	for (uint32_t i = 0; i < l->count; i++) {
		struct fx_nesting_block *b = l->around[i].block;

		level++;
		if (b->levels[l->around[i].at] < level)
			b->levels[l->around[i].at] = (uint16_t)level;
		if (b->level < level)
			b->level = (uint16_t)level;
	}
	return true;
}

enum fx_nesting_verdict fx_nesting_slow(struct fx_nesting *n, struct fx_nesting_memory *m,
					uint64_t *start, uint64_t end, uint32_t begun)
{
	enum fx_nesting_verdict verdict = FX_NESTING_WHOLE;
	const struct fx_outer *newest = n->outer_count ? &n->outer[n->outer_count - 1] : NULL;
	struct fx_outer call;
	struct look l;

	l.start = *start;
	l.end = end;
	l.level = l.count = 0;
	if (newest && (end > newest->end || (end == newest->end && *start <= newest->start)))
		verdict = take_next(&l, n, m);
	else if (newest)
		verdict = take_inside(&l, n, m);
	if (verdict == FX_NESTING_OUT)
		return verdict;
	look_note_level(&l, begun);
	if (!look_raise(&l, l.level + 1))
		return FX_NESTING_DEEP;
	*start = l.start;
	call = (struct fx_outer){l.start, end, l.level + 1};
	fx_nesting_note(n, m, &call);
	call.level += l.count;
	outer_put(n, &call);
	return verdict;
}

bool fx_nesting_begin(struct fx_nesting *n, struct fx_nesting_memory *m, uint64_t ns,
		      uint32_t begun)
{
	struct look l;

	l.start = l.end = ns;
	l.level = l.count = 0;
	if (begun >= FX_NESTING_LEVELS)
		return false;
	if (ns >= n->last_end)
		return true;
	if (!look_at_known(&l, n, m) || !look_raise(&l, begun + 1))
		return false;
	for (uint32_t i = n->outer_count; l.count && i && n->outer[i - 1].end >= ns; i--) {
		if (n->outer[i - 1].start <= ns && n->outer[i - 1].level < begun + 1 + l.count)
			n->outer[i - 1].level = begun + 1 + l.count;
	}
	return true;
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
	fx_peaks_clear(&n->forgotten);
	free(n->outer);
	*n = (struct fx_nesting){0};
}
