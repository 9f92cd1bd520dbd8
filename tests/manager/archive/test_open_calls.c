/* SPDX-License-Identifier: MIT */
/* Calls that are open, or come late, when a stream ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "tests/manager/archive/pieces.h"

TestSuite(open_calls, .fini = archive_remove);

/* What cannot be judged any more, or crosses what is known, is left out and counted; the archive is clean. */
Test(open_calls, late_calls_beyond_what_is_remembered)
{
	const uint64_t calls = (uint64_t)(FX_NESTING_BLOCKS + 1) * FX_NESTING_BLOCK;
	struct fx_stream_counts counts;
	uint64_t i = 0;

	pieces_begin();
	for (uint32_t serial = 0; i < calls; serial++) {
		put_thread(TID);
		for (unsigned n = 0; n < 20000 && i < calls; n++, i++)
			put_complete(NAME, 10 * (i + 1), 10 * (i + 1) + 5);
		send_chunk(0, serial, WHOLE);
	}
	put_thread(TID);
	put_complete(NAME, 10 * calls + 1, 10 * calls + 2);
	put_complete(NAME, 10 * (calls / 2) + 3, 10 * calls + 20);
	put_complete(NAME, 12, 13);
	send_chunk(1, 0, WHOLE);
	counts = pieces_end_with(&(struct fx_stream_end){.ticks = 20 * calls});
	cr_assert_eq(counts.events, calls + 1);
	cr_assert_eq(counts.lost[FX_CAUSE_CROSSING], 2);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
}

Test(open_calls, open_calls_are_shown)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};
	struct found_event f;

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 2, 90);
	cr_assert_eq(pieces_end().unfinished, 2);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
	cr_assert_eq(f.event.timestamp, 5);
	cr_assert_eq(f.event.end_time, 90);
	cr_assert(f.unfinished);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 2);
}

Test(open_calls, an_open_call_that_is_recorded_already)
{
	const struct fx_frame frames[] = {
	    {.start = 10, .id = ADDRESS},
	    {.start = 12, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 12, 20);
	put_complete(FUNCTION, 10, 30);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 2, 90);
	cr_assert_eq(pieces_end().unfinished, 0);
}

/* A liar's may begin at one time: the name tells them apart. */
Test(open_calls, an_open_call_beside_a_recorded_one_of_another_name)
{
	const struct fx_frame frames[] = {
	    {.start = 10, .id = ADDRESS + 64},
	    {.start = 12, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, OTHER)},
	    {.start = 14,
	     .id = fx_header_event(3, FXT_EVENT_DURATION_COMPLETE, 0, FX_CHUNK_THREAD_INDEX, OTHER,
				   NAME)},
	};

	pieces_begin();
	put_string(OTHER, "other");
	send_durable();
	put_thread(TID);
	put_complete(NAME, 14, 90);
	put_complete(NAME, 12, 90);
	put_complete(FUNCTION, 10, 90);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 3, 90);
	cr_assert_eq(pieces_end().unfinished, 3);
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401040");
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "other");
}

/* FX_TIE_EXECS with the texts of its call, whose frame began at `start'. */
static void put_exec(uint64_t start, const char *path, const char *argv)
{
	const char *const texts[2] = {path, argv};
	uint64_t record[200] = {0,
				PID,
				FXT_PUT(ARG_TYPE, FXT_ARG_UINT64) | FXT_PUT(ARG_SIZE, 2),
				start + 1,
				FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) |
				    FXT_PUT(ARG_VALUE32_VALUE, FX_TIE_EXECS),
				FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1),
				FXT_PUT(ARG_TYPE, FXT_ARG_UINT64) | FXT_PUT(ARG_SIZE, 2),
				start};
	size_t count = 8;

	for (unsigned i = 0; i < 2; i++) {
		size_t length = texts[i] ? strlen(texts[i]) : 0;
		size_t size = texts[i] ? 1 + fx_bytes_words(length) : 2;

		record[count] = FXT_PUT(ARG_TYPE, texts[i] ? FXT_ARG_STRING : FXT_ARG_POINTER) |
				FXT_PUT(ARG_SIZE, size) |
				FXT_PUT(ARG_VALUE32_VALUE, texts[i] ? fx_ref_inline(length) : 0);
		if (texts[i])
			fx_bytes_write(record + count + 1, texts[i], length);
		count += size;
	}
	record[0] = fx_header_kernel_object(count, FXT_OBJECT_PROCESS, 0, 6);
	put(record, count);
}

/* One exec that stays open at 50, inside another call. */
static struct fx_stream_counts stay_in_exec(void)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 2, 90);
	return pieces_end();
}

struct executed {
	unsigned count;
	char path[64], argv[64];
};

static void take_executed(const struct fxt_record *record, void *context)
{
	const struct fxt_arg *path = fxt_record_find_arg(record, "path"),
			     *argv = fxt_record_find_arg(record, "argv");
	struct executed *e = context;

	if (record->kind != FXT_KIND_EVENT || (!path && !argv))
		return;
	cr_assert(fxt_string_equals(&record->event.name, "name"));
	cr_assert(fxt_record_find_arg(record, "unfinished"));
	e->count++;
	if (path)
		snprintf(e->path, sizeof(e->path), "%.*s", (int)path->string.length,
			 path->string.data);
	if (argv)
		snprintf(e->argv, sizeof(e->argv), "%.*s", (int)argv->string.length,
			 argv->string.data);
}

static struct executed executed(void)
{
	struct executed e = {.count = 0};

	archive_each(archive_path(), take_executed, &e);
	return e;
}

Test(open_calls, an_open_exec_shows_what_it_executes)
{
	struct executed e;

	pieces_begin();
	put_thread(TID);
	put_exec(30, "/bin/false", "one that failed");
	put_exec(50, "/bin/true", "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	e = executed();
	cr_assert_eq(e.count, 1);
	cr_assert_str_eq(e.path, "/bin/true");
	cr_assert_str_eq(e.argv, "true -x");
}

Test(open_calls, an_open_exec_whose_path_is_not_known)
{
	struct executed e;

	pieces_begin();
	put_thread(TID);
	put_exec(50, NULL, "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	e = executed();
	cr_assert_eq(e.count, 1);
	cr_assert_str_eq(e.path, "");
	cr_assert_str_eq(e.argv, "true -x");
}

Test(open_calls, an_open_call_that_is_no_exec)
{
	pieces_begin();
	put_thread(TID);
	put_exec(30, "/bin/false", "one that failed");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(executed().count, 0);
}

Test(open_calls, an_exec_of_another_thread)
{
	pieces_begin();
	put_thread(TID + 1);
	put_exec(50, "/bin/true", "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(executed().count, 0);
}

/* A text that is longer than any that a provider may tell is none. */
Test(open_calls, an_exec_with_a_text_that_is_too_long)
{
	char text[300];
	struct executed e;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	pieces_begin();
	put_thread(TID);
	put_exec(50, text, "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	e = executed();
	cr_assert_str_eq(e.path, "");
	cr_assert_str_eq(e.argv, "true -x");
}

Test(open_calls, an_open_call_ends_after_what_it_encloses)
{
	const struct fx_frame frame = {.start = 5, .id = ADDRESS};
	struct found_event f;

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 200);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, &frame, 1, 90);
	pieces_end();
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
	cr_assert_eq(f.event.end_time, 200);
}

Test(open_calls, garbage_for_open_calls)
{
	struct fx_frame frames[FX_FRAMES - 1];

	pieces_begin();
	memset(frames, 0xff, sizeof(frames));
	send_frames(TID, frames, FX_FRAMES - 1, 90);
	srand(5);
	for (size_t i = 0; i < sizeof(frames) / 8; i++)
		((uint64_t *)frames)[i] = (uint64_t)rand() << 40 ^ (uint64_t)rand();
	send_frames(TID, frames, FX_FRAMES - 1, 90);
	send_frames(0, frames, FX_FRAMES - 1, 90);
	send_frames(UINT64_MAX, frames, FX_FRAMES - 1, 90);
	pieces_end();
}
