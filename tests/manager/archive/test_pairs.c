/* SPDX-License-Identifier: MIT */
/* Calls as pairs of a begin and an end, of which one may be missing. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "tests/manager/archive/pieces.h"

TestSuite(pairs, .fini = archive_remove);

Test(pairs, pairs_are_ended)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS, .sp = 64},
	    {.start = 50, .id = ADDRESS, .sp = 32 | FX_FRAME_SILENT},
	    {.start = 60, .id = ADDRESS, .sp = 16},
	};
	const uint64_t one[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 5};
	const uint64_t two[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 60};

	pieces_begin();
	shared.pairs = true;
	put_thread(TID);
	put(one, 2);
	put(two, 2);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 3, 90);
	cr_assert_eq(pieces_end().unfinished, 2);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_END, "0x401000"), 2);
}

#define OUTER		  5u
#define FUNCTION_CATEGORY 6u
#define DEEPER		  7u
#define DEEPER_ADDRESS	  0x402000u

/* Words of what was read, in its order: type, name, time. */
static char replayed[512];

static void replay(const struct fxt_record *record, void *context)
{
	size_t length = strlen(replayed);

	(void)context;
	if (record->kind == FXT_KIND_EVENT && record->event.type == FXT_EVENT_DURATION_COMPLETE)
		snprintf(replayed + length, sizeof(replayed) - length, "%.*s@%u-%u ",
			 (int)record->event.name.length, record->event.name.data,
			 (unsigned)record->event.timestamp, (unsigned)record->event.end_time);
	else if (record->kind == FXT_KIND_EVENT)
		snprintf(replayed + length, sizeof(replayed) - length, "%s%.*s@%u ",
			 record->event.type == FXT_EVENT_DURATION_BEGIN ? "+" : "-",
			 (int)record->event.name.length, record->event.name.data,
			 (unsigned)record->event.timestamp);
}

static void expect_replay(const char *what)
{
	replayed[0] = 0;
	archive_each(archive_path(), replay, NULL);
	cr_assert_str_eq(replayed, what);
}

static void begin_pairs(void)
{
	pieces_begin();
	shared.pairs = true;
	put_string(FUNCTION_CATEGORY, "function");
	put_string(OUTER, "outer");
	put_address(DEEPER, DEEPER_ADDRESS);
	put_address(OTHER, ADDRESS + 0x2000);
	send_durable();
	put_thread(TID);
}

static void put_owed(uint64_t time)
{
	const uint64_t record[2] = {fx_header_event(2, FXT_EVENT_DURATION_END, 0,
						    FX_CHUNK_THREAD_INDEX, FUNCTION_CATEGORY, 0),
				    time};

	put(record, 2);
}

/* The provider does not know any more whose end it owes: the archive does. */
Test(pairs, an_owed_end_has_the_name_of_its_begin)
{
	begin_pairs();
	put_begin(FUNCTION, 10);
	put_begin(DEEPER, 20);
	put_owed(30);
	put_begin(OTHER, 30);
	put_end(OTHER, 40);
	put_owed(50);
	put_owed(60);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().unfinished, 0);
	expect_replay(
	    "+0x401000@10 +0x402000@20 -0x402000@30 +0x403000@30 -0x403000@40 -0x401000@50 ");
}

/* An end that is lost is the end of the call that it lies in. */
Test(pairs, no_call_outlasts_its_caller)
{
	begin_pairs();
	put_begin(FUNCTION, 10);
	put_begin(DEEPER, 20);
	put_begin(NAME, 25);
	put_end(FUNCTION, 30);
	put_end(DEEPER, 31);
	put_end(NAME, 32);
	put_begin(OTHER, 40);
	put_end(DEEPER, 45);
	put_end(OTHER, 50);
	send_chunk(0, 0, WHOLE);
	pieces_end();
	expect_replay("+0x401000@10 +0x402000@20 +name@25 -name@30 -0x402000@30 -0x401000@30 "
		      "+0x403000@40 -0x403000@50 ");
}

/* The program's own slices end no call, and no other slice than their own. */
Test(pairs, an_end_whose_begin_is_lost_ends_nothing)
{
	begin_pairs();
	put_begin(NAME, 5);
	put_begin(OUTER, 6);
	put_begin(FUNCTION, 10);
	put_end(NAME, 20);
	put_end(FUNCTION, 30);
	put_end(OTHER, 31);
	put_end(OUTER, 40);
	put_end(NAME, 50);
	send_chunk(0, 0, WHOLE);
	pieces_end();
	expect_replay("+name@5 +outer@6 +0x401000@10 -0x401000@30 -outer@40 -name@50 ");
}

/* What a handler has recorded stands in a chunk of its own, which may come later. */
Test(pairs, pairs_of_handlers_come_in_any_order)
{
	begin_pairs();
	put_begin(FUNCTION, 10);
	put_begin(DEEPER, 40);
	send_chunk(0, 0, FX_PIECE_FIRST);
	put_thread(TID);
	put_begin(OTHER, 20);
	send_chunk(1, 1, FX_PIECE_FIRST);
	put_end(DEEPER, 50);
	send_chunk(0, 0, 0);
	put_end(OTHER, 30);
	send_chunk(1, 1, FX_PIECE_LAST);
	put_end(FUNCTION, 60);
	send_chunk(0, 0, FX_PIECE_LAST);
	cr_assert_eq(pieces_end().unfinished, 0);
	expect_replay(
	    "+0x401000@10 +0x402000@40 +0x403000@20 -0x402000@50 -0x403000@30 -0x401000@60 ");
}

/* The last ends of a thread found no room, and it has left its slot. */
Test(pairs, nothing_is_open_of_a_thread_that_has_ended)
{
	begin_pairs();
	put_begin(FUNCTION, 10);
	put_begin(DEEPER, 20);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().unfinished, 2);
	expect_replay("+0x401000@10 +0x402000@20 -0x402000@20 -0x401000@20 ");
}

/* A slice that begins in a block, or a call, and goes on is ended with it; its own end comes too late. */
Test(pairs, a_slice_ends_with_the_block_that_it_begins_in)
{
	struct fx_stream_counts counts;

	begin_pairs();
	put_begin(OUTER, 5);
	put_begin(NAME, 20);
	put_begin(OUTER, 25);
	put_complete(NAME, 10, 30);
	put_end(NAME, 40);
	put_end(OUTER, 50);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_expect_eq(counts.unfinished, 2);
	cr_expect_eq(counts.lost[FX_CAUSE_OUTLASTING], 2);
	expect_replay("+outer@5 +name@20 +outer@25 -outer@30 -name@30 name@10-30 -outer@50 "
		      "-records dropped@1000000 ");
}

/* One that was begun after a call which comes late goes on. */
Test(pairs, a_late_block_ends_what_began_in_it_alone)
{
	begin_pairs();
	put_begin(OUTER, 5);
	put_begin(OUTER, 50);
	send_chunk(0, 0, FX_PIECE_FIRST);
	put_thread(TID);
	put_begin(NAME, 20);
	put_complete(NAME, 10, 30);
	send_chunk(1, 1, WHOLE);
	put_end(OUTER, 60);
	put_end(OUTER, 70);
	send_chunk(0, 0, FX_PIECE_LAST);
	cr_assert_eq(pieces_end().unfinished, 1);
	expect_replay("+outer@5 +outer@50 +name@20 -name@30 name@10-30 -outer@60 -outer@70 "
		      "-records dropped@1000000 ");
}

/* A block that began in a slice, and goes on when that has ended, begins with its end. */
Test(pairs, a_block_begins_behind_a_slice_that_it_would_cross)
{
	struct fx_stream_counts counts;

	begin_pairs();
	put_begin(OUTER, 5);
	put_begin(NAME, 6);
	put_end(NAME, 8);
	put_end(OUTER, 10);
	put_complete(NAME, 9, 9);
	put_complete(NAME, 7, 15);
	put_complete(NAME, 12, 16);
	put_complete(NAME, 4, 20);
	put_begin(OUTER, 30);
	put_complete(NAME, 31, 35);
	put_end(OUTER, 40);
	put_complete(NAME, 41, 50);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_expect_eq(counts.unfinished, 0);
	cr_expect_eq(counts.lost[FX_CAUSE_OUTLASTING], 1);
	cr_expect_eq(counts.lost[FX_CAUSE_CROSSING], 1);
	/* A mark for each of the two. */
	expect_replay("+outer@5 +name@6 -name@8 -outer@10 name@9-9 name@10-15 name@15-16 name@4-20 "
		      "+outer@30 name@31-35 -outer@40 name@41-50 -records dropped@1000000 "
		      "-records dropped@1000000 ");
}
