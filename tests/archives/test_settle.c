/* SPDX-License-Identifier: MIT */
/* Many clocks, and fast messages between some of them: all come into order, however far they were from it. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "archives/settle.h"

enum { CASES = 300, CLOCKS_MAX = 12 };

static uint64_t seed = 3;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* By how much a message is too early then. */
static double early(const struct fx_settle *settle, const struct fx_settle_message *message)
{
	const struct fx_settle_clock *from = &settle->clocks[message->from];
	const struct fx_settle_clock *to = &settle->clocks[message->to];

	return message->early + from->constant + from->change * message->sent - to->constant -
	       to->change * message->received;
}

static void add(struct fx_settle *settle, struct fx_settle_message message)
{
	cr_assert_eq(fx_vector_reserve(&settle->messages, 1), 0);
	settle->messages.items[settle->messages.count++] = message;
}

/* A ring of clocks, which are wrong by up to 1 ms and drift, with messages of 1 us and more in one direction, or in both. */
static void one_case(unsigned count, bool both)
{
	struct fx_settle_clock clocks[CLOCKS_MAX] = {{0}};
	struct fx_settle settle = {.clocks = clocks, .count = count};
	double wrong[CLOCKS_MAX] = {0}, drift[CLOCKS_MAX] = {0};

	for (unsigned i = 1; i < count; i++) {
		clocks[i].moves = true;
		wrong[i] = (uniform() - 0.5) * 2e6;
		drift[i] = (uniform() - 0.5) * 1e5;
	}
	for (unsigned i = 0; i < 100 * count; i++) {
		unsigned from = i % count,
			 to = (from + (both && i % 7 < 3 ? count - 1 : 1)) % count;
		double when = uniform();

		add(&settle, (struct fx_settle_message){.from = from,
							.to = to,
							.early = wrong[from] - wrong[to] +
								 (drift[from] - drift[to]) * when -
								 1000 - uniform() * 50000,
							.sent = when,
							.received = when});
	}
	cr_assert_eq(fx_settle_solve(&settle), 1, "%u clocks", count);
	for (size_t i = 0; i < settle.messages.count; i++)
		cr_assert_leq(early(&settle, &settle.messages.items[i]), 0);
	cr_assert_eq(clocks[0].constant, 0);
	cr_assert_eq(clocks[0].change, 0);
	fx_settle_free(&settle);
}

Test(settle, all_come_into_order)
{
	for (unsigned i = 0; i < CASES; i++)
		one_case(2 + i % (CLOCKS_MAX - 1), i % 2);
}

Test(settle, what_is_in_order_stays)
{
	struct fx_settle_clock clocks[2] = {{.moves = false}, {.moves = true}};
	struct fx_settle settle = {.clocks = clocks, .count = 2};

	add(&settle, (struct fx_settle_message){.from = 0, .to = 1, .early = -1});
	add(&settle, (struct fx_settle_message){.from = 1, .to = 0, .early = -1});
	cr_assert_eq(fx_settle_solve(&settle), 1);
	cr_assert_eq(clocks[1].constant, 0);
	fx_settle_free(&settle);
}

Test(settle, what_cannot_be_is_said)
{
	struct fx_settle_clock clocks[2] = {{.moves = false}, {.moves = true}};
	struct fx_settle settle = {.clocks = clocks, .count = 2};

	/* Each receives what the other one sends a second earlier, at the same time. */
	add(&settle, (struct fx_settle_message){.from = 0, .to = 1, .early = 1e9});
	add(&settle, (struct fx_settle_message){.from = 1, .to = 0, .early = 1e9});
	cr_assert_eq(fx_settle_solve(&settle), 0);
	cr_assert_lt(fabs(clocks[1].constant), 1e6, "it is as wrong from either side");
	fx_settle_free(&settle);
}
