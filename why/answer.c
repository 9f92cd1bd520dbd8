/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/keys.h"
#include "report/kinds.h"
#include "report/show.h"
#include "report/units.h"
#include "why/why-internal.h"
#include "why/words.h"

enum { CAUSES_MAX = 200000 };

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

static uint64_t answer_whole(const struct fx_why *why)
{
	return why->path.tree.nodes.items[FX_WHY_ROOT].total;
}

static const char *answer_text(const struct fx_why *why, uint32_t number)
{
	return number ? fx_texts_get(why->timeline->strings, number)->data : "";
}

/* The thread that did it, or waited. */
static const struct fx_thread *answer_thread(const struct fx_why *why, uint32_t node)
{
	const struct fx_why_node *nodes = why->path.tree.nodes.items;

	while (node != FX_WHY_ROOT && nodes[node].what.kind != FX_WHY_THREAD)
		node = nodes[node].parent;
	return why->timeline->threads.items[nodes[node].what.thread];
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
	fx_table_real(table, SHARE, (double)total / (double)answer_whole(why));
	fx_table_number(table, TOTAL, (int64_t)total);
	fx_table_number(table, SELF, (int64_t)self);
	fx_table_string(table, KIND, fx_why_words_kind(kind));
}

static void answer_details(const struct fx_why *why, struct fx_table *table, uint32_t node)
{
	const struct fx_why_node *it = &why->path.tree.nodes.items[node];
	const struct fx_thread *thread = answer_thread(why, node);
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
	uint64_t least = (uint64_t)(why->order->least * (double)answer_whole(why));
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

/* --- How sure it is, and what is missing ------------------------------------------------------ */

static const struct fx_process *answer_process(const struct fx_why *why)
{
	return why->timeline->threads.items[why->thread]->process;
}

/* Categories without any event were off, as far as can be told: processes do not come from nowhere. */
static void answer_note_categories(const struct fx_why *why, struct fx_table *table)
{
	if (!(why->past.kinds & FX_KIND(SYSCALL)))
		fx_table_note(table, "nothing is recorded of the category syscall: waits for "
				     "descriptors, files and time are computing here");
	if (!(why->past.kinds & FX_KIND(PROCESS)) && why->timeline->processes.count > 1)
		fx_table_note(table, "nothing is recorded of the category process: waits for "
				     "children are computing here, and nobody knows who made whom");
}

static void answer_note_losses(const struct fx_why *why, struct fx_table *table)
{
	const struct fx_why_past *past = &why->past;
	char time[FX_UNIT_TEXT_MAX];

	if (past->lost > 0)
		fx_table_note(
		    table, "%s records were lost, so waits and calls may be missing here%s%s",
		    FX_COUNT(past->lost), *past->cure ? "; to keep them: " : "", past->cure);
	if (past->unfinished > 0)
		fx_table_note(table,
			      "%s waits in the archive had not ended; they count until the end "
			      "of their process, for locks as waits for who held them as they "
			      "began; who would have ended the others is not known",
			      FX_COUNT(past->unfinished));
	if (past->forgotten > 0) {
		fx_unit_number(FX_UNIT_NS, (int64_t)past->shortest, time);
		fx_table_note(table, "%s waits shorter than %s count as calls: there were too many",
			      FX_COUNT(past->forgotten), time);
	}
	if (why->order->is_growing)
		fx_table_note(table,
			      "the archive is still being written: calls that are under way, "
			      "and arrows that its end brings, are missing");
	else if (why->timeline->fault.kind != FXT_FAULT_NONE)
		fx_table_note(table, "the archive is damaged: this is of what is whole");
	else if (!why->is_empty && !answer_process(why)->end_ts)
		fx_table_note(table, "the end of its process is not recorded: it may have gone on");
}

static void answer_note_path(const struct fx_why *why, struct fx_table *table)
{
	const struct fx_why_path *path = &why->path;
	char time[FX_UNIT_TEXT_MAX], share[FX_UNIT_TEXT_MAX];

	fx_unit_number(FX_UNIT_NS, (int64_t)path->no_arrow_ns, time);
	fx_unit_real(FX_UNIT_SHARE, (double)path->no_arrow_ns / (double)answer_whole(why), share);
	if (why->past.arrows == 0 && path->no_arrow > 0)
		fx_table_note(table,
			      "no arrows are in the archive, so nobody who was waited for is "
			      "known: the categories pthread and process have them");
	else if (path->no_arrow > 0)
		fx_table_note(table,
			      "%s waits, %s of the time (%s), are followed no further: what "
			      "ended them is not recorded",
			      FX_COUNT(path->no_arrow), share, time);
	if (path->perhaps > 0) {
		fx_unit_number(FX_UNIT_NS, (int64_t)path->perhaps_ns, time);
		fx_unit_real(FX_UNIT_SHARE, (double)path->perhaps_ns / (double)answer_whole(why),
			     share);
		fx_table_note(table,
			      "%s waits, %s of the time (%s), have no arrow, and are taken to be "
			      "for the only thread that is known to have the other end of the "
			      "pipe, or for the last one that took the mutex: what stands below "
			      "\"perhaps\" is not sure",
			      FX_COUNT(path->perhaps), share, time);
	}
	if (path->unknown_begin > 0)
		fx_table_note(table,
			      "who made a thread, or what came before its first event, is not "
			      "always recorded: that is unknown");
	if (path->is_too_deep)
		fx_table_note(table,
			      "waits within so many others are not followed: they are unknown");
	if (path->is_too_long)
		fx_table_note(table,
			      "there was too much to follow all: what is left is the own time "
			      "of threads");
	if (path->tree.is_cut)
		fx_table_note(table,
			      "there was too much to tell all apart: what is left is the own "
			      "time of what stands above it");
}

static void answer_note_range(const struct fx_why *why, struct fx_table *table)
{
	uint64_t last = why->timeline->last_ts, whole = why->to - why->from;
	char time[FX_UNIT_TEXT_MAX], rest[FX_UNIT_TEXT_MAX];

	fx_unit_number(FX_UNIT_NS, (int64_t)whole, time);
	fx_table_note(table,
		      "shares are of %s; a wait that an arrow ends is what the thread at the "
		      "arrow's other end did meanwhile; own: what nothing below explains",
		      time);
	if (why->ready.first)
		fx_table_note(table, "computing is any time outside recorded waits; for a "
				     "processor: the thread was ready, and had none");
	else
		fx_table_note(table, "computing is any time outside recorded waits, that of "
				     "waiting for a processor too, which fxtrace run --kernel "
				     "records");
	if (why->others > 0)
		fx_table_note(
		    table, "%s others are of this name, too: this is of %s", FX_COUNT(why->others),
		    why->order->number > 0 ? "the one that was asked for" : "the longest");
	if (!why->order->slice && why->order->to == UINT64_MAX && last > why->to &&
	    last - why->to > whole / 20) {
		fx_unit_number(FX_UNIT_NS, (int64_t)(last - why->to), rest);
		fx_table_note(table,
			      "the archive goes on for %s after that: --process and --thread ask "
			      "of others",
			      rest);
	}
}

/* --- What had the time, whatever waited for it -------------------------------------------------- */

enum { CAUSE_SHARE, CAUSE_TOTAL, CAUSE_KIND, CAUSE_THREADS, CAUSE_THREAD, CAUSE_WHAT };

static const struct fx_column cause_columns[] = {
    [CAUSE_SHARE] = {"range_share", "", FX_UNIT_SHARE},
    [CAUSE_TOTAL] = {"total_ns", "time", FX_UNIT_NS},
    [CAUSE_KIND] = {"kind", "for", FX_UNIT_TEXT},
    [CAUSE_THREADS] = {"threads", "threads", FX_UNIT_COUNT},
    [CAUSE_THREAD] = {"thread", "thread", FX_UNIT_TEXT},
    [CAUSE_WHAT] = {"what", "what", FX_UNIT_TEXT},
};

/* Of all threads of one name: a shell's children that have slept are one row. */
struct cause {
	uint64_t time;
	uint64_t threads;
	uint32_t node; /* one of those that it stands for */
};

struct causes {
	struct fx_keys keys;
	struct fx_keys threads; /* number of the cause, and of the thread */
	FX_VECTOR(struct cause) items;
	uint64_t beyond;
};

/* The name of a thread as a number; where there is no memory for it, one of the thread's own. */
static uint64_t causes_name(const struct fx_why *why, const struct fx_thread *thread)
{
	char text[FX_SHOW_MAX];
	uint32_t name;

	fx_show_thread(thread, text);
	name = fx_texts_add(why->timeline->strings, text, strlen(text));
	return name ? name : UINT64_C(1) << 32 | thread->number;
}

static int causes_add(struct causes *causes, const struct fx_why *why, uint32_t node)
{
	const struct fx_why_node *it = &why->path.tree.nodes.items[node];
	const struct fx_thread *thread = answer_thread(why, node);
	uint64_t name = causes_name(why, thread);
	struct fx_key key = {
	    .address = it->what.object,
	    .numbers = {it->what.kind, (uint32_t)name, it->what.name, (uint32_t)(name >> 32)},
	};
	size_t number, pair;

	if (fx_vector_reserve(&causes->items, 1) < 0)
		return -ENOMEM;
	number = fx_keys_number(&causes->keys, key);
	if (number == FX_KEY_NONE) {
		causes->beyond += it->self;
		return 0;
	}
	if (number == causes->items.count)
		causes->items.items[causes->items.count++] = (struct cause){.node = node};
	causes->items.items[number].time += it->self;
	pair = causes->threads.keys.count;
	if (fx_keys_number(&causes->threads,
			   (struct fx_key){.address = number, .numbers = {thread->number}}) == pair)
		causes->items.items[number].threads++;
	return 0;
}

static void causes_row(const struct fx_why *why, struct fx_table *table, const struct cause *cause)
{
	const struct fx_why_node *it = &why->path.tree.nodes.items[cause->node];
	char text[FX_WHY_TEXT_MAX];

	fx_table_row(table);
	fx_table_real(table, CAUSE_SHARE, (double)cause->time / (double)answer_whole(why));
	fx_table_number(table, CAUSE_TOTAL, (int64_t)cause->time);
	fx_table_string(table, CAUSE_KIND,
			it->what.kind == FX_WHY_THREAD ? "not told apart"
						       : fx_why_words_kind(it->what.kind));
	fx_table_number(table, CAUSE_THREADS, (int64_t)cause->threads);
	fx_show_thread(answer_thread(why, cause->node), text);
	fx_table_string(table, CAUSE_THREAD, text);
	fx_why_words_node(why->timeline, &why->path.tree, cause->node, text);
	fx_table_string(table, CAUSE_WHAT, text);
}

static int answer_causes(const struct fx_why *why, struct fx_table *table)
{
	const struct fx_why_tree *tree = &why->path.tree;
	struct causes causes = {.keys.limit = CAUSES_MAX, .threads.limit = CAUSES_MAX};
	int r = 0;

	for (size_t i = 0; i < tree->nodes.count && r == 0; i++) {
		if (tree->nodes.items[i].self > 0)
			r = causes_add(&causes, why, (uint32_t)i);
	}
	for (size_t i = 0; i < causes.items.count && r == 0; i++)
		causes_row(why, table, &causes.items.items[i]);
	fx_table_sorted_by(table, CAUSE_TOTAL);
	fx_keys_free(&causes.keys);
	fx_keys_free(&causes.threads);
	fx_vector_free(&causes.items);
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

	if (tree && why->is_empty)
		fx_table_note(tree, "nothing is recorded of any thread");
	if (tree && !why->is_empty) {
		r = answer_tree(why, tree);
		answer_note_range(why, tree);
		answer_note_path(why, tree);
		answer_note_categories(why, tree);
	}
	if (tree)
		answer_note_losses(why, tree);
	r = answer_add(why, tree, r);
	if (r < 0 || why->is_empty)
		return r;
	causes = fx_table_new("causes", "What had the time, whoever waited for it", cause_columns,
			      CAUSE_WHAT + 1);
	return answer_add(why, causes, causes ? answer_causes(why, causes) : 0);
}
