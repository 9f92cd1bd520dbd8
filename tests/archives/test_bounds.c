/* SPDX-License-Identifier: MIT */
/*
 * Two clocks, of which one is ahead by anything and drifts, and messages that take their time in both directions: no message runs
 * backwards by the line that is found, and the truth is as near to it as it says, in each of a thousand random cases.
 */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "archives/bounds.h"

#define CASES 1000

static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double between(double low, double high)
{
	return low + (high - low) * uniform();
}

/* A clock that is to be moved, as it really is: its time when the other one has another. */
struct truth {
	double drift;
	uint64_t other, own; /* at the beginning, ns */
};

static uint64_t own_time(const struct truth *truth, double since)
{
	return truth->own + (uint64_t)(since * (1 + truth->drift));
}

/* What is to be added to the clock's time, more than line->base, then. */
static double true_move(const struct truth *truth, const struct fx_line *line, double since)
{
	uint64_t own = own_time(truth, since), other = truth->other + (uint64_t)since;

	return (double)((int64_t)(other - own) - line->base);
}

static double line_at(const struct fx_line *line, uint64_t own)
{
	double distance = own > line->at ? (double)(own - line->at) : -(double)(line->at - own);

	return line->constant + line->slope * distance;
}

/* How long a message takes, ns: some time at least, and sometimes much more. */
static double way(double least)
{
	double more = -log(1 - uniform()) * least;

	return least + (uniform() < 0.1 ? more * 50 : more);
}

/* `both': in both directions. Returns what is said to be the error. */
static double one_case(bool both)
{
	double length = pow(10, between(7, 12)), least = pow(10, between(3, 6));
	unsigned count = (unsigned)pow(10, between(0.5, 3.3));
	struct truth truth = {
	    .drift = between(-100e-6, 100e-6),
	    .other = (uint64_t)pow(10, between(3, 17)),
	    .own = (uint64_t)pow(10, between(3, 17)),
	};
	struct fx_bounds bounds = {.from = truth.own, .to = own_time(&truth, length)};
	/* Some talk all the time, some for a while only. */
	double begin = uniform() < 0.5 ? 0 : between(0, length / 2);
	double end = uniform() < 0.5 ? length : between(begin, length);
	struct fx_line line;
	double error;

	for (unsigned i = 0; i < count * 2; i++) {
		double sent = between(begin, end), received = sent + way(least);

		if (i % 2 && both)
			cr_assert_eq(fx_bounds_add(&bounds, true, own_time(&truth, received),
						   truth.other + (uint64_t)sent, 0),
				     0);
		else
			cr_assert_eq(fx_bounds_add(&bounds, false, own_time(&truth, sent),
						   truth.other + (uint64_t)received, 0),
				     0);
	}
	cr_assert(fx_bounds_solve(&bounds, &line), "the truth is a line that keeps all bounds");
	error = fx_bounds_error(&bounds, &line);
	for (size_t i = 0; i < bounds.count; i++) {
		double moved = line_at(&line, bounds.items[i].at);

		cr_assert(bounds.items[i].is_least ? moved >= bounds.items[i].by - 1
						   : moved <= bounds.items[i].by + 1,
			  "a message runs backwards by %g ns", moved - bounds.items[i].by);
	}
	for (int i = 0; i <= 20 && both; i++) {
		double since = length * i / 20;
		double wrong =
		    line_at(&line, own_time(&truth, since)) - true_move(&truth, &line, since);

		cr_assert_leq(fabs(wrong), error, "wrong by %g ns, and said to be by %g at most",
			      wrong, error);
	}
	/* What talks all the time is known as well as messages are fast. */
	if (both && count > 100 && begin == 0 && end == length)
		cr_assert_leq(error, 40 * least + 2e-4 * length, "%g of %g", error, least);
	fx_bounds_free(&bounds);
	return error;
}

Test(bounds, truth_is_as_near_as_they_say)
{
	unsigned good = 0;

	for (unsigned i = 0; i < CASES; i++)
		good += one_case(true) < 1e6;
	cr_assert_gt(good, CASES / 4, "errors below a millisecond: %u", good);
}

Test(bounds, one_direction_tells_no_error)
{
	for (unsigned i = 0; i < 100; i++)
		cr_assert(isinf(one_case(false)));
}

Test(bounds, a_step_is_no_drift)
{
	struct fx_bounds bounds = {.from = 1000000000, .to = 3000000000};
	struct fx_line line;

	/* A clock that was put back by a second in the middle. */
	for (uint64_t t = 0; t < 20; t++) {
		uint64_t own = 1000000000 + t * 100000000, other = own + (t < 10 ? 0 : 1000000000);

		fx_bounds_add(&bounds, true, own, other - 1000, 0);
		fx_bounds_add(&bounds, false, own, other + 1000, 0);
	}
	cr_assert_not(fx_bounds_solve(&bounds, &line));
	fx_bounds_free(&bounds);
}

Test(bounds, a_known_clock_stays_where_it_may)
{
	struct fx_bounds bounds = {.is_known = true, .from = 1000, .to = 1000000};
	struct fx_line line;

	fx_bounds_add(&bounds, true, 2000, 1000, 0);
	fx_bounds_add(&bounds, false, 2000, 3500, 0);
	cr_assert(fx_bounds_solve(&bounds, &line));
	cr_assert_eq(line.constant, 0);
	cr_assert(fx_bounds_are_kept(&bounds));
	cr_assert_geq(fx_bounds_error(&bounds, &line), 1400);
	fx_bounds_free(&bounds);
}
