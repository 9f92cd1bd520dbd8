/* SPDX-License-Identifier: MIT */
/* What the files of an answer share: what was asked of, what was found, and how it becomes tables. */
#ifndef FX_WHY_WHY_INTERNAL_H
#define FX_WHY_WHY_INTERNAL_H

#include "why/past.h"
#include "why/path.h"
#include "why/why.h"

struct fx_why {
	struct fx_timeline *timeline;
	const struct fx_why_order *order;
	struct fx_why_past past;
	struct fx_why_path path;
	struct fx_why_ready ready;
	bool is_empty;	 /* there is nothing to ask about */
	uint64_t others; /* threads or slices that were asked for as well */
	uint32_t thread;
	uint64_t from, to;
	FX_VECTOR(struct fx_table *) tables;
};

/* The time that shares are of. */
static inline uint64_t fx_why_whole(const struct fx_why *why)
{
	return why->path.tree.nodes.items[FX_WHY_ROOT].total;
}

/* The thread that did it, or waited. */
static inline const struct fx_thread *fx_why_thread_of(const struct fx_why *why, uint32_t node)
{
	const struct fx_why_node *nodes = why->path.tree.nodes.items;

	while (node != FX_WHY_ROOT && nodes[node].what.kind != FX_WHY_THREAD)
		node = nodes[node].parent;
	return why->timeline->threads.items[nodes[node].what.thread];
}

/* Finds the thread and the range that are asked about. Returns 0 or -errno, as fx_why_make() does. */
int fx_why_choose(struct fx_why *why, const char **ret_wrong);

/* Makes the tables. Returns 0 or -ENOMEM. */
int fx_why_answer(struct fx_why *why);

/* A way through the tree, each node before those below it, siblings by their time. */
struct fx_why_order_of {
	const struct fx_why_tree *tree;
	uint32_t *sorted; /* nodes, siblings together */
	uint32_t *next;	  /* of each node: where its next child stands, + 1; 0: it has none */
	uint32_t at;
	unsigned depth;
	bool has_begun;
};

/* Returns 0 or -ENOMEM; to be ended either way. */
int fx_why_order_begin(struct fx_why_order_of *order, const struct fx_why_tree *tree);

/* Goes on to the next node, but not to those below this one unless it is to. False: there is none. */
bool fx_why_order_next(struct fx_why_order_of *order, bool goes_down);

void fx_why_order_end(struct fx_why_order_of *order);

#endif
