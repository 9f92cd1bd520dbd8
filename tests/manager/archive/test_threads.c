/* SPDX-License-Identifier: MIT */
/* Threads and processes of a stream: their numbers, names and bounds. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "tests/manager/archive/pieces.h"

TestSuite(threads, .fini = archive_remove);

#define MANY_THREADS 600u

static void count_by_thread(const struct fxt_record *record, void *context)
{
	unsigned *counts = context;

	if (record->kind == FXT_KIND_EVENT && record->event.thread.tid - TID < MANY_THREADS)
		counts[record->event.thread.tid - TID]++;
}

Test(threads, more_threads_than_indices)
{
	const unsigned threads = MANY_THREADS;
	unsigned counts[MANY_THREADS] = {0};

	pieces_begin();
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < threads; i++) {
			put_thread(TID + i);
			put_complete(NAME, 10 + 100 * round, 20 + 100 * round);
			send_chunk(i, i, WHOLE);
		}
	}
	cr_assert_eq(pieces_end().events, 2 * threads);
	/* The process's object and one of each thread; archive_expect_clean() checks their use. */
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_KERNEL_OBJECT), threads + 1);
	archive_each(archive_path(), count_by_thread, counts);
	for (unsigned i = 0; i < threads; i++)
		cr_assert_eq(counts[i], 2, "events of thread %u", i);
}

#define INVENTED (4 * FX_STREAM_THREADS_MAX)

Test(threads, invented_threads_do_not_fill_the_memory)
{
	unsigned counts[MANY_THREADS] = {0};

	pieces_begin();
	for (unsigned i = 0; i < INVENTED; i++) {
		put_thread(TID + i);
		put_complete(NAME, 10, 20);
		send_chunk(0, i, WHOLE);
		cr_assert_leq(HASH_COUNT(stream->threads), FX_STREAM_THREADS_MAX);
	}
	/* Who is forgotten is introduced again. */
	put_thread(TID);
	put_complete(NAME, 30, 40);
	send_chunk(0, INVENTED, WHOLE);
	cr_assert_eq(pieces_end().events, INVENTED + 1);
	archive_each(archive_path(), count_by_thread, counts);
	cr_assert_eq(counts[0], 2);
}

Test(threads, threads_of_events_do_not_fill_the_memory_either)
{
	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, FX_PIECE_FIRST);
	for (unsigned i = 1; i < INVENTED; i++) {
		const uint64_t record[4] = {
		    fx_header_event(4, FXT_EVENT_INSTANT, 0, FXT_THREAD_INLINE, CATEGORY, NAME), 30,
		    PID, TID + i};

		put(record, 4);
		send_chunk(0, 0, 0);
		cr_assert_leq(HASH_COUNT(stream->threads), FX_STREAM_THREADS_MAX);
	}
	/* The thread of the unfinished chunk was not forgotten meanwhile. */
	put_complete(NAME, 40, 50);
	send_chunk(0, 0, FX_PIECE_LAST);
	cr_assert_eq(pieces_end().events, INVENTED + 1);
}

/* An event of the virtual thread `id`, called by the reference `called`. */
static void put_virtual(unsigned type, uint64_t ticks, uint64_t id, uint64_t called)
{
	const uint64_t record[4] = {fx_header_event(4, type, 0, FXT_THREAD_INLINE, CATEGORY, NAME),
				    ticks, called << FX_VTHREAD_NAME_SHIFT | 1, id | FX_VTHREAD};

	put(record, 4);
}

Test(threads, virtual_threads_are_bounded_whatever_they_are_called)
{
	static const uint64_t names[] = {0, NAME, 99, FX_STRING_LOCAL + 5, 0x8004, 0xffff};
	struct fx_stream_counts counts;

	pieces_begin();
	for (uint64_t i = 0; i < FX_VTHREADS_MAX + 100; i++) {
		put_thread(TID);
		put_virtual(FXT_EVENT_DURATION_END, 30 + i, i, names[i % FX_ARRAY_LEN(names)]);
		put_virtual(FXT_EVENT_DURATION_BEGIN, 20 + i, i, NAME);
		send_chunk(0, i, WHOLE);
	}
	cr_assert_eq(HASH_COUNT(stream->threads), 1, "they are none of the process's threads");
	counts = pieces_end();
	cr_assert_eq(counts.events, 2 * FX_VTHREADS_MAX);
	cr_assert_eq(counts.lost[FX_CAUSE_VIRTUAL], 200);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.unfinished, 0);
}

Test(threads, times_of_virtual_threads_are_not_the_writers)
{
	uint64_t last;

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 1000, 2000);
	send_chunk(0, 0, FX_PIECE_FIRST);
	last = fx_stream_thread_known(stream, TID)->last_end;
	put_virtual(FXT_EVENT_DURATION_BEGIN, 1, 7, NAME);
	put_virtual(FXT_EVENT_DURATION_END, 5000, 7, NAME);
	put_virtual(FXT_EVENT_INSTANT, 1, 7, NAME);
	send_chunk(0, 0, 0);
	cr_assert_eq(fx_stream_thread_known(stream, TID)->last_end, last);
	cr_assert_eq(stream->first_end, last);
	cr_assert_eq(fx_stream_thread_known(stream, TID)->depth, 0);
	put_complete(NAME, 3000, 4000);
	send_chunk(0, 0, FX_PIECE_LAST);
	cr_assert_eq(pieces_end().events, 5);
	cr_assert_gt(archive_find_event(archive_path(), FXT_EVENT_DURATION_BEGIN, "name").tid,
		     UINT64_C(1) << 22);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_DURATION_BEGIN, "name").pid, PID);
}

Test(threads, threads_that_all_have_chunks_are_refused_beyond_the_bound)
{
	struct fx_stream_counts counts;

	pieces_begin();
	for (unsigned i = 0; i < FX_STREAM_THREADS_MAX + 100; i++) {
		put_thread(TID + i);
		put_instant(NAME, 10);
		send_chunk(i, i, FX_PIECE_FIRST);
	}
	cr_assert_eq(HASH_COUNT(stream->threads), FX_STREAM_THREADS_MAX);
	counts = pieces_end();
	cr_assert_eq(counts.events, FX_STREAM_THREADS_MAX);
	/* A Thread Record and an event each. */
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 200);
}

/* One after another, each in the slot of one before; the kernel gives their numbers again. */
#define SHORT_LIVED (5 * FX_STREAM_THREADS_MAX / 2)
#define NUMBERS	    30000u

static void put_thread_that_begins(uint64_t tid)
{
	const uint64_t record[3] = {fx_header_thread(FX_CHUNK_THREAD_INDEX) | FX_THREAD_BEGINS, 1,
				    tid};

	put(record, 3);
}

static void take_last_name_of_first(const struct fxt_record *record, void *context)
{
	const struct fxt_string *name = &record->kernel_object.name;

	if (record->kind == FXT_KIND_KERNEL_OBJECT &&
	    record->kernel_object.type == FXT_OBJECT_THREAD && record->kernel_object.koid == PID)
		snprintf(context, 32, "%.*s", (int)name->length, name->data);
}

Test(threads, short_lived_threads_without_end_lose_nothing)
{
	struct fx_thread_facts facts = {.tid = PID, .name = "first"};
	struct fx_stream_counts counts;
	char name[32] = "";

	pieces_begin();
	send_facts(0, facts);
	put_thread_that_begins(PID);
	put_begin(NAME, 10);
	send_chunk(0, 0, WHOLE);
	for (unsigned i = 0; i < SHORT_LIVED; i++) {
		uint32_t tid = TID + i % NUMBERS;

		facts = (struct fx_thread_facts){.tid = tid, .name = "worker"};
		send_facts(1 + i % 2, facts);
		put_thread_that_begins(tid);
		put_instant(NAME, 20 + 4 * i);
		send_chunk(1, 1 + i, FX_PIECE_FIRST);
		/* Their ends are seen by another's in the same slot alone. */
		put_begin(NAME, 22 + 4 * i);
		send_chunk(1, 1 + i, FX_PIECE_LAST);
		cr_assert_leq(HASH_COUNT(stream->threads), FX_STREAM_THREADS_MAX);
	}
	/* The first is there all the time, and remembered. */
	put_thread(PID);
	put_end(NAME, 30 + 4 * SHORT_LIVED);
	send_chunk(0, 1 + SHORT_LIVED, WHOLE);
	cr_assert_eq(stream->others, SHORT_LIVED);
	counts = pieces_end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 2 + 2 * SHORT_LIVED);
	/* What they had begun is ended when they are forgotten, or their numbers are another's. */
	cr_assert_geq(counts.unfinished, SHORT_LIVED - FX_STREAM_THREADS_MAX);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_END, "name"),
		     counts.unfinished + 1);
	archive_each(archive_path(), take_last_name_of_first, name);
	cr_assert_str_eq(name, "first");
}

Test(threads, a_thread_that_leaves_its_slot_and_comes_back_is_one)
{
	pieces_begin();
	send_facts(0, (struct fx_thread_facts){.tid = TID});
	put_thread_that_begins(TID);
	put_instant(NAME, 10);
	send_chunk(0, 0, WHOLE);
	send_facts(1, (struct fx_thread_facts){.tid = TID});
	put_thread(TID);
	put_instant(NAME, 20);
	send_chunk(0, 1, WHOLE);
	cr_assert_eq(stream->others, 1);
	pieces_end();
}

static struct fx_identities ids;
static uint64_t tids[4];
static unsigned tid_count;

static void take_tid(const struct fxt_record *record, void *context)
{
	(void)context;
	if (record->kind == FXT_KIND_THREAD && tid_count < FX_ARRAY_LEN(tids))
		tids[tid_count++] = record->thread.tid;
}

/* Each has a number of its own; the process's first thread is never another. */
Test(threads, threads_of_one_number_are_told_apart)
{
	pieces_begin();
	fx_identities_init(&ids);
	shared.ids = &ids;
	for (uint64_t i = 0; i < 2; i++) {
		put_thread_that_begins(TID);
		put_instant(NAME, 10 + i);
		send_chunk(0, i, WHOLE);
	}
	put_thread_that_begins(PID);
	put_instant(NAME, 20);
	send_chunk(1, 2, WHOLE);
	cr_assert_eq(stream->others, 2);
	pieces_end();
	fx_identities_destroy(&ids);
	tid_count = 0;
	archive_each(archive_path(), take_tid, NULL);
	cr_assert_eq(tid_count, 3);
	cr_assert_eq(tids[0], TID);
	cr_assert_eq(tids[1], 1000000001);
	cr_assert_eq(tids[2], PID);
}

Test(threads, processes_of_one_number_are_told_apart)
{
	uint32_t last = 0;

	fx_identities_init(&ids);
	cr_assert_eq(fx_identity_process(&ids, PID, false), PID);
	cr_assert_eq(fx_identity_process(&ids, PID, true), PID,
		     "another program is no other process");
	cr_assert_eq(fx_identity_process(&ids, PID, false), PID + 10000000);
	cr_assert_eq(fx_identity_process(&ids, PID, true), PID + 10000000);
	cr_assert_eq(fx_identity_process(&ids, PID + 1, false), PID + 1);
	for (int i = 0; i < 1000; i++) {
		uint32_t next = fx_identity_process(&ids, PID, false);

		cr_assert_gt(next, last);
		cr_assert_leq(next, INT32_MAX);
		last = next;
	}
	fx_identities_destroy(&ids);
}

struct names {
	char last[32];
	unsigned count;
};

static void take_name(const struct fxt_record *record, void *context)
{
	struct names *names = context;

	if (record->kind != FXT_KIND_KERNEL_OBJECT ||
	    record->kernel_object.type != FXT_OBJECT_THREAD)
		return;
	names->count++;
	snprintf(names->last, sizeof(names->last), "%.*s", (int)record->kernel_object.name.length,
		 record->kernel_object.name.data);
	cr_assert_eq(fxt_record_find_arg(record, "process")->koid, PID);
}

Test(threads, threads_are_named_anew_when_their_names_change)
{
	struct names names = {.count = 0};

	pieces_begin();
	send_facts(0, (struct fx_thread_facts){.tid = TID, .name = "first"});
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, WHOLE);
	send_facts(0, (struct fx_thread_facts){.tid = TID, .name = "first"});
	send_facts(0, (struct fx_thread_facts){.tid = TID, .name = "second"});
	pieces_end();
	archive_each(archive_path(), take_name, &names);
	cr_assert_eq(names.count, 2);
	cr_assert_str_eq(names.last, "second");
}

Test(threads, a_thread_says_its_own_name_at_its_end)
{
	const uint64_t record[3] = {
	    fx_header_kernel_object(3, FXT_OBJECT_THREAD, fx_ref_inline(4), 0), TID,
	    0x6b726f77 /* "work" */};
	struct names names = {.count = 0};

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put(record, 3);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
	archive_each(archive_path(), take_name, &names);
	cr_assert_str_eq(names.last, "work");
}
