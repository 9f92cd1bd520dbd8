/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/keys.h"
#include "report/show.h"
#include "why/causes.h"
#include "why/words.h"

enum { CAUSES_MAX = 200000 };

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
	const struct fx_thread *thread = fx_why_thread_of(why, node);
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
	fx_table_real(table, CAUSE_SHARE, (double)cause->time / (double)fx_why_whole(why));
	fx_table_number(table, CAUSE_TOTAL, (int64_t)cause->time);
	fx_table_string(table, CAUSE_KIND,
			it->what.kind == FX_WHY_THREAD ? "not told apart"
						       : fx_why_words_kind(it->what.kind));
	fx_table_number(table, CAUSE_THREADS, (int64_t)cause->threads);
	fx_show_thread(fx_why_thread_of(why, cause->node), text);
	fx_table_string(table, CAUSE_THREAD, text);
	fx_why_words_node(why->timeline, &why->path.tree, cause->node, text);
	fx_table_string(table, CAUSE_WHAT, text);
}

static int causes_fill(const struct fx_why *why, struct fx_table *table)
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

struct fx_table *fx_why_causes(const struct fx_why *why, int *ret)
{
	struct fx_table *table = fx_table_new("causes", "What had the time, whoever waited for it",
					      cause_columns, CAUSE_WHAT + 1);

	*ret = table ? causes_fill(why, table) : 0;
	return table;
}
