/* SPDX-License-Identifier: MIT */
/*
 * Calls as a tree: each way by which calls led to one another is a path, on which the calls of all threads are merged.
 * Paths beyond --max-paths are merged below their parent.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/keys.h"
#include "report/report.h"
#include "report/section.h"
#include "report/units.h"

#define PATH_NONE UINT32_MAX

/* Its number is larger than its parent's. 0 is the root of all. */
struct tree_path {
	uint32_t parent;
	uint32_t name;
	bool is_rest; /* stands for all further paths below its parent */
	uint64_t calls, total, self;
};

struct tree {
	struct fx_report *report;
	struct fx_keys
	    keys; /* of each path but the root, whose number is one more: parent, name, is_rest */
	FX_VECTOR(struct tree_path) paths;
	FX_VECTOR(uint32_t) open; /* the path of each call that is open */
	uint64_t merged;	  /* calls of paths that are not told apart */
	uint64_t unfinished;
};

static struct fx_key tree_key(uint32_t parent, uint32_t name, bool is_rest)
{
	return (struct fx_key){.numbers = {parent, name, is_rest}};
}

/* PATH_NONE: no memory. */
static uint32_t tree_add(struct tree *tree, uint32_t parent, uint32_t name, bool is_rest)
{
	size_t number;

	/* A path that was found has its place. */
	if (fx_vector_reserve(&tree->paths, 1) < 0)
		return PATH_NONE;
	number = fx_keys_number(&tree->keys, tree_key(parent, name, is_rest));
	if (number == FX_KEY_NONE)
		return PATH_NONE;
	if (number + 1 == tree->paths.count)
		tree->paths.items[tree->paths.count++] =
		    (struct tree_path){.parent = parent, .name = name, .is_rest = is_rest};
	return (uint32_t)number + 1;
}

static void tree_destroy(void *section)
{
	struct tree *tree = section;

	fx_keys_free(&tree->keys);
	fx_vector_free(&tree->paths);
	fx_vector_free(&tree->open);
	free(tree);
}

static void *tree_create(struct fx_report *report)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->report = report;
	/* Each path has one for the rest at most. */
	tree->keys.limit = 2 * fx_report_order(report)->paths + 1;
	if (fx_vector_reserve(&tree->paths, 1) < 0) {
		tree_destroy(tree);
		return NULL;
	}
	tree->paths.items[tree->paths.count++] = (struct tree_path){0};
	return tree;
}

/* --- What is seen ----------------------------------------------------------------------------- */

static const char *tree_text(const struct tree *tree, uint32_t name)
{
	return name ? fx_report_text(tree->report, name)->data : "";
}

/* With --function, the tree begins at calls of these. */
static bool tree_begins_at(const struct tree *tree, uint32_t name)
{
	const struct fx_patterns *functions = &fx_report_order(tree->report)->functions;

	return functions->count == 0 || fx_patterns_match(functions, tree_text(tree, name));
}

static uint32_t tree_path_of(struct tree *tree, const struct fx_open_call *call)
{
	uint32_t parent = tree->open.count > 0 ? tree->open.items[tree->open.count - 1] : 0;
	uint32_t path;

	if (parent == 0 && !tree_begins_at(tree, call->name))
		return 0;
	if (tree->paths.items[parent].is_rest)
		path = parent;
	else if (tree->paths.count <= fx_report_order(tree->report)->paths ||
		 fx_keys_has(&tree->keys, tree_key(parent, call->name, false)))
		path = tree_add(tree, parent, call->name, false);
	else
		path = tree_add(tree, parent, 0, true);
	if (path == PATH_NONE) {
		fx_report_fail(tree->report, -ENOMEM);
		return 0;
	}
	return path;
}

static void tree_enter(void *section, const struct fx_open_call *call, const struct fx_event *event)
{
	struct tree *tree = section;

	(void)event;
	if (fx_vector_reserve(&tree->open, 1) < 0) {
		fx_report_fail(tree->report, -ENOMEM);
		return;
	}
	tree->open.items[tree->open.count] = tree_path_of(tree, call);
	tree->open.count++;
}

static void tree_leave(void *section, const struct fx_open_call *call)
{
	struct tree *tree = section;
	uint64_t time = call->end - call->ts;
	struct tree_path *path;
	uint32_t number;

	/* Only where memory has run out. */
	if (tree->open.count == 0)
		return;
	number = tree->open.items[--tree->open.count];
	if (number == 0)
		return;
	path = &tree->paths.items[number];
	path->calls++;
	path->self += call->inside < time ? time - call->inside : 0;
	/* Calls inside one another may share the path of the rest. */
	if (tree->open.count == 0 || tree->open.items[tree->open.count - 1] != number)
		path->total += time;
	tree->merged += path->is_rest;
	tree->unfinished += call->is_unfinished;
}

/* --- The table -------------------------------------------------------------------------------- */

enum { TOTAL, SHARE, SELF, CALLS, NAME };

static const struct fx_column columns[] = {
    [TOTAL] = {"total_ns", "total", FX_UNIT_NS}, [SHARE] = {"total_share", "", FX_UNIT_SHARE},
    [SELF] = {"self_ns", "self", FX_UNIT_NS},	 [CALLS] = {"calls", "calls", FX_UNIT_COUNT},
    [NAME] = {"name", "call", FX_UNIT_TEXT},
};

static int tree_compare_numbers(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

/* The most time first; of one time, parents. */
static int tree_compare_weights(const void *a, const void *b, void *opaque)
{
	const struct tree *tree = opaque;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order =
	    tree_compare_numbers(tree->paths.items[left].total, tree->paths.items[right].total);

	return order ? order : (left > right) - (left < right);
}

/* The children of a path stand together, in the order that --sort asks for. */
static int tree_compare_siblings(const void *a, const void *b, void *opaque)
{
	const struct tree *tree = opaque;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const struct tree_path *l = &tree->paths.items[left], *r = &tree->paths.items[right];
	const char *key = fx_report_order(tree->report)->sort;
	int order = 0;

	if (l->parent != r->parent)
		return l->parent < r->parent ? -1 : 1;
	if (key && strcmp(key, columns[SELF].key) == 0)
		order = tree_compare_numbers(l->self, r->self);
	else if (key && strcmp(key, columns[CALLS].key) == 0)
		order = tree_compare_numbers(l->calls, r->calls);
	else if (key && strcmp(key, columns[NAME].key) == 0)
		order = strcmp(tree_text(tree, l->name), tree_text(tree, r->name));
	return order ? order : tree_compare_weights(a, b, opaque);
}

static void tree_row(const struct tree *tree, struct fx_table *table, uint32_t number,
		     uint64_t whole, unsigned depth)
{
	const struct tree_path *path = &tree->paths.items[number];

	fx_table_row(table);
	fx_table_number(table, TOTAL, (int64_t)path->total);
	if (whole > 0)
		fx_table_real(table, SHARE, (double)path->total / (double)whole);
	fx_table_number(table, SELF, (int64_t)path->self);
	fx_table_number(table, CALLS, (int64_t)path->calls);
	fx_table_string(table, NAME, path->is_rest ? "[more paths]" : tree_text(tree, path->name));
	fx_table_indent(table, depth);
}

/* Of all calls that no other one made. */
static uint64_t tree_whole(const struct tree *tree)
{
	uint64_t whole = 0;

	for (size_t i = 1; i < tree->paths.count; i++) {
		if (tree->paths.items[i].parent == 0)
			whole += tree->paths.items[i].total;
	}
	return whole;
}

/* The paths that are shown, `ret_count' of them, siblings together; NULL: no memory. To be freed. */
static uint32_t *tree_arrange(struct tree *tree, size_t *ret_count)
{
	size_t count = tree->paths.count - 1, top = fx_report_order(tree->report)->top;
	uint32_t *order = malloc((count + 1) * sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i + 1;
	/* No path has less time than those below it, so those with the most make a tree. */
	if (top > 0 && top < count) {
		qsort_r(order, count, sizeof(*order), tree_compare_weights, tree);
		count = top;
	}
	qsort_r(order, count, sizeof(*order), tree_compare_siblings, tree);
	*ret_count = count;
	return order;
}

/* Rows of these paths, each before those below it. Returns 0 or -ENOMEM. */
static int tree_rows(const struct tree *tree, struct fx_table *table, const uint32_t *order,
		     size_t count)
{
	/* Of each path: where in the order its next child stands, 0 if it has none. */
	uint32_t *next = calloc(tree->paths.count, sizeof(*next));
	uint64_t whole = tree_whole(tree);
	uint32_t at = 0;
	unsigned depth = 0;

	if (!next)
		return -ENOMEM;
	for (size_t i = count; i-- > 0;)
		next[tree->paths.items[order[i]].parent] = (uint32_t)i + 1;
	for (;;) {
		uint32_t place = next[at];

		if (place > 0 && place <= count &&
		    tree->paths.items[order[place - 1]].parent == at) {
			next[at]++;
			at = order[place - 1];
			tree_row(tree, table, at, whole, depth++);
		} else if (at != 0) {
			at = tree->paths.items[at].parent;
			depth--;
		} else {
			break;
		}
	}
	free(next);
	return 0;
}

static void tree_notes(const struct tree *tree, struct fx_table *table)
{
	if (tree->paths.count == 1)
		fx_table_note(table, fx_report_order(tree->report)->functions.count > 0
					 ? "no such call is in the archive"
					 : "no call is in the archive");
	if (tree->merged > 0)
		fx_table_note(
		    table, "%s calls stand in [more paths], merged: --max-paths tells more apart",
		    FX_COUNT(tree->merged));
	if (tree->unfinished > 0)
		fx_table_note(table, "%s call%s had not ended; counted until the archive's end",
			      FX_COUNT(tree->unfinished), tree->unfinished == 1 ? "" : "s");
}

static void tree_tables(void *section)
{
	struct tree *tree = section;
	struct fx_table *table =
	    fx_table_new("tree", "Call tree", columns, sizeof(columns) / sizeof(columns[0]));
	size_t count = 0;
	uint32_t *order = tree_arrange(tree, &count);

	if (!table || !order || tree_rows(tree, table, order, count) < 0) {
		fx_report_fail(tree->report, -ENOMEM);
		fx_table_free(table);
	} else {
		fx_table_make_tree(table);
		fx_table_leave_out(table, tree->paths.count - 1 - fx_table_row_count(table));
		tree_notes(tree, table);
		fx_report_add(tree->report, table);
	}
	free(order);
}

const struct fx_section fx_section_tree = {
    .create = tree_create,
    .enter = tree_enter,
    .leave = tree_leave,
    .tables = tree_tables,
    .destroy = tree_destroy,
};
