/* SPDX-License-Identifier: MIT */
/*
 * Two machines whose clocks are anything apart and drift, of which nothing but their messages tells: what is said to be the uncertainty of
 * the second one's clock holds the truth, in each of a thousand random cases, by a socket's bytes as by arrows of MPI. Bytes
 * are sent in calls of one size and received in those of another, and a call begins before they leave, and ends after they have come.
 */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <fxtrace/record.h>

#include "archives/align.h"

#define CASES 1000

static uint64_t seed = 7;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double between(double low, double high)
{
	return low + (high - low) * uniform();
}

/* How long something takes, ns: some time at least, and sometimes much more. */
static double takes(double least)
{
	double more = -log(1 - uniform()) * least;

	return least + (uniform() < 0.1 ? more * 50 : more);
}

/* What a clock shows at a true time, from 0 on; a second at least, before which no time can be moved. */
struct shown {
	double drift, start;
};

static uint64_t shown_at(const struct shown *clock, double since)
{
	return (uint64_t)clock->start + (uint64_t)(since * (1 + clock->drift));
}

struct pair {
	struct fx_aligned archives[2];
	struct shown clocks[2];
	struct fx_links *links;
	double length, least;
	double last; /* the true time of the last event */
};

/* --- By a socket ------------------------------------------------------------------------------ */

static void take_call(struct pair *pair, int side, bool is_sent, uint64_t bytes, uint64_t total,
		      double begin, double end)
{
	static const char *const files[] = {"socket:[11] tcp 10.0.0.1:4000->10.0.0.2:80",
					    "socket:[12] tcp 10.0.0.2:80->10.0.0.1:4000"};
	static const struct fxt_provider provider = {.ticks_per_second = 1000000000};
	struct fxt_record record = {.kind = FXT_KIND_EVENT, .provider = &provider};

	pair->last = fmax(pair->last, end);
	record.event.type = FXT_EVENT_DURATION_COMPLETE;
	record.event.thread = fxt_thread_of(100 + (uint64_t)side, 100 + (uint64_t)side);
	record.event.timestamp = shown_at(&pair->clocks[side], begin);
	record.event.end_time = shown_at(&pair->clocks[side], end);
	fxt_record_add_arg(&record, "fd", FXT_ARG_INT32)->int32 = 5;
	fxt_record_add_arg(&record, "file", FXT_ARG_STRING)->string = fxt_text(files[side]);
	fxt_record_add_arg(&record, "ret", FXT_ARG_INT64)->int64 = (int64_t)bytes;
	fxt_record_add_arg(&record, is_sent ? "total_written" : "total_read", FXT_ARG_UINT64)
	    ->uint64 = total;
	cr_assert_eq(fx_messages_add(&pair->archives[side].facts.messages, &record), 0);
}

/* Calls of `count' messages in one direction, from a time to another. */
static void talk_by_socket(struct pair *pair, int from, unsigned count, double begin, double end)
{
	double now = begin, arrived = 0, read = 0;
	uint64_t sent = 0, received = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t bytes = (uint64_t)pow(10, between(0, 6));
		double left;

		now += between(0, 2 * (end - begin) / count);
		left = now + takes(pair->least / 10);
		sent += bytes;
		take_call(pair, from, true, bytes, sent, now, left + takes(pair->least / 10));
		/* In order, and after what came before. */
		arrived = fmax(arrived, left + takes(pair->least));
		now = left;
		/* Some are read with the next ones. */
		if (i + 1 < count && uniform() < 0.3)
			continue;
		for (unsigned parts = uniform() < 0.3 ? 3 : 1; parts > 0; parts--) {
			uint64_t part = parts == 1 ? sent - received : (sent - received) / parts;
			double done;

			if (part == 0)
				continue;
			received += part;
			done = fmax(read, arrived) + takes(pair->least / 10);
			take_call(pair, 1 - from, false, part, received, fmax(read, begin), done);
			read = done;
		}
	}
}

/* --- By arrows -------------------------------------------------------------------------------- */

static void talk_by_arrows(struct pair *pair, int from, unsigned count, double begin, double end)
{
	for (unsigned i = 0; i < count; i++) {
		double sent = between(begin, end), received = sent + takes(pair->least);
		uint64_t id = (uint64_t)from << 32 | (i + 1);

		pair->last = fmax(pair->last, received);
		cr_assert_eq(fx_links_add(pair->links, (size_t)from, true, id,
					  shown_at(&pair->clocks[from], sent)),
			     0);
		cr_assert_eq(fx_links_add(pair->links, (size_t)(1 - from), false, id,
					  shown_at(&pair->clocks[1 - from], received)),
			     0);
	}
}

/* --- Cases ------------------------------------------------------------------------------------ */

typedef void talk_function(struct pair *pair, int from, unsigned count, double begin, double end);

static void pair_begin(struct pair *pair)
{
	*pair = (struct pair){.length = pow(10, between(7, 12)), .least = pow(10, between(3, 6))};
	pair->last = pair->length;
	pair->links = fx_links_new();
	cr_assert_not_null(pair->links);
	for (size_t side = 0; side < 2; side++) {
		struct fx_facts *facts = &pair->archives[side].facts;

		pair->clocks[side] =
		    (struct shown){between(-50e-6, 50e-6), floor(pow(10, between(9, 15)))};
		facts->first_ns = shown_at(&pair->clocks[side], 0);
		facts->events = 1;
		facts->links = pair->links;
		facts->number = side;
	}
}

static void pair_end(struct pair *pair)
{
	for (size_t side = 0; side < 2; side++) {
		fx_messages_free(&pair->archives[side].facts.messages);
		fx_clockmap_free(&pair->archives[side].map);
	}
	fx_links_free(pair->links);
}

/* Returns what is said to be the error. */
static double check_case(talk_function *talk, bool both)
{
	unsigned count = (unsigned)pow(10, between(0.5, 2.5));
	struct pair pair;
	double error;

	pair_begin(&pair);
	/* Some talk all the time, some for a while only. */
	for (int from = 0; from < (both ? 2 : 1); from++) {
		double begin = uniform() < 0.5 ? 0 : between(0, pair.length / 2);

		talk(&pair, from, count, begin,
		     uniform() < 0.5 ? pair.length : between(begin, pair.length));
	}
	for (size_t side = 0; side < 2; side++) {
		fx_messages_seal(&pair.archives[side].facts.messages);
		pair.archives[side].facts.last_ns = shown_at(&pair.clocks[side], pair.last);
	}
	cr_assert_eq(fx_align(pair.archives, 2, pair.links), 0);
	cr_assert_eq(pair.archives[1].how, FX_ALIGN_MESSAGES);
	cr_assert_not(pair.archives[1].is_contradicted);
	error = pair.archives[1].error;
	for (int i = 0; i <= 20; i++) {
		double since = pair.last * i / 20;
		uint64_t one =
		    fx_clockmap_to(&pair.archives[0].map, shown_at(&pair.clocks[0], since));
		uint64_t two =
		    fx_clockmap_to(&pair.archives[1].map, shown_at(&pair.clocks[1], since));
		double wrong = (double)(int64_t)(two - one);

		/* Times are whole nanoseconds. */
		cr_assert_leq(fabs(wrong), error + 4,
			      "wrong by %g ns, and said to be by %g at most", wrong, error);
	}
	pair_end(&pair);
	return error;
}

static void check_cases(talk_function *talk)
{
	unsigned good = 0;

	for (unsigned i = 0; i < CASES; i++)
		good += check_case(talk, true) < 1e7;
	cr_assert_gt(good, CASES / 8, "errors below ten milliseconds: %u", good);
}

Test(uncertainty, holds_the_truth_by_sockets)
{
	check_cases(talk_by_socket);
}

Test(uncertainty, holds_the_truth_by_arrows)
{
	check_cases(talk_by_arrows);
}

Test(uncertainty, one_direction_tells_none)
{
	for (unsigned i = 0; i < 100; i++) {
		cr_assert(isinf(check_case(talk_by_socket, false)));
		cr_assert(isinf(check_case(talk_by_arrows, false)));
	}
}
