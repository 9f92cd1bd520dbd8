/* SPDX-License-Identifier: MIT */
/* Calls that are open while tracing stops and goes on. */
#include <criterion/criterion.h>

#include "tests/manager/archive/pieces.h"

TestSuite(stops, .fini = archive_remove);

/* Two calls that were open at a stop at 90; the thread holds chunk 0. */
static void stop_in_two_calls(void)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	pieces_begin();
	put_thread(TID);
	put_complete(FUNCTION, 10, 20);
	send_chunk(0, 0, FX_PIECE_FIRST);
	send_frames(TID, frames, 2, 90);
}

/* The kernel stopped the thread in the middle of the hook that ends the inner call. */
Test(stops, the_record_of_a_call_that_was_told_at_a_stop)
{
	const uint64_t ends[] = {80, 90, 250};

	for (unsigned i = 0; i < 3; i++) {
		stop_in_two_calls();
		put_complete(NAME, 50, ends[i]);
		send_chunk(0, 0, FX_PIECE_LAST);
		put_thread(TID);
		put_complete(NAME, 300, 310);
		send_chunk(1, 1, WHOLE);
		cr_assert_eq(pieces_end().unfinished, 2);
		cr_assert_eq(
		    archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 2,
		    "the call once, and the one after it");
	}
}

/* It was taken off between the look at the records and the look at the open calls. */
Test(stops, the_record_of_a_call_that_ended_while_it_was_told_of)
{
	struct found_event f;

	stop_in_two_calls();
	put_complete(FUNCTION, 60, 250);
	put_complete(OTHER, 55, 260);
	put_string(OTHER, "other");
	send_chunk(0, 0, FX_PIECE_LAST);
	put_string(OTHER, "other");
	send_durable();
	put_thread(TID);
	put_complete(OTHER, 57, 270);
	send_chunk(1, 1, WHOLE);
	cr_assert_eq(pieces_end().unfinished, 2);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "other");
	cr_assert_eq(f.event.timestamp, 57);
	cr_assert_eq(f.event.end_time, 90);
}

Test(stops, a_call_that_is_open_at_two_stops_is_told_once)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	stop_in_two_calls();
	send_frames(TID, frames, 2, 190);
	send_frames(TID, frames, 2, 290);
	cr_assert_eq(pieces_end().unfinished, 2);
	cr_assert_eq(
	    archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name").event.end_time,
	    90);
}

Test(stops, calls_of_the_next_start_are_told_at_its_stop)
{
	const struct fx_frame frames[] = {
	    {.start = 100, .id = ADDRESS},
	    {.start = 150, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	stop_in_two_calls();
	put_thread(TID);
	put_complete(NAME, 120, 130);
	send_chunk(1, 1, WHOLE);
	send_frames(TID, frames, 2, 190);
	cr_assert_eq(pieces_end().unfinished, 4);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 3);
}

/* Who had the number before left without a word. */
Test(stops, two_threads_of_one_number_at_a_stop)
{
	const struct fx_frame frame = {.start = 40, .id = ADDRESS + 64};

	stop_in_two_calls();
	send_frames(TID, &frame, 1, 90);
	cr_assert_eq(pieces_end().unfinished, 3);
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401040");
}

Test(stops, begins_and_ends_that_come_after_their_stop)
{
	const struct fx_frame frame = {.start = 5, .id = ADDRESS};
	const uint64_t begins[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 5};
	uint64_t late[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 80};
	struct fx_stream_counts counts;

	for (; late[1] <= 280; late[1] += 200) {
		pieces_begin();
		shared.pairs = true;
		put_thread(TID);
		put(begins, 2);
		send_chunk(0, 0, FX_PIECE_FIRST);
		send_frames(TID, &frame, 1, 90);
		put(late, 2);
		send_chunk(0, 0, FX_PIECE_LAST);
		put_thread(TID);
		put_instant(NAME, 300);
		send_chunk(1, 1, WHOLE);
		counts = pieces_end();
		cr_assert_eq(counts.unfinished, 1);
		cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
		cr_assert_eq(
		    archive_count_events(archive_path(), FXT_EVENT_DURATION_BEGIN, "0x401000"), 1);
	}
}

/* The program's own slices may begin before a stop and end after the next start. */
Test(stops, the_programs_own_slices_go_on_over_a_stop)
{
	const struct fx_frame frame = {.start = 5, .id = ADDRESS};
	const uint64_t begins[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, NAME), 50};
	const uint64_t ends[2] = {event_header(FXT_EVENT_DURATION_END, 2, NAME), 350};

	pieces_begin();
	put_thread(TID);
	put(begins, 2);
	send_chunk(0, 0, FX_PIECE_FIRST);
	send_frames(TID, &frame, 1, 90);
	send_chunk(0, 0, FX_PIECE_LAST);
	put_thread(TID);
	put(ends, 2);
	put_complete(NAME, 360, 370);
	send_chunk(1, 1, WHOLE);
	pieces_end();
}
