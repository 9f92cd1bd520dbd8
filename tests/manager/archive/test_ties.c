/* SPDX-License-Identifier: MIT */
/* Arrows between processes: drawn once both sides are known, whole or not at all, whatever is told. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "manager/archive/intake.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"
#include "tests/manager/records.h"
#include "tests/manager/shared.h"

#define PARENT	100u
#define CHILD	200u
#define STREAMS 32u

#define EXITED(code)	((code) << 8)
#define KILLED(signal_) (signal_)

static struct fx_stream_shared shared;
static struct fx_ties ties;
static struct fx_stream *streams[STREAMS];
static uint32_t count;

static struct fx_stream *birth(uint32_t pid, uint64_t ns, bool exec)
{
	struct fx_stream *s;

	cr_assert_lt(count, STREAMS);
	cr_assert_eq(fx_stream_create(&shared, count + 1, pid, "app", &s), 0);
	streams[count++] = s;
	fx_ties_birth(&ties, s, ns, exec);
	return s;
}

static void die(struct fx_stream *s, uint64_t ns)
{
	fx_intake_finish(s, &(struct fx_stream_end){.ticks = ns});
	for (uint32_t i = 0; i < count; i++) {
		if (streams[i] == s)
			streams[i] = NULL;
	}
	fx_stream_destroy(s);
}

static int tell(struct fx_stream *s, enum fx_tie_kind kind, uint32_t pid, int32_t value,
		uint64_t ns)
{
	const struct fx_tie tie = {
	    .kind = kind, .tid = s->pid, .shown = s->pid, .pid = pid, .value = value, .ns = ns};
	struct fx_stream_thread *t = fx_stream_thread(s, s->pid);

	/* As the stream does: the thread was heard of, since its chunk told. */
	fx_archive_select(&shared.archive, s->id);
	fx_stream_thread_index(s, t);
	return fx_ties_take(&ties, s, &tie);
}

static struct fx_stream *begin(void)
{
	shared_begin(&shared, &ties);
	count = 0;
	return birth(PARENT, 10, false);
}

static void end(void)
{
	for (uint32_t i = 0; i < count; i++) {
		if (streams[i])
			die(streams[i], 1000000);
	}
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_ties_destroy(&ties);
	fx_symbol_cache_destroy(shared.symbols);
	fx_known_destroy(&shared.known);
	archive_expect_clean(archive_path());
}

static uint64_t flows(const char *name)
{
	return archive_count_events(archive_path(), FXT_EVENT_FLOW_BEGIN, name);
}

/* One arrow, from `from_pid` to `to_pid`, that does not go back. */
static void expect_arrow(const char *from, uint32_t from_pid, const char *to, uint32_t to_pid)
{
	struct found_event a, b;

	cr_assert_eq(flows(from), 1, "arrows that begin in '%s'", from);
	a = archive_find_event(archive_path(), FXT_EVENT_FLOW_BEGIN, from);
	b = archive_find_event(archive_path(), FXT_EVENT_FLOW_END, to);
	cr_assert_eq(b.count, 1);
	cr_assert_eq(a.event.id, b.event.id);
	cr_assert_leq(a.event.timestamp, b.event.timestamp);
	cr_assert_eq(a.pid, from_pid);
	cr_assert_eq(b.pid, to_pid);
}

TestSuite(ties, .fini = archive_remove);

/* --- Beginnings ------------------------------------------------------------------------------ */

Test(ties, a_child_that_is_told_of_first)
{
	struct fx_stream *parent = begin();

	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 0, 20), 0);
	birth(CHILD, 30, false);
	end();
	expect_arrow("creates process", PARENT, "process starts", CHILD);
}

/* --- Who was to be heard of, and was not ------------------------------------------------------ */

#define SECOND 1000000000u

static void expect_missing(uint64_t early, uint64_t late)
{
	fx_ties_finish(&ties);
	cr_assert_eq(ties.early, early, "ended early: %" PRIu64, ties.early);
	cr_assert_eq(ties.late, late, "late: %" PRIu64, ties.late);
	end();
}

Test(ties, who_never_came_is_missing)
{
	struct fx_stream *parent = begin();

	/* Five that were to come: one came, one before it was told of, one had time, one had none, one another is counted by. */
	for (uint32_t i = 0; i < 5; i++) {
		if (i == 1)
			birth(CHILD + i, 30, false);
		cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD + i, 1, 20), 0);
	}
	birth(CHILD, 30, false);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD + 2, EXITED(0), 20 + SECOND), 0);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD + 3, EXITED(0), 40), 0);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD + 4, EXITED(0), 40), 0);
	fx_ties_excuse(&ties, CHILD + 4);
	/* And one that nobody expects. */
	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD + 5, 0, 20), 0);
	expect_missing(1, 1);
}

/* The clock that the child has brought may be a little behind. */
Test(ties, who_came_by_another_clock_is_not_missing)
{
	struct fx_stream *parent = begin();

	birth(CHILD, 3000, false);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 1, 3010), 0);
	expect_missing(0, 0);
}

Test(ties, a_number_that_comes_again_is_missing_twice)
{
	struct fx_stream *parent = begin();

	for (uint64_t i = 0; i < 2; i++) {
		cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 1, 20 + i * SECOND), 0);
		cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(0), 30 + i * SECOND), 0);
	}
	expect_missing(2, 0);
}

Test(ties, whoever_still_lives_and_was_not_heard_of_was_not_early)
{
	struct fx_stream *parent = begin();

	cr_assert_eq(tell(parent, FX_TIE_CREATES, (uint32_t)getpid(), 1, 20), 0);
	expect_missing(0, 1);
}

/* Six that were to become something: one did, heard of before or after the old one's end; one did not; one had time; one
 * had none; and of one another cause was counted. */
Test(ties, who_became_something_unheard_of_is_missing)
{
	struct fx_stream *parent = begin(), *was[6];

	for (uint32_t i = 0; i < 6; i++) {
		was[i] = birth(CHILD + i, 20, false);
		if (i == 1)
			birth(CHILD + i, 40, true);
		cr_assert_eq(tell(was[i], FX_TIE_EXECS, CHILD + i, FX_TIE_VALUE_REGISTERS, 30), 0);
	}
	cr_assert_eq(tell(was[2], FX_TIE_STAYS, CHILD + 2, 0, 35), 0);
	for (uint32_t i = 0; i < 6; i++)
		die(was[i], 0);
	birth(CHILD, 40, true);
	for (uint32_t i = 0; i < 6; i++)
		cr_assert_eq(
		    tell(parent, FX_TIE_REAPS, CHILD + i, EXITED(0), i == 3 ? 30 + SECOND : 60), 0);
	fx_ties_excuse(&ties, CHILD + 5);
	expect_missing(1, 1);
}

/* Its number is another process's by then. */
Test(ties, who_became_something_unheard_of_is_missing_when_its_number_comes_again)
{
	struct fx_stream *parent = begin();
	struct fx_stream *was = birth(CHILD, 20, false);

	cr_assert_eq(tell(was, FX_TIE_EXECS, CHILD, FX_TIE_VALUE_REGISTERS, 30), 0);
	die(was, 0);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(0), 60), 0);
	birth(CHILD, 70, false);
	expect_missing(1, 0);
}

Test(ties, what_is_told_for_counting_alone_is_not_drawn)
{
	struct fx_stream *parent = begin();
	struct fx_stream *child;

	cr_assert_eq(
	    tell(parent, FX_TIE_CREATES, CHILD, FX_TIE_VALUE_REGISTERS | FX_TIE_VALUE_SILENT, 20),
	    0);
	child = birth(CHILD, 30, false);
	cr_assert_eq(
	    tell(child, FX_TIE_EXECS, CHILD, FX_TIE_VALUE_REGISTERS | FX_TIE_VALUE_SILENT, 40), 0);
	die(child, 0);
	birth(CHILD, 50, true);
	expect_missing(0, 0);
	cr_assert_eq(flows("creates process"), 0);
	cr_assert_eq(flows("becomes another program"), 0);
}

/* In a namespace of their own, where parent and child have other numbers. */
static struct fx_stream *birth_within(struct fx_origin *origin, struct fx_origin_name *name,
				      uint64_t ns)
{
	const struct fx_stream_who who = {.pid = origin->pid,
					  .kernel_pid = origin->pid,
					  .first_tid = name->pid,
					  .origin = origin};
	struct fx_stream *s;

	origin->names = name;
	origin->levels = 1;
	cr_assert_eq(fx_stream_create_as(&shared, count + 1, &who, "app", &s), 0);
	streams[count++] = s;
	fx_ties_birth(&ties, s, ns, false);
	return s;
}

static void tell_of_child(bool first)
{
	static struct fx_origin of_parent = {.pid = PARENT + 10, .proc = -1},
				of_child = {.pid = CHILD, .proc = -1},
				of_other = {.pid = CHILD + 10, .proc = -1};
	struct fx_origin_name parent_name = {7, 1}, child_name = {7, 2}, other_name = {8, 2};
	const struct fx_tie tie = {
	    .kind = FX_TIE_CREATES, .tid = 1, .shown = PARENT + 10, .pid = 2, .ns = 20};
	struct fx_stream *parent;

	begin();
	parent = birth_within(&of_parent, &parent_name, 15);
	/* In another namespace the same number is another's. */
	birth_within(&of_other, &other_name, 25);
	if (!first)
		birth_within(&of_child, &child_name, 30);
	fx_stream_thread_index(parent, fx_stream_thread(parent, 1));
	cr_assert_eq(fx_ties_take(&ties, parent, &tie), 0);
	if (first)
		birth_within(&of_child, &child_name, 30);
	fx_ties_finish(&ties);
	end();
	expect_arrow("creates process", PARENT + 10, "process starts", CHILD);
}

Test(ties, a_child_in_a_namespace_that_is_told_of_first)
{
	tell_of_child(true);
}

Test(ties, a_child_in_a_namespace_that_is_told_of_late)
{
	tell_of_child(false);
}

/* --- Who is believed -------------------------------------------------------------------------- */

#define OTHER 300u

/* With a parent by the kernel's word. */
static struct fx_stream *birth_below(struct fx_origin *origin, uint32_t pid, uint32_t parent,
				     uint64_t ns)
{
	const struct fx_stream_who who = {
	    .pid = pid, .kernel_pid = pid, .first_tid = pid, .origin = origin};
	struct fx_stream *s;

	*origin = (struct fx_origin){.pid = pid, .parent = parent, .proc = -1};
	cr_assert_eq(fx_stream_create_as(&shared, count + 1, &who, "app", &s), 0);
	streams[count++] = s;
	fx_ties_birth(&ties, s, ns, false);
	return s;
}

static struct fx_origin of_child, of_other;

Test(ties, nobody_takes_anothers_child)
{
	/* before it is heard of, and after; the true one first, and last */
	for (unsigned order = 0; order < 4; order++) {
		struct fx_stream *parent = begin(), *child = NULL;
		struct fx_stream *other = birth_below(&of_other, OTHER, 1, 12);

		for (unsigned i = 0; i < 3; i++) {
			bool is_other = (i == 0) == (order % 2 == 0);

			if (i == 1 + order / 2)
				child = birth_below(&of_child, CHILD, PARENT, 30);
			if (i < 2)
				cr_assert_eq(tell(is_other ? other : parent, FX_TIE_CREATES, CHILD,
						  0, is_other ? 28 : 20),
					     0);
		}
		cr_assert_eq(tell(other, FX_TIE_REAPS, CHILD, EXITED(77), 35), 0);
		cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(3), 60), 0);
		die(child, 50);
		end();
		expect_arrow("creates process", PARENT, "process starts", CHILD);
		expect_arrow("process exits", CHILD, "told of its end", PARENT);
		archive_remove();
	}
}

/* Only who lives is told from one whose orphan it may be. */
Test(ties, nobody_makes_what_another_takes_over)
{
	struct fx_stream *parent = begin(), *other;

	other = birth_below(&of_other, OTHER, (uint32_t)getpid(), 12);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, OTHER, 0, 11), 0);
	cr_assert_eq(tell(other, FX_TIE_CREATES, CHILD, 0, 20), 0);
	birth_below(&of_child, CHILD, OTHER, 30);
	end();
	expect_arrow("creates process", OTHER, "process starts", CHILD);
}

Test(ties, a_child_that_is_told_of_late)
{
	struct fx_stream *parent = begin();

	birth(CHILD, 30, false);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 0, 20), 0);
	end();
	expect_arrow("creates process", PARENT, "process starts", CHILD);
}

Test(ties, a_child_that_is_over_when_it_is_told_of)
{
	struct fx_stream *parent = begin();

	die(birth(CHILD, 30, false), 40);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 0, 20), 0);
	end();
	expect_arrow("creates process", PARENT, "process starts", CHILD);
}

Test(ties, what_one_side_alone_tells_is_not_drawn)
{
	struct fx_stream *parent = begin();

	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 0, 20), 0);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(3), 30), 0);
	cr_assert_eq(tell(parent, FX_TIE_KILLS, CHILD, 9, 25), 0);
	birth(CHILD + 1, 30, false);
	end();
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_FLOW_BEGIN, "creates process") +
			 flows("process exits") + flows("kills"),
		     0);
}

/* The number comes again: what was told of its first owner is not the second's. */
Test(ties, a_number_that_comes_again)
{
	struct fx_stream *parent = begin();

	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 0, 20), 0);
	die(birth(CHILD, 30, false), 40);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(0), 50), 0);
	birth(CHILD, 60, false);
	end();
	cr_assert_eq(flows("creates process"), 1);
	cr_assert_eq(flows("process exits"), 1);
}

Test(ties, another_program)
{
	struct fx_stream *before = begin();

	cr_assert_eq(tell(before, FX_TIE_EXECS, PARENT, 0, 20), 0);
	birth(PARENT, 30, true);
	die(before, 30);
	end();
	expect_arrow("becomes another program", PARENT, "program starts", PARENT);
}

/* --- Ends ------------------------------------------------------------------------------------ */

Test(ties, an_end_that_the_parent_waits_for)
{
	struct fx_stream *parent = begin();

	die(birth(CHILD, 30, false), 40);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(3), 50), 0);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(3), 60), 0, "told twice");
	end();
	expect_arrow("process exits", CHILD, "told of its end", PARENT);
}

Test(ties, who_killed_whom)
{
	for (int late = 0; late < 2; late++) {
		struct fx_stream *parent = begin();
		struct fx_stream *child = birth(CHILD, 30, false);

		if (!late)
			cr_assert_eq(tell(parent, FX_TIE_KILLS, CHILD, 9, 40), 0);
		cr_assert_eq(tell(parent, FX_TIE_KILLS, CHILD, 15, 41), 0, "another signal");
		die(child, 45);
		cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, KILLED(9), 50), 0);
		if (late)
			cr_assert_eq(tell(parent, FX_TIE_KILLS, CHILD, 9, 40), 0);
		cr_assert_eq(tell(parent, FX_TIE_KILLS, CHILD, 9, 70), 0, "after its end");
		end();
		expect_arrow("kills", PARENT, "killed", CHILD);
		cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_BEGIN, "kills")
				 .event.timestamp,
			     40);
	}
}

/* --- Signals --------------------------------------------------------------------------------- */

#define USR1   10
#define QUEUED 40

static uint64_t number[4096];

/* Process `s` sends, or takes: `other` is the other side, 0 if that is not known. */
static int tell_signal(struct fx_stream *s, enum fx_tie_kind kind, uint32_t other, int32_t signal,
		       uint64_t begin, uint64_t end)
{
	const struct fx_tie tie = {.kind = kind,
				   .tid = s->pid,
				   .shown = s->pid,
				   .pid = other,
				   .value = signal,
				   .begin_ns = begin,
				   .ns = end,
				   .number = number[s->id]++,
				   .way = FX_SIGNAL_TO_PROCESS,
				   .thread = kind == FX_TIE_TAKES};
	struct fx_stream_thread *t = fx_stream_thread(s, s->pid);

	fx_archive_select(&shared.archive, s->id);
	fx_stream_thread_index(s, t);
	return fx_ties_take(&ties, s, &tie);
}

static struct fx_stream *begin_signals(struct fx_stream **ret_child)
{
	struct fx_stream *parent = begin();

	memset(number, 0, sizeof(number));
	*ret_child = birth(CHILD, 30, false);
	return parent;
}

static void end_signals(void)
{
	fx_ties_finish(&ties);
	end();
}

/* Whichever side is heard of first. */
Test(ties, a_signal_that_is_taken)
{
	for (int late = 0; late < 2; late++) {
		struct fx_stream *child, *parent = begin_signals(&child);

		if (!late)
			cr_assert_eq(tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 40, 50), 0);
		cr_assert_eq(tell_signal(child, FX_TIE_TAKES, PARENT, USR1, 35, 60), 0);
		if (late)
			cr_assert_eq(tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 40, 50), 0);
		end_signals();
		expect_arrow("sends signal", PARENT, "takes signal", CHILD);
	}
}

/* One is pending: the first. What was sent before the take is not there for the next. */
Test(ties, signals_that_merge)
{
	struct fx_stream *child, *parent = begin_signals(&child);

	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 40, 45);
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 50, 55);
	tell_signal(child, FX_TIE_TAKES, PARENT, USR1, 60, 65);
	tell_signal(child, FX_TIE_TAKES, PARENT, USR1, 80, 85);
	end_signals();
	expect_arrow("sends signal", PARENT, "takes signal", CHILD);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_FLOW_BEGIN, "sends signal")
			 .event.timestamp,
		     40);
}

Test(ties, signals_that_are_queued)
{
	struct fx_stream *child, *parent = begin_signals(&child);

	for (uint64_t i = 0; i < 3; i++)
		tell_signal(parent, FX_TIE_SENDS, CHILD, QUEUED, 40 + 5 * i, 44 + 5 * i);
	for (uint64_t i = 0; i < 4; i++)
		tell_signal(child, FX_TIE_TAKES, PARENT, QUEUED, 60 + 5 * i, 64 + 5 * i);
	end_signals();
	cr_assert_eq(flows("sends signal"), 3);
}

Test(ties, signals_of_which_nothing_is_certain)
{
	struct fx_stream *child, *parent = begin_signals(&child);

	/* sent at the same time by two threads */
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 40, 50);
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 45, 55);
	tell_signal(child, FX_TIE_TAKES, PARENT, USR1, 60, 65);
	/* by another process, which has told nothing */
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1 + 1, 70, 75);
	tell_signal(child, FX_TIE_TAKES, PARENT + 7, USR1 + 1, 60, 80);
	/* sent later */
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1 + 2, 90, 95);
	tell_signal(child, FX_TIE_TAKES, PARENT, USR1 + 2, 60, 85);
	/* to a group, or to this one alone */
	tell_signal(parent, FX_TIE_SENDS, 0, USR1 + 5, 90, 95);
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1 + 5, 96, 97);
	tell_signal(child, FX_TIE_TAKES, PARENT, USR1 + 5, 100, 105);
	end_signals();
	cr_assert_eq(flows("sends signal"), 0);
}

Test(ties, a_process_that_has_lost_what_it_told)
{
	struct fx_stream *child, *parent = begin_signals(&child);

	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 40, 45);
	number[parent->id]++;
	tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 70, 75);
	tell_signal(child, FX_TIE_TAKES, PARENT, USR1, 60, 80);
	end_signals();
	cr_assert_eq(flows("sends signal"), 0);
}

/* --- What is told by liars ------------------------------------------------------------------- */

Test(ties, what_cannot_be)
{
	struct fx_stream *parent = begin();

	birth(CHILD, 30, false);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, 0, 0, 20), -EINVAL);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, UINT32_MAX, 0, 20), -EINVAL);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, CHILD, 0, UINT64_MAX), -EINVAL);
	cr_assert_eq(tell(parent, (enum fx_tie_kind)77, CHILD, 0, 20), -EINVAL);
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, 0x137f, 20), -EINVAL, "it only stopped");
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, -1, 50), -EINVAL);
	cr_assert_eq(tell_signal(parent, FX_TIE_SENDS, CHILD, USR1, 50, 40), -EINVAL);
	cr_assert_eq(tell_signal(parent, FX_TIE_SENDS, CHILD, -1, 40, 50), -EINVAL);
	cr_assert_eq(tell_signal(parent, FX_TIE_SENDS, UINT32_MAX, USR1, 40, 50), -EINVAL);
	cr_assert_eq(tell_signal(parent, FX_TIE_SENDS, CHILD, INT32_MAX, 40, 50), 0);
	cr_assert_eq(tell(parent, FX_TIE_CREATES, PARENT, 0, 20), 0, "oneself");
	cr_assert_eq(tell(parent, FX_TIE_REAPS, PARENT, EXITED(0), 50), 0, "oneself");
	cr_assert_eq(tell(parent, FX_TIE_REAPS, CHILD, EXITED(0), 5), 0, "before it began");
	end();
	cr_assert_eq(flows("creates process") + flows("process exits"), 0);
}

Test(ties, invented_processes_do_not_fill_the_memory)
{
	struct fx_stream *parent = begin();

	for (uint32_t pid = 1000; pid < 101000; pid++)
		cr_assert_eq(tell(parent, FX_TIE_CREATES, pid, 0, 20), 0);
	birth(100999, 30, false); /* the newest is remembered, the oldest is not */
	birth(1000, 30, false);
	end();
	expect_arrow("creates process", PARENT, "process starts", 100999);
}

/* As many as there are, to processes and groups: it ends, and soon. */
Test(ties, invented_signals_do_not_fill_the_memory)
{
	for (unsigned most = FX_SIGNALS_MAX - 10; most < 2 * FX_SIGNALS_MAX;
	     most += FX_SIGNALS_MAX) {
		struct fx_stream *child, *parent = begin_signals(&child);

		for (unsigned i = 0; i < most; i++) {
			const bool sent = i % 2;

			cr_assert_eq(tell_signal(sent ? parent : child,
						 sent ? FX_TIE_SENDS : FX_TIE_TAKES,
						 sent ? CHILD * (i % 500 != 1) : PARENT,
						 i % 3 ? QUEUED : USR1, 40, 1000),
				     0);
		}
		cr_assert_leq(ties.signals.count, FX_SIGNALS_MAX);
		end_signals();
	}
}

/* Whatever is told in whatever order, every flow in the archive is whole; archive_expect_clean() sees. */
Test(ties, random_stories)
{
	const int32_t values[] = {0,	  9,  15,	 EXITED(1), EXITED(255),
				  0x137f, -1, INT32_MAX, INT32_MIN};

	for (unsigned seed = 1; seed <= 200; seed++) {
		begin();
		srand(seed);
		for (unsigned i = 0; i < 300; i++) {
			struct fx_stream *s = streams[(unsigned)rand() % count];
			uint32_t pid = PARENT + (unsigned)rand() % 6;
			uint64_t ns = 1 + (unsigned)rand() % 500;

			if (rand() % 12 == 0 && count < STREAMS)
				birth(pid, ns, rand() % 2);
			else if (s && rand() % 20 == 0 && s != streams[0])
				die(s, ns);
			else if (s && rand() % 2)
				tell_signal(s, rand() % 2 ? FX_TIE_SENDS : FX_TIE_TAKES,
					    rand() % 4 ? pid : 0, rand() % 2 ? USR1 : QUEUED, ns,
					    ns + (unsigned)rand() % 50);
			else if (s)
				tell(s, (enum fx_tie_kind)(rand() % 8), pid,
				     values[(unsigned)rand() % 9], ns);
		}
		end_signals();
	}
}
