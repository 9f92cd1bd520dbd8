/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/show.h"
#include "report/units.h"
#include "why/causes.h"
#include "why/notes.h"
#include "why/why-internal.h"
#include "why/words.h"

/* --- The tree --------------------------------------------------------------------------------- */

enum { SHARE, TOTAL, SELF, COUNT, KIND, WHAT, TREE_COLUMNS };

/* For programs, before WHAT. */
enum {
	PID = WHAT,
	TID,
	THREAD,
	CALL,
	OBJECT,
	CALLER,
	LONGEST,
	LONGEST_AT,
	SURE,
	FULL_WHAT,
	FULL_COLUMNS
};

#define USUAL_COLUMNS                                                                              \
	[SHARE] = {"range_share", "", FX_UNIT_SHARE}, [TOTAL] = {"total_ns", "time", FX_UNIT_NS},  \
	[SELF] = {"self_ns", "own", FX_UNIT_NS}, [COUNT] = {"count", "times", FX_UNIT_COUNT},      \
	[KIND] = {"kind", "for", FX_UNIT_TEXT}

static const struct fx_column tree_columns[] = {
    USUAL_COLUMNS,
    [WHAT] = {"what", "what had the time", FX_UNIT_TEXT},
};

static const struct fx_column full_columns[] = {
    USUAL_COLUMNS,
    [PID] = {"pid", "pid", FX_UNIT_NUMBER},
    [TID] = {"tid", "tid", FX_UNIT_NUMBER},
    [THREAD] = {"thread", "thread", FX_UNIT_TEXT},
    [CALL] = {"call", "call", FX_UNIT_TEXT},
    [OBJECT] = {"object", "object", FX_UNIT_TEXT},
    [CALLER] = {"caller", "caller", FX_UNIT_TEXT},
    [LONGEST] = {"longest_ns", "longest", FX_UNIT_NS},
    [LONGEST_AT] = {"longest_at_ns", "at", FX_UNIT_MOMENT},
    [SURE] = {"sure", "sure", FX_UNIT_TEXT},
    [FULL_WHAT] = {"what", "what had the time", FX_UNIT_TEXT},
};

static const char *answer_text(const struct fx_why *why, uint32_t number)
{
	return number ? fx_texts_get(why->timeline->strings, number)->data : "";
}

/* Whether nothing on the way to it has been guessed. */
static bool answer_is_sure(const struct fx_why *why, uint32_t node)
{
	const struct fx_why_node *nodes = why->path.tree.nodes.items;

	while (node != FX_WHY_ROOT && !nodes[node].what.is_perhaps)
		node = nodes[node].parent;
	return node == FX_WHY_ROOT;
}

static void answer_numbers(const struct fx_why *why, struct fx_table *table, uint64_t total,
			   uint64_t self, uint8_t kind)
{
	fx_table_real(table, SHARE, (double)total / (double)fx_why_whole(why));
	fx_table_number(table, TOTAL, (int64_t)total);
	fx_table_number(table, SELF, (int64_t)self);
	fx_table_string(table, KIND, fx_why_words_kind(kind));
}

static void answer_details(const struct fx_why *why, struct fx_table *table, uint32_t node)
{
	const struct fx_why_node *it = &why->path.tree.nodes.items[node];
	const struct fx_thread *thread = fx_why_thread_of(why, node);
	char text[FX_SHOW_MAX];

	fx_show_thread(thread, text);
	fx_table_number(table, PID, (int64_t)thread->key.pid);
	fx_table_number(table, TID, (int64_t)thread->key.tid);
	fx_table_string(table, THREAD, text);
	fx_table_string(table, CALL, answer_text(why, it->what.name));
	fx_table_string(table, OBJECT, answer_text(why, it->what.object));
	fx_table_string(table, CALLER, answer_text(why, it->what.caller));
	fx_table_string(table, SURE, answer_is_sure(why, node) ? "yes" : "perhaps");
	if (it->count == 0)
		return;
	fx_table_number(table, LONGEST, (int64_t)it->longest);
	fx_table_number(table, LONGEST_AT, (int64_t)(it->longest_at - why->timeline->first_ts));
}

static void answer_row(const struct fx_why *why, struct fx_table *table, uint32_t node,
		       unsigned depth, bool is_last)
{
	const struct fx_why_node *it = &why->path.tree.nodes.items[node];
	char text[FX_WHY_TEXT_MAX];

	fx_table_row(table);
	answer_numbers(why, table, it->total, is_last ? it->total : it->self, it->what.kind);
	if (it->count > 0)
		fx_table_number(table, COUNT, it->count);
	if (why->order->is_full)
		answer_details(why, table, node);
	fx_why_words_node(why->timeline, &why->path.tree, node, text);
	fx_table_string(table, why->order->is_full ? FULL_WHAT : WHAT, text);
	fx_table_indent(table, depth);
}

/* One row for those that are too small to be shown. */
static void answer_small_row(const struct fx_why *why, struct fx_table *table, uint64_t time,
			     unsigned depth)
{
	fx_table_row(table);
	answer_numbers(why, table, time, time, FX_WHY_SMALLER);
	fx_table_string(table, why->order->is_full ? FULL_WHAT : WHAT, "(smaller ones together)");
	fx_table_indent(table, depth);
}

/* Time of small children, to be shown behind those that are shown. */
struct small {
	uint64_t time;
	unsigned depth;
};

struct rows {
	const struct fx_why *why;
	struct fx_table *table;
	FX_VECTOR(struct small) small; /* of the nodes around the one at hand, the innermost last */
};

static void rows_end_below(struct rows *rows, unsigned depth)
{
	while (rows->small.count > 0 && rows->small.items[rows->small.count - 1].depth > depth) {
		const struct small *small = &rows->small.items[--rows->small.count];

		answer_small_row(rows->why, rows->table, small->time, small->depth);
	}
}

static int rows_add_small(struct rows *rows, uint64_t time, unsigned depth)
{
	if (rows->small.count > 0 && rows->small.items[rows->small.count - 1].depth == depth) {
		rows->small.items[rows->small.count - 1].time += time;
		return 0;
	}
	if (fx_vector_reserve(&rows->small, 1) < 0)
		return -ENOMEM;
	rows->small.items[rows->small.count++] = (struct small){time, depth};
	return 0;
}

/* The children of a node are shown the larger ones first, so the small ones are the last. */
static int rows_make(struct rows *rows, struct fx_why_order_of *order)
{
	const struct fx_why *why = rows->why;
	const struct fx_why_node *nodes = why->path.tree.nodes.items;
	uint64_t least = (uint64_t)(why->order->least * (double)fx_why_whole(why));
	bool goes_down = true;
	int r = 0;

	while (r == 0 && fx_why_order_next(order, goes_down)) {
		uint64_t total = nodes[order->at].total;
		bool is_last = why->order->depth > 0 && order->depth + 1 >= why->order->depth;

		rows_end_below(rows, order->depth);
		goes_down = false;
		if (total == 0)
			continue;
		if (order->at != FX_WHY_ROOT && total < least) {
			r = rows_add_small(rows, total, order->depth);
			continue;
		}
		answer_row(why, rows->table, order->at, order->depth, is_last);
		goes_down = !is_last;
	}
	if (r == 0)
		rows_end_below(rows, 0);
	return r;
}

static int answer_tree(struct fx_why *why, struct fx_table *table)
{
	struct rows rows = {.why = why, .table = table};
	struct fx_why_order_of order;
	int r = fx_why_order_begin(&order, &why->path.tree);

	if (r == 0)
		r = rows_make(&rows, &order);
	fx_why_order_end(&order);
	fx_vector_free(&rows.small);
	fx_table_make_tree(table);
	return r;
}

/* --- The whole -------------------------------------------------------------------------------- */

static int answer_add(struct fx_why *why, struct fx_table *table, int r)
{
	if (!table)
		return -ENOMEM;
	if (r == 0)
		r = fx_table_error(table);
	if (r == 0 && fx_vector_reserve(&why->tables, 1) < 0)
		r = -ENOMEM;
	if (r < 0) {
		fx_table_free(table);
		return r;
	}
	fx_table_arrange(table, NULL, fx_table_is_tree(table) ? 0 : why->order->top);
	why->tables.items[why->tables.count++] = table;
	return 0;
}

int fx_why_answer(struct fx_why *why)
{
	bool is_full = why->order->is_full;
	struct fx_table *tree = fx_table_new("why", "Why it took so long: who had the time",
					     is_full ? full_columns : tree_columns,
					     is_full ? FULL_COLUMNS : TREE_COLUMNS);
	struct fx_table *causes;
	int r = 0;

	if (tree && !why->is_empty)
		r = answer_tree(why, tree);
	if (tree)
		fx_why_notes(why, tree);
	r = answer_add(why, tree, r);
	if (r < 0 || why->is_empty)
		return r;
	causes = fx_why_causes(why, &r);
	return answer_add(why, causes, r);
}
