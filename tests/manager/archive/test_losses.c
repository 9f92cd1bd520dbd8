/* SPDX-License-Identifier: MIT */
/* Losses: counted, and shown on the timeline. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/manager/archive/pieces.h"

TestSuite(losses, .fini = archive_remove);

Test(losses, losses_are_counted_and_shown)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "loser"};
	struct fx_stream_counts counts;
	struct found_event f;

	pieces_begin();
	facts.lost[FX_LOSS_FULL] = 10;
	facts.dropped_first = 100;
	facts.dropped_last = 200;
	send_facts(0, facts);
	facts.lost[FX_LOSS_FULL] = 15;
	facts.dropped_first = 300;
	facts.dropped_last = 400;
	send_facts(0, facts);
	facts.lost[FX_LOSS_NESTED] = 1;
	facts.too_deep = 4;
	send_facts(0, facts);
	counts = pieces_end_with(
	    &(struct fx_stream_end){.ticks = 1000, .unslotted[FX_LOSS_THREADS] = 3});
	cr_assert_eq(counts.dropped, 19);
	cr_assert_eq(counts.lost[FX_CAUSE_FULL], 15);
	cr_assert_eq(counts.lost[FX_CAUSE_NESTED], 1);
	cr_assert_eq(counts.lost[FX_CAUSE_THREADS], 3);
	cr_assert_eq(counts.lost[FX_CAUSE_DEEP], 4);
	f = archive_find_event(archive_path(), FXT_EVENT_INSTANT, "records dropped");
	cr_assert_eq(f.count, 5);
	cr_assert_eq(f.tid, TID);
	cr_assert_eq(f.event.timestamp, 100);
	cr_assert_eq(f.first_int, 10);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_PROVIDER_EVENT), 2,
		     "the buffer was full twice");
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_COUNTER, "records dropped"), 8);
}

static char counted[512];

/* Times and values of the counter of losses, as they stand. */
static void take_counter(const struct fxt_record *record, void *context)
{
	size_t length = strlen(counted);

	(void)context;
	if (record->kind == FXT_KIND_EVENT && record->event.type == FXT_EVENT_COUNTER)
		snprintf(counted + length, sizeof(counted) - length, "%u@%u ",
			 (unsigned)record->args[0].uint64, (unsigned)record->event.timestamp);
}

/* Between two looks writing has gone on and stopped again: the losses are those of two gaps. */
Test(losses, each_gap_has_its_begin_and_its_end)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "loser"};

	pieces_begin();
	facts.lost[FX_LOSS_FULL] = 10;
	facts.dropped_first = 100;
	facts.dropped_last = 200;
	send_facts(0, facts);
	facts.lost[FX_LOSS_FULL] = 15;
	facts.lost[FX_LOSS_LARGE] = 2;
	facts.gap_first = 100;
	facts.gap_last = 250;
	facts.gap_total = 13;
	facts.dropped_first = 300;
	facts.dropped_last = 400;
	send_facts(0, facts);
	facts.lost[FX_LOSS_FULL] = 16;
	facts.gap_first = 300;
	facts.gap_last = 500;
	facts.gap_total = 18;
	facts.dropped_first = 0;
	facts.dropped_last = 500;
	send_facts(0, facts);
	cr_assert_eq(pieces_end().dropped, 18);
	counted[0] = 0;
	archive_each(archive_path(), take_counter, NULL);
	cr_assert_str_eq(counted,
			 "0@100 10@200 10@250 13@250 13@300 15@400 15@400 17@400 17@500 18@500 ");
}

/* A count that nobody can reach is one thing that is left out, and nothing more is believed of such. */
Test(losses, losses_that_cannot_be_are_not_counted)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "liar"};
	struct fx_stream_counts counts;

	pieces_begin();
	facts.lost[FX_LOSS_FULL] = 5;
	facts.dropped_first = facts.dropped_last = 100;
	send_facts(0, facts);
	facts.lost[FX_LOSS_FULL] = UINT64_MAX;
	facts.lost[FX_LOSS_NESTED] = UINT64_MAX - 7;
	facts.too_deep = UINT64_MAX;
	send_facts(0, facts);
	facts.lost[FX_LOSS_FULL] = 2;
	facts.too_deep = 2;
	send_facts(1, facts);
	counts = pieces_end_with(&(struct fx_stream_end){
	    .ticks = 1000, .unslotted = {[FX_LOSS_THREADS] = UINT64_MAX, [FX_LOSS_ADOPTED] = 3}});
	cr_assert_eq(counts.dropped, 5);
	cr_assert_eq(counts.lost[FX_CAUSE_FULL], 5);
	cr_assert_eq(counts.lost[FX_CAUSE_DEEP], 0);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 1);
}

struct marks {
	uint64_t last;
	unsigned count;
};

static void take_mark(const struct fxt_record *record, void *context)
{
	struct marks *marks = context;

	if (record->kind != FXT_KIND_EVENT || record->event.type != FXT_EVENT_INSTANT)
		return;
	cr_assert_gt(record->event.timestamp, marks->last);
	marks->last = record->event.timestamp;
	marks->count++;
}

/* The count is raised before the time is written: the second look finds new losses at the old time. */
Test(losses, no_two_marks_of_losses_at_one_time)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "loser"};
	struct marks marks = {0};

	pieces_begin();
	facts.dropped_first = facts.dropped_last = 100;
	while (facts.lost[FX_LOSS_FULL]++ < 3)
		send_facts(0, facts);
	cr_assert_eq(pieces_end().dropped, 3);
	archive_each(archive_path(), take_mark, &marks);
	cr_assert_eq(marks.count, 3);
}

Test(losses, the_heap_at_the_end)
{
	struct found_event f;

	pieces_begin();
	pieces_end_with(
	    &(struct fx_stream_end){.ticks = 1000, .heap_bytes = 4096, .heap_blocks = 3});
	f = archive_find_event(archive_path(), FXT_EVENT_COUNTER, "heap");
	cr_assert_eq(f.event.timestamp, 1000);
	cr_assert_eq(f.first_int, 4096);
	cr_assert_eq(f.nargs, 2);
}
