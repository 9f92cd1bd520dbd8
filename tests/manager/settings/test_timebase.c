/* SPDX-License-Identifier: MIT */
/* The map from ticks to nanoseconds: monotonic, continuous, true. */
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "manager/settings/timebase.h"
#include "tests/manager/clock_wish.h"

#define SECOND UINT64_C(1000000000)

/* A counter of 2.6 GHz that is off by `drift`, and clocks that are read with some jitter. */
struct clocks {
	double ticks_per_ns;
	double wander; /* amplitude of a slow change of the rate */
	uint64_t jitter;
};

static uint64_t true_ticks(const struct clocks *c, uint64_t ns)
{
	double t = (double)ns;

	return (uint64_t)(1e12 + c->ticks_per_ns * (t + c->wander * 1e9 * sin(t / 20e9)));
}

static struct fx_anchor anchor_at(const struct clocks *c, uint64_t ns)
{
	struct fx_anchor a = {.ticks = true_ticks(c, ns), .ns = ns};

	if (c->jitter)
		a.ns += (uint64_t)rand() % (2 * c->jitter) - c->jitter;
	return a;
}

/* Anchors as the writer takes them, over `length` ns from `start`. */
static void feed(struct fx_timebase *tb, const struct clocks *c, uint64_t start, uint64_t length)
{
	uint64_t period = 2000000, at = start;

	fx_timebase_init(tb, FX_CLOCK_COUNTER, anchor_at(c, at));
	while (at < start + length) {
		at += period;
		period = period * 4 < 2 * SECOND ? period * 4 : 2 * SECOND;
		cr_assert_eq(fx_timebase_add(tb, anchor_at(c, at), period), 0);
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Every step of the map goes up, and no jump is larger than the step. */
static void expect_smooth(struct fx_timebase *tb, const struct clocks *c, uint64_t start,
			  uint64_t length)
{
	const uint64_t steps = 200000, step = length / steps;
	uint64_t last = 0;

	for (uint64_t i = 0; i <= steps; i++) {
		uint64_t ns = fx_timebase_ns(tb, true_ticks(c, start + i * step));

		cr_assert_geq(ns, last);
		if (i)
			cr_assert_lt(distance(ns - last, step), step / 100 + 2,
				     "%llu ns instead of %llu", (unsigned long long)(ns - last),
				     (unsigned long long)step);
		last = ns;
	}
}

static void expect_true(struct fx_timebase *tb, const struct clocks *c, uint64_t ns,
			uint64_t tolerance)
{
	uint64_t got = fx_timebase_ns(tb, true_ticks(c, ns));

	cr_assert_leq(distance(got, ns), tolerance, "off by %llu ns at %llu",
		      (unsigned long long)distance(got, ns), (unsigned long long)ns);
}

Test(timebase, an_even_clock)
{
	const struct clocks c = {.ticks_per_ns = 2.6};
	struct fx_timebase tb;

	feed(&tb, &c, 7 * SECOND, 60 * SECOND);
	expect_smooth(&tb, &c, 7 * SECOND, 60 * SECOND);
	for (uint64_t t = 7; t < 67; t++)
		expect_true(&tb, &c, t * SECOND, 3);
	fx_timebase_destroy(&tb);
}

Test(timebase, readings_that_jitter)
{
	const struct clocks c = {.ticks_per_ns = 3.1, .jitter = 40};
	struct fx_timebase tb;

	srand(1);
	feed(&tb, &c, 7 * SECOND, 60 * SECOND);
	expect_smooth(&tb, &c, 7 * SECOND, 60 * SECOND);
	/* The first milliseconds give the slope to some parts in 100000; that is steered away. */
	for (uint64_t t = 10; t < 67; t++)
		expect_true(&tb, &c, t * SECOND, 2000);
	fx_timebase_destroy(&tb);
}

Test(timebase, a_rate_that_changes)
{
	const struct clocks c = {.ticks_per_ns = 1.0 / 3, .wander = 1e-3, .jitter = 20};
	struct fx_timebase tb;

	srand(2);
	feed(&tb, &c, 100 * SECOND, 300 * SECOND);
	expect_smooth(&tb, &c, 100 * SECOND, 300 * SECOND);
	for (uint64_t t = 110; t < 400; t += 7)
		expect_true(&tb, &c, t * SECOND, 20000);
	fx_timebase_destroy(&tb);
}

/* A reading that is far off, shortly before the next: what is steered is the thousandth part at most. */
Test(timebase, one_bad_reading_bends_the_map_little)
{
	const struct clocks c = {.ticks_per_ns = 2.6};

	for (int sign = -1; sign <= 1; sign += 2) {
		struct fx_timebase tb;
		struct fx_anchor bad = anchor_at(&c, 68 * SECOND);
		uint64_t ns;

		feed(&tb, &c, 7 * SECOND, 60 * SECOND);
		bad.ns += (uint64_t)(sign * INT64_C(5000));
		cr_assert_eq(fx_timebase_add(&tb, bad, 10000), 0);
		ns = fx_timebase_ns(&tb, true_ticks(&c, 69 * SECOND)) -
		     fx_timebase_ns(&tb, true_ticks(&c, 68 * SECOND));
		cr_assert_leq(distance(ns, SECOND), SECOND / 900, "%llu ns",
			      (unsigned long long)ns);
		cr_assert_geq(distance(ns, SECOND), SECOND / 1100, "it was not steered at all");
		fx_timebase_destroy(&tb);
	}
}

Test(timebase, any_order_of_times)
{
	const struct clocks c = {.ticks_per_ns = 2.6};
	struct fx_timebase tb;

	srand(3);
	feed(&tb, &c, 7 * SECOND, 30 * SECOND);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t ticks = true_ticks(&c, 6 * SECOND + (uint64_t)rand() % (40 * SECOND));

		cr_assert_eq(fx_timebase_ns(&tb, ticks), fx_timebase_ns_slow(&tb, ticks));
	}
	fx_timebase_destroy(&tb);
}

Test(timebase, before_the_first_anchor)
{
	const struct clocks c = {.ticks_per_ns = 2.6};
	struct fx_timebase tb;

	feed(&tb, &c, 7 * SECOND, SECOND);
	expect_true(&tb, &c, 6 * SECOND, 10);
	cr_assert_eq(fx_timebase_ns(&tb, 0), 0, "not below zero");
	fx_timebase_destroy(&tb);
}

Test(timebase, anchors_that_go_back_are_ignored)
{
	const struct clocks c = {.ticks_per_ns = 2.6};
	struct fx_timebase tb;
	size_t count;

	feed(&tb, &c, 7 * SECOND, SECOND);
	count = tb.count;
	cr_assert_eq(fx_timebase_add(&tb, anchor_at(&c, 7 * SECOND), SECOND), 0);
	cr_assert_eq(tb.count, count);
	fx_timebase_destroy(&tb);
}

/* --- One map for the whole session ----------------------------------------------------------- */

#define ASKED 4096u

/* A conversion that was made at some time of the session. */
struct asked {
	uint64_t ticks, ns;
};

static int by_ticks(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

/* The least distance of two times of a thread, as fx_terms_for() has it. */
static uint64_t least_step(double ticks_per_ns)
{
	return (uint64_t)(1.02 * ticks_per_ns) + 1;
}

/* Equal ticks are equal times; later ones, by a nanosecond at least, are later times. */
static void expect_one_map(struct fx_timebase *tb, struct asked *asked, size_t count, uint64_t step)
{
	qsort(asked, count, sizeof(*asked), by_ticks);
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(fx_timebase_ns(tb, asked[i].ticks), asked[i].ns,
			     "another time than before");
		if (i == 0)
			continue;
		cr_assert_geq(asked[i].ns, asked[i - 1].ns);
		if (asked[i].ticks - asked[i - 1].ticks >= step)
			cr_assert_gt(asked[i].ns, asked[i - 1].ns, "two times fell together");
	}
}

/* A session of anchors that are off, clocks that are set and machines that sleep; times are converted
 * while it goes on, those near an anchor before and after it is known. */
static void random_session(unsigned seed)
{
	const double rates[] = {0.024, 0.4, 1.0 / 3, 1, 1.999, 2.445, 2.6, 3.1, 4.9};
	const struct clocks c = {.ticks_per_ns = rates[seed % 9],
				 .wander = seed % 3 ? 1e-3 : 0,
				 .jitter = 1 + seed % 50};
	const uint64_t step = least_step(c.ticks_per_ns);
	static struct asked asked[ASKED];
	uint64_t at = 50 * SECOND, period = 2000000, slept = 0;
	struct fx_timebase tb;
	size_t count = 0;

	srand(seed);
	fx_timebase_init(&tb, FX_CLOCK_COUNTER, anchor_at(&c, at));
	while (count + 40 < ASKED) {
		struct fx_anchor a;

		at += period;
		period = period * 4 < 2 * SECOND ? period * 4 : 1 + (uint64_t)rand() % SECOND;
		if (seed % 4 == 0 && rand() % 16 == 0)
			slept += (uint64_t)rand() % (10 * SECOND);
		a = anchor_at(&c, at);
		a.ns += slept;
		for (uint64_t i = 0; i < 20 && tb.count; i++, count++) {
			asked[count].ticks = a.ticks - 1 - i * step - (uint64_t)rand() % (i + 1);
			asked[count].ns = fx_timebase_ns(&tb, asked[count].ticks);
		}
		cr_assert_eq(fx_timebase_add(&tb, a, period), 0);
		for (uint64_t i = 0; i < 20; i++, count++) {
			asked[count].ticks = a.ticks - 1 + (uint64_t)rand() % step + i * step;
			asked[count].ns = fx_timebase_ns(&tb, asked[count].ticks);
		}
	}
	expect_one_map(&tb, asked, count, step);
	fx_timebase_destroy(&tb);
}

Test(timebase, one_map_for_the_whole_session)
{
	for (unsigned seed = 1; seed <= 300; seed++)
		random_session(seed);
}

/* The counter stood still while the machine slept for `asleep` ns, 10 s after the anchors of feed(). */
static struct fx_anchor after_sleep(const struct clocks *c, uint64_t ns, uint64_t asleep)
{
	struct fx_anchor a = anchor_at(c, ns);

	a.ns += asleep;
	return a;
}

Test(timebase, a_machine_that_sleeps)
{
	const struct clocks c = {.ticks_per_ns = 2.6, .jitter = 20};
	const uint64_t hour = 3600 * SECOND;
	struct fx_timebase tb;

	feed(&tb, &c, 7 * SECOND, 60 * SECOND);
	cr_assert_eq(tb.found, FX_TIMEBASE_AS_BEFORE);
	for (uint64_t t = 70; t < 80; t += 2) {
		cr_assert_eq(fx_timebase_add(&tb, after_sleep(&c, t * SECOND, hour), 2 * SECOND),
			     0);
		cr_assert_eq(tb.found, t == 70 ? FX_TIMEBASE_JUMP : FX_TIMEBASE_AS_BEFORE);
		if (t == 70)
			cr_assert_leq(distance((uint64_t)tb.found_by, hour), 10000);
	}
	expect_smooth(&tb, &c, 7 * SECOND, 62 * SECOND);
	expect_true(&tb, &c, 69 * SECOND, 10000);
	for (uint64_t t = 70; t < 80; t++) {
		uint64_t got = fx_timebase_ns(&tb, true_ticks(&c, t * SECOND));

		cr_assert_leq(distance(got, t * SECOND + hour), 10000, "off by %llu ns at %llu s",
			      (unsigned long long)distance(got, t * SECOND + hour),
			      (unsigned long long)t);
	}
	fx_timebase_destroy(&tb);
}

/* A counter that runs at another rate from a moment on. The kernel's steering of both clocks is none of that. */
static unsigned drifts_found(double change, int64_t *ret_by)
{
	const struct clocks c = {.ticks_per_ns = 2.6, .jitter = 200};
	struct fx_timebase tb;
	struct fx_anchor from;
	unsigned found = 0;

	feed(&tb, &c, 7 * SECOND, 60 * SECOND);
	from = tb.newest;
	for (uint64_t t = 2; t < 60; t += 2) {
		struct fx_anchor a = {
		    .ticks = from.ticks + (uint64_t)((double)(t * SECOND) * 2.6 / (1 + change)),
		    .ns = from.ns + t * SECOND};

		cr_assert_eq(fx_timebase_add(&tb, a, 2 * SECOND), 0);
		cr_assert_neq(tb.found, FX_TIMEBASE_JUMP);
		if (tb.found == FX_TIMEBASE_DRIFT) {
			found++;
			*ret_by = tb.found_by;
		}
	}
	fx_timebase_destroy(&tb);
	return found;
}

Test(timebase, a_counter_that_drifts)
{
	int64_t by = 0;

	cr_assert_eq(drifts_found(0.0005, &by), 0);
	cr_assert_eq(drifts_found(-0.001, &by), 0);
	cr_assert_geq(drifts_found(0.004, &by), 1);
	cr_assert(by > 1900 && by < 4100, "%lld", (long long)by);
	cr_assert_geq(drifts_found(-0.004, &by), 1);
	cr_assert(by < -1900 && by > -4100, "%lld", (long long)by);
}

/* Between the first two anchors: the slope that they give is nonsense, and not kept. */
Test(timebase, a_machine_that_sleeps_at_the_very_beginning)
{
	const struct clocks c = {.ticks_per_ns = 2.6};
	struct fx_timebase tb;
	uint64_t ns;

	fx_timebase_init(&tb, FX_CLOCK_COUNTER, anchor_at(&c, 7 * SECOND));
	for (uint64_t t = 8; t < 20; t++)
		cr_assert_eq(fx_timebase_add(&tb, after_sleep(&c, t * SECOND, SECOND), SECOND), 0);
	ns = fx_timebase_ns(&tb, true_ticks(&c, 16 * SECOND)) -
	     fx_timebase_ns(&tb, true_ticks(&c, 15 * SECOND));
	cr_assert_leq(distance(ns, SECOND), SECOND / 900, "%llu ns", (unsigned long long)ns);
	fx_timebase_destroy(&tb);
}

Test(timebase, a_clock_that_is_set_back)
{
	const struct clocks c = {.ticks_per_ns = 2.6};

	for (uint64_t back = SECOND; back <= 10000 * SECOND; back *= 100) {
		struct fx_timebase tb;

		feed(&tb, &c, 20000 * SECOND, 60 * SECOND);
		for (uint64_t t = 20062; t < 20080; t += 2)
			cr_assert_eq(
			    fx_timebase_add(&tb, after_sleep(&c, t * SECOND, -back), 2 * SECOND),
			    0);
		/* Never back, and nearly as fast as before: a thousandth slower, until it is true. */
		expect_smooth(&tb, &c, 20000 * SECOND, 80 * SECOND);
		fx_timebase_destroy(&tb);
	}
}

Test(timebase, boottime_is_itself)
{
	struct fx_timebase tb;

	fx_timebase_init(&tb, FX_CLOCK_BOOTTIME, (struct fx_anchor){5, 5});
	cr_assert_eq(fx_timebase_ns(&tb, 123456789), 123456789);
	cr_assert_eq(fx_timebase_ticks(&tb, 1000), 1000);
	fx_timebase_destroy(&tb);
}

Test(timebase, the_clocks_of_this_machine)
{
	enum fx_clock_kind kind = test_clock_kind();
	struct fx_timebase tb;
	uint64_t before, ns, after;

	fx_timebase_init(&tb, kind, fx_anchor_take(kind));
	while (fx_boottime_ns() - tb.first.ns < 5000000)
		;
	cr_assert_eq(fx_timebase_add(&tb, fx_anchor_take(kind), SECOND), 0);
	before = fx_boottime_ns();
	ns = fx_timebase_ns(&tb, fx_ticks(kind));
	after = fx_boottime_ns();
	cr_assert_geq(ns + 2000, before);
	cr_assert_leq(ns, after + 2000);
	fx_timebase_destroy(&tb);
}

/* The first segments have their room from the beginning, and the rest is theirs when more are wanted. */
Test(timebase, more_segments_than_have_room_of_their_own)
{
	struct clocks c = {.ticks_per_ns = 2.6};
	struct fx_timebase tb;
	uint64_t seconds = 1;

	fx_timebase_init(&tb, FX_CLOCK_COUNTER, anchor_at(&c, SECOND));
	do {
		struct fx_anchor anchor = anchor_at(&c, ++seconds * SECOND);

		cr_assert_lt(seconds, 10);
		cr_assert_eq(fx_timebase_add(&tb, anchor, SECOND), 0);
		cr_assert(seconds > 2 || tb.segments == tb.few);
	} while (tb.segments == tb.few);
	for (uint64_t ns = SECOND; ns < seconds * SECOND; ns += SECOND / 10)
		cr_expect_lt(distance(fx_timebase_ns(&tb, true_ticks(&c, ns)), ns), 1000);
	fx_timebase_destroy(&tb);
}
