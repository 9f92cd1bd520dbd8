/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "report/lives.h"

/* A process on the chain, which is being followed back in time. */
struct link {
	size_t number;
	uint64_t until;
	size_t child; /* the next one to be looked at: number + 1 */
};

struct following {
	const struct fx_life *lives;
	struct fx_chain *chain;
	FX_VECTOR(struct link) links;
};

static bool chain_add_stretch(struct following *f, size_t number, uint64_t from, uint64_t to)
{
	if (from >= to)
		return true;
	if (fx_vector_reserve(&f->chain->stretches, 1) < 0)
		return false;
	f->chain->total += to - from;
	f->chain->stretches.items[f->chain->stretches.count++] =
	    (struct fx_stretch){number, from, to};
	return true;
}

static bool chain_enter(struct following *f, size_t number, uint64_t until)
{
	if (fx_vector_reserve(&f->links, 1) < 0)
		return false;
	f->links.items[f->links.count++] = (struct link){number, until, f->lives[number].last_done};
	return true;
}

/* One step back in time. False: no memory. */
static bool chain_step(struct following *f)
{
	const struct fx_life *items = f->lives;
	struct link *link = &f->links.items[f->links.count - 1];
	const struct fx_life *child;
	size_t at;

	while (link->child && items[link->child - 1].end > link->until)
		link->child = items[link->child - 1].done_before;
	at = link->child;
	if (!at) {
		size_t number = link->number;
		uint64_t until = link->until;

		f->links.count--;
		return chain_add_stretch(f, number, items[number].begin, until);
	}
	child = &items[at - 1];
	if (!chain_add_stretch(f, link->number, child->end, link->until))
		return false;
	link->until = child->begin;
	link->child = child->done_before;
	return chain_enter(f, at - 1, child->end);
}

int fx_chain_find(struct fx_chain *chain, const struct fx_lives *lives, const struct fx_life *roots)
{
	struct following f = {.lives = lives->items.items, .chain = chain};
	bool ok;

	if (!roots->first || !(f.lives[roots->first - 1].next || f.lives[roots->first - 1].first))
		return 0;
	ok = chain_enter(&f, roots->last_done - 1, f.lives[roots->last_done - 1].end);
	while (ok && f.links.count > 0)
		ok = chain_step(&f);
	fx_vector_free(&f.links);
	return ok ? 0 : -ENOMEM;
}

void fx_chain_free(struct fx_chain *chain)
{
	fx_vector_free(&chain->stretches);
}
