/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>

#include "report/uses.h"

struct arrow_begin {
	uint64_t chain;
	uint64_t thread;
};

struct arrow_end {
	uint64_t chain;
	uint64_t at, number; /* of the use */
};

struct arrow_origin {
	uint64_t at, number;
	uint64_t thread;
};

/* --- Order ------------------------------------------------------------------------------------ */

static int uses_compare_two(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	if (a != b)
		return a < b ? -1 : 1;
	return c < d ? -1 : c > d;
}

static int uses_compare(const void *a, const void *b)
{
	const struct fx_use *left = a, *right = b;

	return uses_compare_two(left->at, right->at, left->number, right->number);
}

static int uses_compare_begins(const void *a, const void *b)
{
	const struct arrow_begin *left = a, *right = b;

	return uses_compare_two(left->chain, right->chain, left->thread, right->thread);
}

static int uses_compare_ends(const void *a, const void *b)
{
	const struct arrow_end *left = a, *right = b;

	return uses_compare_two(left->chain, right->chain, left->number, right->number);
}

static int uses_compare_origins(const void *a, const void *b)
{
	const struct arrow_origin *left = a, *right = b;

	return uses_compare_two(left->at, right->at, left->number, right->number);
}

static const struct fx_runs_kind uses_kind = {sizeof(struct fx_use), uses_compare, NULL};
static const struct fx_runs_kind begins_kind = {sizeof(struct arrow_begin), uses_compare_begins,
						NULL};
static const struct fx_runs_kind ends_kind = {sizeof(struct arrow_end), uses_compare_ends, NULL};
static const struct fx_runs_kind origins_kind = {sizeof(struct arrow_origin), uses_compare_origins,
						 NULL};

/* --- What is added ---------------------------------------------------------------------------- */

void fx_uses_init(struct fx_uses *uses, struct fx_runs_pool *pool)
{
	*uses = (struct fx_uses){.count = 0};
	fx_runs_init(&uses->uses, pool, &uses_kind);
	fx_runs_init(&uses->begins, pool, &begins_kind);
	fx_runs_init(&uses->ends, pool, &ends_kind);
	fx_runs_init(&uses->origins, pool, &origins_kind);
}

void fx_uses_free(struct fx_uses *uses)
{
	fx_runs_release(&uses->uses);
	fx_runs_release(&uses->begins);
	fx_runs_release(&uses->ends);
	fx_runs_release(&uses->origins);
}

uint64_t fx_uses_add(struct fx_uses *uses, const struct fx_use *use)
{
	struct fx_use *item = fx_runs_add(&uses->uses);

	if (!item)
		return UINT64_MAX;
	*item = *use;
	item->number = uses->count++;
	return item->number;
}

int fx_uses_arrow_begins(struct fx_uses *uses, uint64_t chain, uint32_t thread)
{
	struct arrow_begin *item = fx_runs_add(&uses->begins);

	if (!item)
		return -ENOMEM;
	*item = (struct arrow_begin){chain, thread};
	return 0;
}

int fx_uses_arrow_ends(struct fx_uses *uses, uint64_t chain, uint64_t at, uint64_t number)
{
	struct arrow_end *item = fx_runs_add(&uses->ends);

	if (!item)
		return -ENOMEM;
	*item = (struct arrow_end){chain, at, number};
	return 0;
}

/* --- Arrows, from begin to end ---------------------------------------------------------------- */

static int uses_join_merged(struct fx_uses *uses, struct fx_merge *begins, struct fx_merge *ends)
{
	const struct arrow_begin *begin = fx_merge_first(begins);
	const struct arrow_end *end;
	struct arrow_origin *origin;

	for (end = fx_merge_first(ends); end; end = fx_merge_next(ends)) {
		while (begin && begin->chain < end->chain)
			begin = fx_merge_next(begins);
		if (!begin || begin->chain != end->chain)
			continue;
		origin = fx_runs_add(&uses->origins);
		if (!origin)
			return -ENOMEM;
		*origin = (struct arrow_origin){end->at, end->number, begin->thread};
	}
	return begins->error < 0 ? begins->error : ends->error;
}

static int uses_join(struct fx_uses *uses)
{
	struct fx_merge begins = {0}, ends = {0};
	int r = fx_merge_begin(&begins, &uses->begins);

	if (r == 0)
		r = fx_merge_begin(&ends, &uses->ends);
	if (r == 0)
		r = uses_join_merged(uses, &begins, &ends);
	fx_merge_end(&begins);
	fx_merge_end(&ends);
	return r;
}

/* --- In order of time ------------------------------------------------------------------------- */

int fx_uses_begin(struct fx_uses *uses, struct fx_uses_walk *walk)
{
	int r = uses_join(uses);

	*walk = (struct fx_uses_walk){.origin = NULL};
	if (r == 0)
		r = fx_merge_begin(&walk->uses, &uses->uses);
	if (r == 0)
		r = fx_merge_begin(&walk->origins, &uses->origins);
	return r;
}

/* Several arrows may end in one use: the last of them let it go on. */
static uint32_t uses_origin(struct fx_uses_walk *walk, const struct fx_use *use)
{
	const struct arrow_origin *origin = walk->origin;
	uint32_t from = 0;

	while (origin && uses_compare_two(origin->at, use->at, origin->number, use->number) <= 0) {
		if (origin->number == use->number)
			from = 1 + (uint32_t)origin->thread;
		walk->origin = origin = fx_merge_next(&walk->origins);
	}
	return from;
}

const struct fx_use *fx_uses_first(struct fx_uses_walk *walk, uint32_t *ret_from)
{
	const struct fx_use *use = fx_merge_first(&walk->uses);

	walk->origin = fx_merge_first(&walk->origins);
	*ret_from = use ? uses_origin(walk, use) : 0;
	return use;
}

const struct fx_use *fx_uses_next(struct fx_uses_walk *walk, uint32_t *ret_from)
{
	const struct fx_use *use = fx_merge_next(&walk->uses);

	*ret_from = use ? uses_origin(walk, use) : 0;
	return use;
}

int fx_uses_end(struct fx_uses_walk *walk)
{
	int r = walk->uses.error < 0 ? walk->uses.error : walk->origins.error;

	fx_merge_end(&walk->uses);
	fx_merge_end(&walk->origins);
	return r;
}
