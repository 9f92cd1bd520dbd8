/* SPDX-License-Identifier: MIT */
/*
 * Receives get the numbers of their messages: against a process that matches messages as MPI has to, whose receives are posted, over,
 * cancelled and asked for in any order.
 */
#include <criterion/criterion.h>

#include <stdint.h>
#include <string.h>

#include "mpi/match.h"

enum { CASES = 2000, SOURCES = 3, TAGS = 2, STEPS = 200 };

static uint64_t seed = 7;

static unsigned any_of(unsigned count)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % count;
}

struct message {
	int source, tag;
	uint32_t number; /* in its channel */
	bool is_taken;
};

/* A receive, posted; what it has got. */
struct posted {
	struct fx_receive *receive;
	int source, tag;
	struct message *message; /* NULL: none yet */
	bool is_given_up;	 /* gets none any more, which its owner does not know yet */
	bool is_gone;
	uint32_t told; /* the number that was told of it, and 1 */
};

static struct posted receives[STEPS];
static struct message messages[STEPS];
static unsigned receive_count, message_count, told_count;

/* Whoever is told of is found by when it was over. */
static void tell(const struct fx_receive *receive, uint32_t number)
{
	struct posted *posted = &receives[receive->when.ticks];

	cr_assert_eq(posted->told, 0, "told twice");
	cr_assert_eq(receive->source, posted->message->source);
	cr_assert_eq(receive->tag, posted->message->tag);
	posted->told = number + 1;
	told_count++;
}

static bool fits(const struct posted *posted, const struct message *message)
{
	return (posted->source == FX_MATCH_ANY || posted->source == message->source) &&
	       (posted->tag == FX_MATCH_ANY || posted->tag == message->tag);
}

/* A message comes: it is for the receive that was posted first of those that it fits. */
static void comes(uint32_t numbers[SOURCES][TAGS])
{
	struct message *message = &messages[message_count++];

	*message = (struct message){.source = (int)any_of(SOURCES), .tag = (int)any_of(TAGS)};
	message->number = numbers[message->source][message->tag]++;
	for (unsigned i = 0; i < receive_count && !message->is_taken; i++) {
		if (receives[i].message || receives[i].is_given_up || receives[i].is_gone ||
		    !fits(&receives[i], message))
			continue;
		receives[i].message = message;
		message->is_taken = true;
	}
}

/* A receive takes the first message that is there of those that fit. */
static void post(struct fx_match *match)
{
	struct posted *posted = &receives[receive_count++];

	*posted = (struct posted){.source = any_of(3) ? (int)any_of(SOURCES) : FX_MATCH_ANY,
				  .tag = any_of(3) ? (int)any_of(TAGS) : FX_MATCH_ANY};
	posted->receive = fx_match_post(match, posted->source, posted->tag, 1);
	cr_assert_not_null(posted->receive);
	fx_match_posted(posted->receive);
	for (unsigned i = 0; i < message_count && !posted->message; i++) {
		if (messages[i].is_taken || !fits(posted, &messages[i]))
			continue;
		posted->message = &messages[i];
		messages[i].is_taken = true;
	}
}

static void over(struct posted *posted)
{
	struct fx_match_when when = {.ticks = (uint64_t)(posted - receives), .tid = 1};

	fx_match_over(posted->receive, posted->message->source, posted->message->tag, 8, when,
		      tell);
	posted->is_gone = true;
}

static void none(struct posted *posted)
{
	fx_match_none(posted->receive, tell);
	posted->is_gone = true;
}

/* What the program does with one of its receives. */
static void look(struct posted *posted)
{
	if (posted->is_gone)
		return;
	if (posted->is_given_up) {
		none(posted);
		return;
	}
	switch (any_of(8)) {
	case 0: /* given up, perhaps too late */
		fx_match_cancelling(posted->receive);
		posted->is_given_up = !posted->message;
		break;
	case 1: /* known before it is over, as by MPI_Mprobe() */
		if (posted->message)
			fx_match_found(posted->receive, posted->message->source,
				       posted->message->tag, tell);
		break;
	default:
		if (posted->message)
			over(posted);
	}
}

static void one_case(uint64_t id)
{
	uint32_t numbers[SOURCES][TAGS] = {{0}};
	struct fx_match match;

	receive_count = message_count = told_count = 0;
	fx_match_init(&match, id, 0);
	for (unsigned step = 0; step < STEPS; step++) {
		switch (any_of(3)) {
		case 0:
			comes(numbers);
			break;
		case 1:
			post(&match);
			break;
		default:
			if (receive_count)
				look(&receives[any_of(receive_count)]);
		}
	}
	/* In the end all are over. */
	for (unsigned i = receive_count; i-- > 0;) {
		if (receives[i].is_gone)
			continue;
		if (receives[i].message)
			over(&receives[i]);
		else
			none(&receives[i]);
	}
	for (unsigned i = 0; i < receive_count; i++) {
		const struct message *message = receives[i].message;

		if (message)
			cr_assert_eq(receives[i].told, message->number + 1,
				     "receive %u of case %u: number %u instead of %u", i,
				     (unsigned)id, receives[i].told, message->number + 1);
	}
	cr_assert_eq(match.receives, 0);
}

Test(match, numbers_are_those_of_the_messages)
{
	unsigned all = 0;

	for (uint64_t i = 1; i <= CASES; i++) {
		one_case(i);
		all += told_count;
	}
	cr_assert_gt(all, CASES * 20u);
}

Test(match, sends_are_counted_by_channel)
{
	struct fx_sending a, b, c;
	struct fx_match match;

	fx_match_init(&match, 100000, 0);
	fx_match_send(&match, 1, 5, false, &a);
	fx_match_send(&match, 1, 6, false, &b);
	fx_match_send(&match, 1, 5, false, &c);
	cr_assert_eq(a.number, 0);
	cr_assert_eq(b.number, 0);
	cr_assert_eq(c.number, 1);
	/* What was not sent has had no number. */
	fx_match_sent(&match, &c, false, true);
	fx_match_send(&match, 1, 5, false, &c);
	cr_assert_eq(c.number, 1);
	cr_assert(c.has_number);
	/* After one that may or may not have been sent nothing is known any more. */
	fx_match_unsend(a.channel);
	fx_match_send(&match, 1, 5, false, &c);
	cr_assert_not(c.has_number);
	fx_match_send(&match, 1, 6, false, &c);
	cr_assert(c.has_number);
}

Test(match, threads_that_send_at_once_are_unsure)
{
	struct fx_sending a, b, c;
	struct fx_match match;

	fx_match_init(&match, 100001, 0);
	fx_match_send(&match, 1, 5, true, &a);
	fx_match_send(&match, 1, 6, true, &b);
	fx_match_send(&match, 1, 5, true, &c);
	cr_assert(a.is_unsure && c.is_unsure && !b.is_unsure);
	fx_match_sent(&match, &a, true, false);
	fx_match_sent(&match, &b, true, false);
	fx_match_sent(&match, &c, true, false);
	fx_match_send(&match, 1, 5, true, &a);
	cr_assert_not(a.is_unsure);
	fx_match_sent(&match, &a, true, false);
}

static void count(const struct fx_receive *receive, uint32_t number)
{
	(void)receive, (void)number;
	told_count++;
}

Test(match, threads_that_receive_at_once_are_unsure)
{
	struct fx_receive *a, *b, *c;
	struct fx_match match;

	told_count = 0;
	fx_match_init(&match, 100002, 0);
	a = fx_match_post(&match, 1, 5, 1);
	b = fx_match_post(&match, FX_MATCH_ANY, 5, 2);
	c = fx_match_post(&match, 1, 6, 3);
	cr_assert(a->is_unsure && b->is_unsure && !c->is_unsure);
	fx_match_over(a, 1, 5, 0, (struct fx_match_when){0}, count);
	fx_match_over(b, 1, 5, 0, (struct fx_match_when){0}, count);
	cr_assert_eq(told_count, 0);
	fx_match_over(c, 1, 6, 0, (struct fx_match_when){0}, count);
	cr_assert_eq(told_count, 1);
}

Test(match, one_from_anybody_that_is_forgotten_ends_it)
{
	struct fx_receive *wild, *a;
	struct fx_match match;

	told_count = 0;
	fx_match_init(&match, 100003, 0);
	wild = fx_match_post(&match, FX_MATCH_ANY, 5, 1);
	fx_match_posted(wild);
	a = fx_match_post(&match, 1, 5, 1);
	fx_match_posted(a);
	fx_match_over(a, 1, 5, 0, (struct fx_match_when){0}, count);
	fx_match_forget(wild);
	cr_assert_eq(told_count, 0);
	cr_assert_null(fx_match_post(&match, 1, 5, 1));
}
