/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "why/tree.h"

enum { NODES_MAX = 200000 };

static int tree_add_node(struct fx_why_tree *tree, uint32_t parent, const struct fx_why_what *what)
{
	if (fx_vector_reserve(&tree->nodes, 1) < 0)
		return -ENOMEM;
	tree->nodes.items[tree->nodes.count++] =
	    (struct fx_why_node){.what = *what, .parent = parent};
	return 0;
}

int fx_why_tree_begin(struct fx_why_tree *tree, uint32_t thread)
{
	*tree = (struct fx_why_tree){.keys.limit = NODES_MAX};
	return tree_add_node(tree, FX_WHY_ROOT,
			     &(struct fx_why_what){.kind = FX_WHY_THREAD, .thread = thread});
}

void fx_why_tree_free(struct fx_why_tree *tree)
{
	fx_keys_free(&tree->keys);
	fx_vector_free(&tree->nodes);
}

uint32_t fx_why_tree_child(struct fx_why_tree *tree, uint32_t parent,
			   const struct fx_why_what *what)
{
	struct fx_key key = {
	    .address = (uint64_t)what->object << 32 | what->caller,
	    .numbers = {parent, what->kind | (uint32_t)what->is_perhaps << 8, what->thread,
			what->name},
	};
	size_t number;

	/* What has a number has its place. */
	if (fx_vector_reserve(&tree->nodes, 1) < 0) {
		tree->is_cut = true;
		return parent;
	}
	number = fx_keys_number(&tree->keys, key);
	if (number == FX_KEY_NONE) {
		tree->is_cut = true;
		return parent;
	}
	/* The root has no key. */
	if (number + 1 == tree->nodes.count)
		tree_add_node(tree, parent, what);
	return (uint32_t)number + 1;
}

void fx_why_tree_add(struct fx_why_tree *tree, uint32_t node, uint64_t ns)
{
	tree->nodes.items[node].self += ns;
}

void fx_why_tree_count(struct fx_why_tree *tree, uint32_t node, uint64_t ts, uint64_t ns)
{
	struct fx_why_node *it = &tree->nodes.items[node];

	it->count++;
	if (ns >= it->longest) {
		it->longest = ns;
		it->longest_at = ts;
	}
}

void fx_why_tree_sum(struct fx_why_tree *tree)
{
	struct fx_why_node *nodes = tree->nodes.items;

	for (size_t i = tree->nodes.count; i-- > 0;) {
		nodes[i].total += nodes[i].self;
		if (i > 0)
			nodes[nodes[i].parent].total += nodes[i].total;
	}
}
