/* SPDX-License-Identifier: MIT */
/* Time that is taken apart by when a thread was ready and had no processor. */
#include <criterion/criterion.h>

#include "why/ready.h"

enum { THREAD = 1 };

/* Of two threads; the second was ready twice. Nobody knows who had the processor. */
static struct fx_why_stretch stretches[] = {{10, 20, THREAD, 0}, {30, 50, THREAD, 0}};
static size_t first[] = {0, 0, 2};
static struct fx_why_ready ready = {.stretches = {.items = stretches, .count = 2}, .first = first};

struct parts {
	uint64_t self, processor;
};

static struct parts parts_of(const struct fx_why_ready *of, uint32_t thread, uint64_t begin,
			     uint64_t end)
{
	struct fx_why_what what = {.kind = FX_WHY_COMPUTING, .thread = thread};
	struct fx_why_tree tree;
	struct parts parts = {0};

	cr_assert_eq(fx_why_tree_begin(&tree, thread), 0);
	fx_why_ready_add(of, &tree, FX_WHY_ROOT, &what, thread, begin, end);
	for (size_t i = 0; i < tree.nodes.count; i++) {
		if (tree.nodes.items[i].what.kind == FX_WHY_PROCESSOR)
			parts.processor += tree.nodes.items[i].self;
		else
			parts.self += tree.nodes.items[i].self;
	}
	fx_why_tree_sum(&tree);
	cr_assert_eq(tree.nodes.items[FX_WHY_ROOT].total, end - begin, "all of it is somewhere");
	fx_why_tree_free(&tree);
	return parts;
}

static void expect(const struct fx_why_ready *of, uint32_t thread, uint64_t begin, uint64_t end,
		   uint64_t processor)
{
	struct parts parts = parts_of(of, thread, begin, end);

	cr_assert_eq(parts.processor, processor, "%llu to %llu: %llu", (unsigned long long)begin,
		     (unsigned long long)end, (unsigned long long)parts.processor);
	cr_assert_eq(parts.self, end - begin - processor);
}

Test(ready, every_range)
{
	for (uint64_t begin = 0; begin < 60; begin++) {
		for (uint64_t end = begin; end <= 60; end++) {
			uint64_t waited = 0;

			for (uint64_t ts = begin; ts < end; ts++)
				waited += (ts >= 10 && ts < 20) || (ts >= 30 && ts < 50);
			expect(&ready, THREAD, begin, end, waited);
		}
	}
}

Test(ready, another_thread_and_no_records)
{
	static const struct fx_why_ready none = {.first = NULL};

	expect(&ready, 0, 0, 60, 0);
	expect(&none, THREAD, 0, 60, 0);
}
