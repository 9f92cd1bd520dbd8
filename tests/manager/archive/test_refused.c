/* SPDX-License-Identifier: MIT */
/* What a provider sends and no archive may hold is left out and counted; what stands beside it is not. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "manager/archive/intake.h"
#include "tests/manager/archive/pieces.h"

TestSuite(refused, .fini = archive_remove);

/* One record in a chunk between two good ones: it is left out, they are not. */
static void expect_refused(const uint64_t *record, size_t count)
{
	struct fx_stream_counts counts;

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put(record, count);
	put_complete(NAME, 30, 40);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.events, 2);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 1);
}

static void refuse1(uint64_t a)
{
	expect_refused(&a, 1);
}

static void refuse2(uint64_t a, uint64_t b)
{
	expect_refused((const uint64_t[]){a, b}, 2);
}

static void refuse3(uint64_t a, uint64_t b, uint64_t c)
{
	expect_refused((const uint64_t[]){a, b, c}, 3);
}

Test(refused, forged_metadata)
{
	refuse1(FXT_MAGIC_RECORD);
	refuse1(fx_header_provider_section(77));
	refuse1(fx_header_provider_event(1, 0));
	refuse2(fx_header_provider_info(2, 1, 4), 0x6b636168);
	refuse2(fx_header_initialization(), 1);
}

Test(refused, forged_names)
{
	/* another thread's, a process's */
	refuse3(fx_header_kernel_object(3, FXT_OBJECT_THREAD, fx_ref_inline(4), 0), TID + 1,
		0x6b636168);
	refuse3(fx_header_kernel_object(3, FXT_OBJECT_PROCESS, fx_ref_inline(4), 0), PID,
		0x6b636168);
	/* another kind of object with the koid of a process */
	refuse3(fx_header_kernel_object(3, FXT_OBJECT_SOCKET, fx_ref_inline(4), 0), PID,
		0x6b636168);
	/* a chunk's thread does not change, and has index 1 */
	refuse3(fx_header_thread(FX_CHUNK_THREAD_INDEX), 1, TID + 1);
	refuse3(fx_header_thread(2), 1, TID + 1);
	/* the process's strings are not a chunk's to define */
	refuse2(fx_header_string(2, NAME, 4), 0x6b636168);
}

Test(refused, forged_scheduling)
{
	refuse3(fx_header_context_switch(3, 0, 0, 0), 10, TID);
}

Test(refused, forged_perfetto_blob)
{
	refuse2(fx_header_blob(2, NAME, 8, FXT_BLOB_PERFETTO), 0);
}

Test(refused, forged_blob_of_the_manager)
{
	const uint64_t name = 0x3a65636172747866; /* "fxtrace:" */

	refuse3(fx_header_blob(3, fx_ref_inline(8), 8, FXT_BLOB_DATA), name, 0);
	refuse2(fx_header_blob(2, fx_ref_inline(8), 0, FXT_BLOB_DATA), name);
}

Test(refused, unknown_references)
{
	refuse2(event_header(FXT_EVENT_INSTANT, 2, 99), 10);
	refuse2(event_header(FXT_EVENT_INSTANT, 2, FX_STRING_LOCAL + 1), 10);
	refuse2(fx_header_event(2, FXT_EVENT_INSTANT, 0, 9, CATEGORY, NAME), 10);
}

Test(refused, times_that_cannot_be)
{
	refuse2(event_header(FXT_EVENT_INSTANT, 2, NAME), UINT64_MAX);
	refuse3(event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME), 30, 20);
}

Test(refused, malformed_records)
{
	/* an argument that is announced and not there */
	refuse2(fx_header_event(2, FXT_EVENT_INSTANT, 1, FX_CHUNK_THREAD_INDEX, CATEGORY, NAME),
		10);
}

/* The record check passes them by their size alone: what they announce may not be there. */
Test(refused, types_from_the_future)
{
	refuse1(FXT_PUT(RECORD_TYPE, 13) | FXT_PUT(RECORD_SIZE, 1));
	refuse3(
	    fx_header_event(3, FXT_EVENT_FLOW_END + 1, 15, FX_CHUNK_THREAD_INDEX, CATEGORY, NAME),
	    10, UINT64_MAX);
	refuse3(
	    fx_header_event(3, FXT_EVENT_FLOW_END + 1, 0, FX_CHUNK_THREAD_INDEX, CATEGORY, NAME),
	    10, 20);
	refuse1(FXT_PUT(RECORD_TYPE, FXT_RECORD_PROFILER) | FXT_PUT(RECORD_SIZE, 1) |
		FXT_PUT(PROFILER_TYPE, FXT_PROFILER_BACKTRACE + 1));
	refuse3(FXT_PUT(RECORD_TYPE, FXT_RECORD_PROFILER) | FXT_PUT(RECORD_SIZE, 3) |
		    FXT_PUT(PROFILER_TYPE, FXT_PROFILER_BACKTRACE + 1) |
		    FXT_PUT(PROFILER_THREAD, FX_CHUNK_THREAD_INDEX),
		10, 20);
}

/* The counter's arguments: what they are and where its id stands. */
static void take_counter_of_two(const struct fxt_record *record, void *context)
{
	if (record->kind != FXT_KIND_EVENT || record->event.type != FXT_EVENT_COUNTER)
		return;
	++*(unsigned *)context;
	cr_expect_eq(record->nargs, 1);
	cr_expect_eq(record->args[0].type, FXT_ARG_INT32);
	cr_expect_eq(record->args[0].int32, -7);
	cr_expect_eq(record->event.counter_id, 42);
}

/* Viewers count others as an error: of a counter with some, the numbers stay, wherever they stand. */
Test(refused, a_counter_has_numbers_alone)
{
	static const enum fxt_arg_type others[] = {FXT_ARG_NULL, FXT_ARG_STRING, FXT_ARG_BOOL,
						   FXT_ARG_POINTER, FXT_ARG_KOID};

	for (size_t i = 0; i < 2 * sizeof(others) / sizeof(others[0]); i++) {
		enum fxt_arg_type other = others[i / 2];
		bool is_long = other == FXT_ARG_POINTER || other == FXT_ARG_KOID;
		size_t count = 2, number = i % 2 ? 2 : 3 + is_long, odd = i % 2 ? 3 : 2;
		unsigned counters = 0;
		uint64_t counter[6] = {[1] = 15};

		counter[number] = FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) |
				  FXT_PUT(ARG_NAME, NAME) |
				  FXT_PUT(ARG_VALUE32_VALUE, (uint32_t)-7);
		counter[odd] = FXT_PUT(ARG_TYPE, other) | FXT_PUT(ARG_SIZE, 1 + is_long) |
			       FXT_PUT(ARG_NAME, NAME);
		count += 2 + is_long;
		counter[count++] = 42;
		counter[0] = FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, count) |
			     FXT_PUT(EVENT_TYPE, FXT_EVENT_COUNTER) | FXT_PUT(EVENT_NARGS, 2) |
			     FXT_PUT(EVENT_THREAD, FX_CHUNK_THREAD_INDEX) |
			     FXT_PUT(EVENT_CATEGORY, NAME) | FXT_PUT(EVENT_NAME, NAME);
		pieces_begin();
		put_thread(TID);
		put(counter, count);
		send_chunk(0, 0, WHOLE);
		cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
		archive_each(archive_path(), take_counter_of_two, &counters);
		cr_assert_eq(counters, 1);
	}
}

Test(refused, a_record_without_size_ends_its_piece)
{
	struct fx_stream_counts counts;

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put((const uint64_t[]){FXT_PUT(RECORD_TYPE, 4)}, 1);
	put_complete(NAME, 30, 40);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.events, 1);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 1);
}

/* A fragment: record `id` of `total` words, from word `at` on. */
static void refuse_fragment(uint32_t id, uint64_t total, uint64_t at, uint64_t word)
{
	expect_refused((const uint64_t[]){FX_FRAGMENT_HEADER(FX_FRAGMENT_HEAD + 1),
					  id | total << 32, at, word},
		       FX_FRAGMENT_HEAD + 1);
}

Test(refused, fragments_that_cannot_be)
{
	const uint64_t magic = FXT_MAGIC_RECORD;

	/* beyond the record; none at all; more than there is; too large a record */
	refuse_fragment(1, 2, 2, 0);
	refuse_fragment(1, 2, UINT64_MAX, 0);
	refuse_fragment(1, 0, 0, 0);
	refuse_fragment(1, FX_LARGEST_RECORD / 8 + 1, 0, 0);
	expect_refused(
	    (const uint64_t[]){FX_FRAGMENT_HEADER(FX_FRAGMENT_HEAD), 1 | UINT64_C(2) << 32, 0},
	    FX_FRAGMENT_HEAD);
	expect_refused((const uint64_t[]){FX_FRAGMENT_HEADER(1)}, 1);
	expect_refused(
	    (const uint64_t[]){FX_FRAGMENT_HEADER(5), 1 | UINT64_C(1) << 32, 0, magic, magic}, 5);
	/* a record that may not be, whole or in fragments; one that says another size; fragments in a fragment */
	refuse_fragment(1, 1, 0, magic);
	refuse_fragment(1, 1, 0, fx_header_provider_section(77));
	refuse_fragment(1, 1, 0, 0);
	refuse_fragment(1, 1, 0, event_header(FXT_EVENT_INSTANT, 2, NAME));
	refuse_fragment(1, 1, 0, FX_FRAGMENT_HEADER(1));
}

static void put_fragment(uint32_t id, uint64_t total, uint64_t at, uint64_t word)
{
	put((const uint64_t[]){FX_FRAGMENT_HEADER(FX_FRAGMENT_HEAD + 1), id | total << 32, at,
			       word},
	    FX_FRAGMENT_HEAD + 1);
}

/* Circular buffers lose the beginning of what they hold. */
Test(refused, fragments_without_the_one_before_are_nothing)
{
	struct fx_stream_counts counts;

	pieces_begin();
	put_thread(TID);
	put_fragment(1, 3, 1, 10);
	put_fragment(1, 3, 2, 10);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 0);
}

/* A fragment twice, or one left out: the record is no more, and what is there of it counts once. */
Test(refused, fragments_out_of_their_order)
{
	struct fx_stream_counts counts;

	pieces_begin();
	put_thread(TID);
	put_fragment(1, 4, 0, event_header(FXT_EVENT_INSTANT, 2, NAME));
	put_fragment(1, 4, 2, 10);
	put_fragment(1, 4, 1, 10);
	put_fragment(1, 4, 2, 10);
	put_fragment(1, 4, 3, 10);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 1);
	cr_assert_eq(counts.events, 0);
}

Test(refused, records_in_fragments_are_told_apart)
{
	const uint64_t header = event_header(FXT_EVENT_INSTANT, 2, NAME);
	struct fx_stream_counts counts;

	pieces_begin();
	put_thread(TID);
	put_fragment(1, 2, 0, header);
	put_fragment(2, 2, 0, header);
	send_chunk(0, 0, WHOLE);
	/* Another thread's of the same number, which never ends. */
	put_thread(TID + 1);
	put_fragment(1, 2, 0, header);
	send_chunk(1, 1, WHOLE);
	put_thread(TID);
	put_fragment(2, 2, 1, 20);
	put_fragment(1, 2, 1, 10);
	send_chunk(2, 2, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 2);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_LARGE_ATTACHMENT), 0);
}

Test(refused, records_that_are_never_finished_take_little)
{
	struct fx_stream_counts counts;

	pieces_begin();
	for (uint32_t i = 0; i < 10000; i++) {
		put_thread(TID);
		put_fragment(i, FX_LARGEST_RECORD / 8, 0, event_header(FXT_EVENT_INSTANT, 2, NAME));
		send_chunk(i % 8, i, WHOLE);
	}
	/* The oldest are given up: this one is not out of order, but unknown. */
	put_thread(TID);
	put_fragment(0, FX_LARGEST_RECORD / 8, 7, 0);
	send_chunk(0, 10000, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 0);
}

Test(refused, a_process_id_of_its_own_choice)
{
	const uint64_t record[4] = {
	    fx_header_event(4, FXT_EVENT_INSTANT, 0, FXT_THREAD_INLINE, CATEGORY, NAME), 10, 1,
	    TID};

	pieces_begin();
	put_thread(TID);
	put(record, 4);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_INSTANT, "name").pid, PID);
}

Test(refused, random_words_do_no_harm)
{
	srand(4);
	pieces_begin();
	for (unsigned round = 0; round < 20000; round++) {
		put_thread(TID);
		put_complete(NAME, 10, 20);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t word = (uint64_t)rand() << 32 ^ (uint64_t)rand();

			/* A type and a size that may be, often. */
			if (rand() % 2)
				word = (word & ~UINT64_C(0xffff)) | rand() % 11 | (rand() % 6) << 4;
			put(&word, 1);
		}
		send_chunk(round % 5, round, rand() % 4);
	}
	/* Random events need not nest: only the structure counts. */
	fx_intake_finish(stream, &(struct fx_stream_end){.ticks = 1});
	fx_stream_destroy(stream);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	cr_assert_gt(archive_count(archive_path(), FXT_KIND_EVENT), 0);
}

/* Parts of all sizes, in any order, of records of all kinds. */
Test(refused, random_fragments_do_no_harm)
{
	srand(5);
	pieces_begin();
	for (unsigned round = 0; round < 20000; round++) {
		unsigned count = rand() % 12, total = rand() % 24;

		put_thread(TID + (unsigned)(rand() % 3));
		put_complete(NAME, 20 * round, 20 * round + 10);
		put((const uint64_t[]){FX_FRAGMENT_HEADER(FX_FRAGMENT_HEAD + count),
				       (unsigned)(rand() % 4) | (uint64_t)total << 32,
				       (unsigned)(rand() % 3 ? 0 : rand() % 24)},
		    FX_FRAGMENT_HEAD);
		for (unsigned i = 0; i < count; i++) {
			uint64_t word = (uint64_t)rand() << 32 ^ (uint64_t)rand();

			/* A type and a size that may be, often; large records, and fragments again. */
			if (rand() % 4)
				word = (word & ~UINT64_C(0xffff)) | (unsigned)(rand() % 16) |
				       (rand() % 2 ? total : (unsigned)rand() % 24) << 4;
			if (rand() % 4 == 0)
				word &= ~(UINT64_C(0xfffff) << 16);
			put(&word, 1);
		}
		send_chunk(round % 5, round, (uint32_t)rand() % 4);
	}
	fx_intake_finish(stream, &(struct fx_stream_end){.ticks = 1});
	fx_stream_destroy(stream);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	cr_assert_gt(archive_count(archive_path(), FXT_KIND_EVENT), 5000);
}
