/* SPDX-License-Identifier: MIT */
/* Ids of arrows that are used again and again, of threads whose records come in any order: each arrow is whole in the archive. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "manager/archive/flow-ids.h"
#include "tests/format/random_record.h"

#define ARROWS	    400u
#define PARTS	    (3 * ARROWS)
#define IDS	    3u
#define RANDOM_RUNS 200u

struct part {
	enum fx_flow_part part;
	unsigned arrow;
	struct fx_flow_of flow;
	uint64_t shown;
};

static unsigned parts_make(struct random_source *random, struct part *ret, unsigned other)
{
	unsigned arrow[IDS], count = 0, made = 0;
	bool is_open[IDS] = {false};

	for (uint64_t ns = 10; made < ARROWS || is_open[0] || is_open[1] || is_open[2]; ns += 10) {
		unsigned id = (unsigned)random_below(random, IDS);
		enum fx_flow_part part = FX_FLOW_PART_BEGIN;

		if (is_open[id])
			part = random_below(random, 3) ? FX_FLOW_PART_END : FX_FLOW_PART_STEP;
		else if (made == ARROWS)
			continue;
		if (part == FX_FLOW_PART_STEP && count + 2 * IDS >= PARTS)
			part = FX_FLOW_PART_END;
		if (part == FX_FLOW_PART_BEGIN)
			arrow[id] = made++;
		is_open[id] = part != FX_FLOW_PART_END;
		cr_assert_lt(count, PARTS);
		ret[count++] =
		    (struct part){.part = part,
				  .arrow = arrow[id],
				  .flow = {part == FX_FLOW_PART_BEGIN ? 1 : other, 5 + id, ns}};
	}
	return count;
}

/* Hands out what one thread begins, and another one goes on with and ends; each one's parts in their order. */
static void parts_come(struct random_source *random, struct fx_flow_ids *ids, struct part *parts,
		       unsigned count)
{
	unsigned next[2] = {0, 0}, left = count;
	bool begins = true;

	while (left > 0) {
		unsigned *at = &next[begins];
		uint64_t together = 1 + random_below(random, 40);

		while (*at < count && together > 0) {
			struct part *p = &parts[(*at)++];

			if ((p->part == FX_FLOW_PART_BEGIN) != begins)
				continue;
			p->shown = fx_flow_ids_shown(ids, &p->flow, p->part);
			together--;
			left--;
		}
		begins = !begins;
	}
}

/* Of each id in the archive: one arrow behind the other, all that an arrow has. */
static void parts_expect_whole(const struct part *parts, unsigned count, uint32_t seed)
{
	for (unsigned i = 0; i < count; i++) {
		const struct part *before = NULL;

		for (unsigned j = 0; j < i; j++) {
			if (parts[j].shown == parts[i].shown)
				before = &parts[j];
		}
		if (parts[i].part == FX_FLOW_PART_BEGIN)
			cr_assert(!before || before->part == FX_FLOW_PART_END,
				  "seed %u: arrow %u begins in another", seed, parts[i].arrow);
		else
			cr_assert(before && before->arrow == parts[i].arrow,
				  "seed %u: arrow %u is torn", seed, parts[i].arrow);
	}
}

static void run(uint32_t seed, unsigned other)
{
	struct random_source random = {.state = seed};
	struct fx_flow_ids ids = {0};
	static struct part parts[PARTS];
	unsigned count = parts_make(&random, parts, other);

	parts_come(&random, &ids, parts, count);
	parts_expect_whole(parts, count, seed);
	fx_flow_ids_clear(&ids);
	cr_assert_eq(ids.spans, 0);
}

Test(flow_ids, of_one_process)
{
	for (uint32_t seed = 1; seed <= RANDOM_RUNS; seed++)
		run(seed, 1);
}

Test(flow_ids, that_another_process_ends)
{
	for (uint32_t seed = 1; seed <= RANDOM_RUNS; seed++)
		run(seed, 2);
}

static uint64_t shown(struct fx_flow_ids *ids, enum fx_flow_part part, uint32_t provider,
		      uint64_t ns)
{
	return fx_flow_ids_shown(ids, &(struct fx_flow_of){provider, 5, ns}, part);
}

Test(flow_ids, of_several_processes)
{
	struct fx_flow_ids ids = {0};
	uint64_t other;

	cr_expect_eq(shown(&ids, FX_FLOW_PART_BEGIN, 10, 10), 5);
	other = shown(&ids, FX_FLOW_PART_BEGIN, 11, 11);
	cr_expect_neq(other, 5);
	cr_expect_eq(shown(&ids, FX_FLOW_PART_END, 11, 12), other);
	cr_expect_eq(shown(&ids, FX_FLOW_PART_END, 12, 13), 5);
	cr_expect_eq(shown(&ids, FX_FLOW_PART_BEGIN, 10, 14), 5);
	cr_expect_eq(shown(&ids, FX_FLOW_PART_END, 12, 15), 5);
	fx_flow_ids_clear(&ids);
}

Test(flow_ids, more_than_are_remembered)
{
	struct fx_flow_ids ids = {0};

	for (uint64_t i = 0; i < 3 * FX_FLOW_ID_SPANS_MAX; i++)
		shown(&ids, FX_FLOW_PART_BEGIN, 10, i);
	cr_expect_eq(ids.spans, FX_FLOW_ID_SPANS_MAX);
	for (uint64_t id = 0; id < 2 * (uint64_t)FX_FLOW_IDS_MAX; id++)
		fx_flow_ids_shown(&ids, &(struct fx_flow_of){10, 6 + id, 1}, FX_FLOW_PART_BEGIN);
	cr_expect_leq(ids.spans, FX_FLOW_SPANS_MAX);
	fx_flow_ids_clear(&ids);
	cr_expect_eq(ids.spans, 0);
}
