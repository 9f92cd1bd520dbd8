/* SPDX-License-Identifier: MIT */
/* What a thread has called never crosses in the archive, whatever comes; and what nests stays as it is. */
#include <criterion/criterion.h>
#include <string.h>

#include "manager/archive/nesting.h"

#define MAX 3000

static struct fx_nesting nesting;
static struct fx_nesting_memory memory;
static struct fx_interval out[MAX];
static size_t count;
static uint32_t seed;

static uint32_t some(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void begin(uint32_t number)
{
	memset(&nesting, 0, sizeof(nesting));
	memset(&memory, 0, sizeof(memory));
	count = 0;
	seed = number;
}

static void end(void)
{
	fx_nesting_clear(&nesting, &memory);
	cr_assert_eq(memory.count, 0);
}

static enum fx_nesting_verdict take(uint64_t start, uint64_t stop)
{
	uint64_t was = start;
	enum fx_nesting_verdict verdict = fx_nesting_take(&nesting, &memory, &start, stop, 0);

	if (verdict == FX_NESTING_OUT || verdict == FX_NESTING_DEEP)
		return verdict;
	cr_assert(verdict == FX_NESTING_CUT ? start > was && start < stop : start == was);
	out[count++] = (struct fx_interval){start, stop};
	return verdict;
}

/* Of those that begin together, a reader takes the first for the outer one. */
static bool nest(const struct fx_interval *a, const struct fx_interval *b)
{
	if (a->end <= b->start || b->end <= a->start)
		return true;
	if (a->start == b->start)
		return b->end <= a->end;
	return a->start < b->start ? b->end <= a->end : a->end <= b->end;
}

static void expect_nested(void)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++)
			cr_assert(nest(&out[i], &out[j]), "[%lu, %lu] and [%lu, %lu]",
				  (unsigned long)out[i].start, (unsigned long)out[i].end,
				  (unsigned long)out[j].start, (unsigned long)out[j].end);
	}
}

Test(nesting, nothing_crosses_whatever_comes)
{
	for (uint32_t round = 0; round < 400; round++) {
		begin(round);
		for (int i = 0; i < 200; i++) {
			uint64_t start = some(300);

			take(start, start + some(i % 3 ? 20 : 200));
		}
		expect_nested();
		end();
	}
}

Test(nesting, nothing_crosses_in_the_order_of_ends)
{
	for (uint32_t round = 0; round < 100; round++) {
		uint64_t now = 1000;

		begin(round);
		for (int i = 0; i < 500; i++) {
			now += some(3);
			take(now - some(some(10) ? 5 : 1000), now);
		}
		expect_nested();
		end();
	}
}

/* The calls of a tree; `down`: of how many levels. */
static void tree(struct fx_interval *calls, size_t *n, uint64_t *now, unsigned down)
{
	uint64_t start = ++*now;

	for (unsigned i = some(6); down && i; i--)
		tree(calls, n, now, down - 1);
	calls[(*n)++] = (struct fx_interval){start, ++*now};
}

Test(nesting, what_nests_stays_as_it_is)
{
	static struct fx_interval calls[MAX];

	for (uint32_t round = 0; round < 200; round++) {
		uint64_t now = 0;
		size_t n = 0;

		begin(round);
		while (n < MAX / 4)
			tree(calls, &n, &now, 4 - round % 2);
		cr_assert_lt(n, MAX);
		/* Some come late, others early. */
		for (size_t i = 0; round % 4 && i < n / 20; i++) {
			size_t a = some((uint32_t)n), b = some((uint32_t)n);
			struct fx_interval moved = calls[a];

			calls[a] = calls[b];
			calls[b] = moved;
		}
		for (size_t i = 0; i < n; i++)
			cr_assert_eq(take(calls[i].start, calls[i].end), FX_NESTING_WHOLE,
				     "round %u, call %zu", round, i);
		end();
	}
}

Test(nesting, a_caller_that_ended_before_its_callee)
{
	begin(0);
	cr_assert_eq(take(20, 50), FX_NESTING_WHOLE);
	cr_assert_eq(take(10, 40), FX_NESTING_OUT, "it came late");
	cr_assert_eq(take(30, 60), FX_NESTING_CUT);
	cr_assert_eq(out[1].start, 50);
	cr_assert_eq(take(10, 60), FX_NESTING_WHOLE);
	end();
}

Test(nesting, a_call_that_is_recorded_twice)
{
	begin(0);
	cr_assert_eq(take(10, 20), FX_NESTING_WHOLE);
	cr_assert_eq(take(30, 40), FX_NESTING_WHOLE);
	cr_assert_eq(take(10, 60), FX_NESTING_OUT);
	cr_assert_eq(take(30, 60), FX_NESTING_OUT);
	cr_assert_eq(take(9, 60), FX_NESTING_WHOLE);
	cr_assert_eq(take(10, 50), FX_NESTING_OUT, "it came late");
	end();
}

Test(nesting, a_start_that_is_cut_stands_before_no_caller)
{
	begin(0);
	take(10, 20);
	take(20, 30);
	cr_assert_eq(take(15, 40), FX_NESTING_CUT);
	cr_assert_eq(out[2].start, 30);
	end();
}

/* One call may have more callees than outermost calls are remembered: it stays, and one that begins in the middle of
 * such a callee does not. */
Test(nesting, callers_of_more_than_are_remembered)
{
	const uint64_t last = 10ull * 4 * FX_NESTING_OUTER;

	begin(0);
	for (uint64_t start = 100; start < last; start += 10)
		cr_assert_eq(take(start, start + 5), FX_NESTING_WHOLE);
	cr_assert_eq(take(103, last), FX_NESTING_OUT);
	cr_assert_eq(take(106, last), FX_NESTING_WHOLE);
	cr_assert_eq(take(104, last + 1), FX_NESTING_OUT);
	cr_assert_eq(take(100, last + 1), FX_NESTING_OUT, "it came late");
	cr_assert_eq(take(90, last + 1), FX_NESTING_WHOLE);
	expect_nested();
	end();
}

#define CALLS (2 * FX_NESTING_BLOCKS * FX_NESTING_BLOCK)

Test(nesting, memory_has_a_bound)
{
	const uint64_t now = 10ull * CALLS, newest = now - 10, oldest = 10;
	struct fx_nesting other = {0};
	uint64_t start = 0;

	begin(0);
	fx_nesting_take(&other, &memory, &start, 5, 0);
	for (start = 0; start < now; start += 10) {
		count = 0;
		cr_assert_eq(take(start, start + 5), FX_NESTING_WHOLE);
	}
	cr_assert_eq(memory.count, FX_NESTING_BLOCKS);
	cr_assert_leq(nesting.outer_room, FX_NESTING_OUTER);
	cr_assert_eq(take(newest - 3, newest - 2), FX_NESTING_WHOLE);
	cr_assert_eq(take(newest - 5003, newest - 4997), FX_NESTING_OUT);
	cr_assert_eq(take(newest - 5003, newest - 5001), FX_NESTING_WHOLE);
	cr_assert_eq(take(oldest + 1, oldest + 2), FX_NESTING_OUT, "nobody knows");
	/* Whose calls are all forgotten begins anew. */
	start = 6;
	cr_assert_eq(fx_nesting_take(&other, &memory, &start, 8, 0), FX_NESTING_WHOLE);
	fx_nesting_clear(&other, &memory);
	end();
}

/* They have one end, and the outer one is told first; what they had called by then is more than can be remembered. */
Test(nesting, calls_that_are_open_at_the_end)
{
	const uint64_t calls = (uint64_t)FX_NESTING_BLOCK * (FX_NESTING_BLOCKS + 2);
	const uint64_t stop = 10 + 10 * calls;

	begin(1);
	cr_assert_eq(take(2, 4), FX_NESTING_WHOLE);
	for (uint64_t i = 1; i <= calls; i++) {
		uint64_t start = 10 * i;

		cr_assert_eq(fx_nesting_take(&nesting, &memory, &start, start + 5, 0),
			     FX_NESTING_WHOLE);
	}
	cr_assert_eq(take(1, stop), FX_NESTING_WHOLE);
	cr_assert_eq(take(6, stop), FX_NESTING_WHOLE, "that of all the calls");
	cr_assert_eq(take(stop / 20 * 10 - 3, stop), FX_NESTING_WHOLE);
	cr_assert_eq(take(stop - 8, stop), FX_NESTING_OUT, "it crosses the last");
	cr_assert_eq(take(stop - 1, stop), FX_NESTING_WHOLE);
	expect_nested();
	end();
}

/* What comes late again and again is judged as long as that takes no more than its share. */
Test(nesting, late_calls_cost_no_more_than_their_share)
{
	enum { LATE_ROUNDS = 200, LATE_CALLS = 5000 };
	uint64_t looked = 0, before;

	begin(1);
	for (unsigned round = 0; round < LATE_ROUNDS; round++) {
		for (uint64_t i = 0; i < LATE_CALLS; i++) {
			uint64_t start = 100 * i + round % 7, at = start;

			before = memory.looked;
			fx_nesting_take(&nesting, &memory, &at, start + 50, 0);
			looked += memory.looked > before ? memory.looked - before : 0;
		}
	}
	cr_assert_leq(looked, FX_NESTING_LOOKS +
				  (uint64_t)LATE_ROUNDS * LATE_CALLS * FX_NESTING_LOOKS_PER_CALL +
				  2 * FX_NESTING_BLOCK);
	cr_assert_gt(looked, FX_NESTING_LOOKS / 2, "the test asks for nothing");
	/* In order again, all is well. */
	cr_assert_eq(fx_nesting_take(&nesting, &memory, &(uint64_t){1000000}, 1000100, 0),
		     FX_NESTING_WHOLE);
	end();
}

/* A handler's calls are read up to the newest, and then what its thread has done before them: more than may be looked at. */
Test(nesting, a_handler_is_ahead_of_many_calls)
{
	const uint64_t ahead = 100000000;

	begin(0);
	cr_assert_eq(take(ahead, ahead + 10), FX_NESTING_WHOLE);
	for (uint64_t at = 0; at < ahead; at += 200) {
		uint64_t inner = at + 20, outer = at + 10;

		cr_assert_eq(fx_nesting_take(&nesting, &memory, &inner, at + 50, 0),
			     FX_NESTING_WHOLE);
		cr_assert_eq(fx_nesting_take(&nesting, &memory, &outer, at + 60, 0),
			     FX_NESTING_WHOLE);
	}
	end();
}

/* How many of those in the archive the deepest lies in, itself counted. */
static uint32_t levels(void)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t level = 1;

		for (size_t j = 0; j < count; j++)
			level += out[j].start < out[i].start && out[j].end > out[i].end;
		most = level > most ? level : most;
	}
	return most;
}

/* From the innermost on, as they end. */
static unsigned chain(unsigned calls, uint32_t begun)
{
	unsigned deep = 0;

	for (unsigned i = calls; i; i--) {
		uint64_t start = i;
		enum fx_nesting_verdict verdict =
		    fx_nesting_take(&nesting, &memory, &start, 10000 - i, begun);

		cr_assert(verdict == FX_NESTING_WHOLE || verdict == FX_NESTING_DEEP);
		deep += verdict == FX_NESTING_DEEP;
	}
	return deep;
}

Test(nesting, no_more_levels_than_viewers_show)
{
	begin(0);
	cr_assert_eq(chain(FX_NESTING_LEVELS, 0), 0);
	cr_assert_eq(fx_nesting_begin(&nesting, &memory, 5000, 0), false,
		     "it would be the last level's");
	cr_assert_eq(fx_nesting_begin(&nesting, &memory, 2, 0), true);
	cr_assert_eq(fx_nesting_begin(&nesting, &memory, 20000, FX_NESTING_LEVELS - 1), true);
	cr_assert_eq(fx_nesting_begin(&nesting, &memory, 20000, FX_NESTING_LEVELS), false);
	end();
	begin(0);
	cr_assert_eq(chain(600, 0), 600 - FX_NESTING_LEVELS);
	cr_assert_eq(take(20000, 20001), FX_NESTING_WHOLE);
	end();
	begin(0);
	cr_assert_eq(chain(300, 300), 300 - (FX_NESTING_LEVELS - 300));
	end();
	begin(0);
	cr_assert_eq(chain(1, FX_NESTING_LEVELS), 1);
	end();
}

/* What is deepest may come late. */
Test(nesting, no_more_levels_in_whatever_order)
{
	static uint64_t starts[700];

	for (uint32_t round = 0; round < 20; round++) {
		begin(round);
		for (size_t i = 0; i < 700; i++)
			starts[i] = 1 + i;
		for (size_t i = 0; i < (round % 4) * 200; i++) {
			size_t a = some(700), b = some(700);
			uint64_t moved = starts[a];

			starts[a] = starts[b];
			starts[b] = moved;
		}
		for (size_t i = 700; i; i--) {
			enum fx_nesting_verdict verdict =
			    take(starts[i - 1], 10000 - starts[i - 1]);

			cr_assert(verdict == FX_NESTING_WHOLE || verdict == FX_NESTING_DEEP);
		}
		cr_assert_leq(levels(), FX_NESTING_LEVELS);
		cr_assert_eq(levels(), FX_NESTING_LEVELS, "%u levels are left", levels());
		end();
	}
}

/* However many calls have come and are forgotten, those after them are as deep as they are. */
Test(nesting, levels_do_not_add_up)
{
	uint64_t now = 1;

	begin(0);
	for (unsigned i = 0; i < 2 * FX_NESTING_LEVELS; i++) {
		uint64_t outer = now++, handled = now + 2;

		for (unsigned callee = 0; callee < 3 * FX_NESTING_OUTER; callee++, now += 10) {
			uint64_t inner = now;

			cr_assert_eq(fx_nesting_take(&nesting, &memory, &inner, now + 5, 0),
				     FX_NESTING_WHOLE);
		}
		cr_assert_eq(fx_nesting_take(&nesting, &memory, &outer, now++, 0),
			     FX_NESTING_WHOLE);
		cr_assert_eq(fx_nesting_take(&nesting, &memory, &handled, handled + 1, 0),
			     FX_NESTING_WHOLE);
	}
	end();
}
