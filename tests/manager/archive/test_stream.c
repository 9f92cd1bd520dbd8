/* SPDX-License-Identifier: MIT */
/* From a provider's pieces to records of the archive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/utf8.h"
#include "format/encode.h"
#include "manager/archive/intake.h"
#include "manager/archive/stream.h"
#include "manager/archive/ties.h"
#include "tests/manager/records.h"
#include "tests/manager/shared.h"

#define PID	 500u
#define TID	 501u
#define CATEGORY 1u
#define NAME	 2u
#define FUNCTION 3u
#define OTHER	 4u
#define ADDRESS	 0x401000u

static struct fx_stream_shared shared;
static struct fx_ties ties;
static struct fx_stream *s;

/* Words of the piece that is being made. */
static uint64_t words[1 << 16];
static size_t used;

static void put(const uint64_t *record, size_t count)
{
	memcpy(words + used, record, count * 8);
	used += count;
}

static void put_string(unsigned index, const char *text)
{
	uint64_t record[128];
	size_t length = strlen(text), count = 1 + fx_bytes_words(length);

	record[0] = fx_header_string(count, index, length);
	fx_bytes_write(record + 1, text, length);
	put(record, count);
}

static void put_address(unsigned index, uint64_t address)
{
	const uint64_t record[2] = {fx_header_string_address(index), address};

	put(record, 2);
}

static void put_thread(uint64_t tid)
{
	const uint64_t record[3] = {fx_header_thread(FX_CHUNK_THREAD_INDEX), 1, tid};

	put(record, 3);
}

static uint64_t event_header(enum fxt_event_type type, size_t count, unsigned name)
{
	return fx_header_event(count, type, 0, FX_CHUNK_THREAD_INDEX, CATEGORY, name);
}

static void put_complete(unsigned name, uint64_t start, uint64_t end)
{
	const uint64_t record[3] = {event_header(FXT_EVENT_DURATION_COMPLETE, 3, name), start, end};

	put(record, 3);
}

static void put_instant(unsigned name, uint64_t time)
{
	const uint64_t record[2] = {event_header(FXT_EVENT_INSTANT, 2, name), time};

	put(record, 2);
}

static void put_begin(unsigned name, uint64_t time)
{
	const uint64_t record[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, name), time};

	put(record, 2);
}

static void put_end(unsigned name, uint64_t time)
{
	const uint64_t record[2] = {event_header(FXT_EVENT_DURATION_END, 2, name), time};

	put(record, 2);
}

static void send_piece(struct fx_piece piece)
{
	piece.bytes = (uint32_t)(used * 8);
	used = 0;
	fx_intake_piece(s, &piece, words, 0, 0);
}

static void send_durable(void)
{
	send_piece((struct fx_piece){.kind = FX_PIECE_DURABLE});
}

#define WHOLE (FX_PIECE_FIRST | FX_PIECE_LAST)

static void send_chunk(uint32_t number, uint64_t serial, uint32_t flags)
{
	send_piece((struct fx_piece){
	    .kind = FX_PIECE_CHUNK, .flags = flags, .index = number, .serial = serial});
}

static void send_facts(uint32_t slot, struct fx_thread_facts facts)
{
	memcpy(words, &facts, sizeof(facts));
	used = sizeof(facts) / 8;
	send_piece((struct fx_piece){.kind = FX_PIECE_THREAD, .index = slot});
}

static void send_frames(uint64_t tid, const struct fx_frame *frames, size_t count, uint64_t end)
{
	const struct fx_piece piece = {
	    .kind = FX_PIECE_FRAMES, .serial = tid, .bytes = (uint32_t)(count * sizeof(*frames))};

	fx_intake_piece(s, &piece, frames, 0, end);
}

static void begin_as(bool is_kernel)
{
	const struct fx_stream_who who = {
	    .pid = PID, .kernel_pid = PID, .first_tid = PID, .is_kernel = is_kernel};

	shared_begin(&shared, &ties);
	for (unsigned i = 0; i < FX_LOSSES; i++)
		fx_loss_cure(i, NULL, shared.cures[i]);
	cr_assert_eq(fx_stream_create_as(&shared, 1, &who, "app", &s), 0);
	put_string(CATEGORY, "cat");
	put_string(NAME, "name");
	put_address(FUNCTION, ADDRESS);
	send_durable();
}

static void begin(void)
{
	begin_as(false);
}

/* Ends the stream; the archive can be read then. */
static struct fx_stream_counts end_with(const struct fx_stream_end *end)
{
	struct fx_stream_counts counts;

	fx_intake_finish(s, end);
	counts = s->counts;
	fx_stream_destroy(s);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	fx_known_destroy(&shared.known);
	fx_builtin_names_destroy(&shared.builtin);
	archive_expect_clean(archive_path());
	return counts;
}

static struct fx_stream_counts end(void)
{
	return end_with(&(struct fx_stream_end){.ticks = 1000000});
}

TestSuite(stream, .fini = archive_remove);

/* What cannot be judged any more, or crosses what is known, is left out and counted; the archive is clean. */
Test(stream, late_calls_beyond_what_is_remembered)
{
	const uint64_t calls = (uint64_t)(FX_NESTING_BLOCKS + 1) * FX_NESTING_BLOCK;
	struct fx_stream_counts counts;
	uint64_t i = 0;

	begin();
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
	counts = end_with(&(struct fx_stream_end){.ticks = 20 * calls});
	cr_assert_eq(counts.events, calls + 1);
	cr_assert_eq(counts.lost[FX_CAUSE_CROSSING], 2);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
}

/* --- What comes through ---------------------------------------------------------------------- */

Test(stream, a_call)
{
	struct found_event f;

	begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().events, 1);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name");
	cr_assert_eq(f.pid, PID);
	cr_assert_eq(f.tid, TID);
	cr_assert_eq(f.event.timestamp, 10);
	cr_assert_eq(f.event.end_time, 20);
	cr_assert_str_eq(f.category, "cat");
}

Test(stream, a_function_without_a_module_shows_its_address)
{
	begin();
	put_thread(TID);
	put_complete(FUNCTION, 10, 20);
	send_chunk(0, 0, WHOLE);
	end();
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
}

Test(stream, strings_are_written_once_and_only_if_used)
{
	begin();
	put_string(9, "unused");
	send_durable();
	for (unsigned i = 0; i < 3; i++) {
		put_thread(TID);
		put_complete(NAME, 10 + 100 * i, 20 + 100 * i);
		put_instant(NAME, 15 + 100 * i);
		send_chunk(i, i, WHOLE);
	}
	cr_assert_eq(end().events, 6);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_STRING), 2);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_THREAD), 1);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_KERNEL_OBJECT), 2);
}

Test(stream, a_chunk_in_several_pieces_keeps_its_thread_and_strings)
{
	begin();
	put_thread(TID);
	put_string(FX_STRING_LOCAL, "local");
	send_chunk(7, 7, FX_PIECE_FIRST);
	put_thread(TID + 1);
	send_chunk(8, 8, WHOLE);
	put_complete(FX_STRING_LOCAL, 10, 20);
	send_chunk(7, 7, 0);
	put_complete(FX_STRING_LOCAL, 30, 40);
	send_chunk(7, 7, FX_PIECE_LAST);
	cr_assert_eq(end().events, 2);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local").tid,
		     TID);
}

Test(stream, local_strings_mean_something_else_in_each_chunk)
{
	begin();
	for (unsigned i = 0; i < 3; i++) {
		char text[16];

		snprintf(text, sizeof(text), "local %u", i % 2);
		put_thread(TID);
		put_string(FX_STRING_LOCAL + 5, text);
		put_complete(FX_STRING_LOCAL + 5, 10 + 100 * i, 20 + 100 * i);
		send_chunk(0, i, WHOLE);
	}
	put_thread(TID);
	put_complete(FX_STRING_LOCAL + 5, 900, 910);
	send_chunk(0, 3, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 1, "the last chunk has not defined it");
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local 0"),
		     2);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local 1"),
		     1);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_STRING), 3, "each text once");
}

Test(stream, more_local_strings_than_indices)
{
	const unsigned count = 10000;

	begin();
	for (unsigned i = 0; i < count; i++) {
		char text[16];

		snprintf(text, sizeof(text), "local %u", i);
		put_thread(TID);
		put_string(FX_STRING_LOCAL, text);
		put_complete(FX_STRING_LOCAL, 10 + 100 * i, 20 + 100 * i);
		send_chunk(0, i, WHOLE);
	}
	cr_assert_eq(end().events, count);
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local 0");
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local 9999");
}

static void put_long_string(unsigned index)
{
	char text[512];

	memset(text, 'x', sizeof(text));
	snprintf(text, sizeof(text), "%04u", index);
	text[4] = '-';
	text[sizeof(text) - 1] = 0;
	put_string(index, text);
}

Test(stream, strings_beyond_the_quota_are_numbered)
{
	const unsigned count = 3000; /* 1.5 MB */
	struct fx_stream_counts counts;

	begin();
	for (unsigned i = 0; i < count; i++) {
		put_long_string(10 + i);
		send_durable();
	}
	cr_assert_leq(s->names.held, shared.max_strings);
	put_thread(TID);
	for (unsigned i = 0; i < count; i++)
		put_complete(10 + i, 10 + 100 * i, 20 + 100 * i);
	send_chunk(0, 0, WHOLE);
	counts = end();
	cr_assert_eq(counts.events, count, "no event is lost");
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_gt(counts.lost[FX_CAUSE_NUMBERED], 900);
	cr_assert_lt(counts.lost[FX_CAUSE_NUMBERED], 1100);
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "string #1");
}

Test(stream, strings_of_chunks_that_never_end_take_no_more_than_the_quota)
{
	struct fx_stream_counts counts;

	begin();
	for (unsigned i = 0; i < 5000; i++) {
		put_thread(TID);
		put_string(FX_STRING_MAX, "the last index");
		put_long_string(FX_STRING_LOCAL);
		send_chunk(i, i, FX_PIECE_FIRST);
		cr_assert_leq(s->names.held, shared.max_strings);
	}
	counts = end();
	cr_assert_gt(counts.lost[FX_CAUSE_NUMBERED], 4000);
}

#define MANY_THREADS 600u

static void count_by_thread(const struct fxt_record *record, void *context)
{
	unsigned *counts = context;

	if (record->kind == FXT_KIND_EVENT && record->event.thread.tid - TID < MANY_THREADS)
		counts[record->event.thread.tid - TID]++;
}

Test(stream, more_threads_than_indices)
{
	const unsigned threads = MANY_THREADS;
	unsigned counts[MANY_THREADS] = {0};

	begin();
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < threads; i++) {
			put_thread(TID + i);
			put_complete(NAME, 10 + 100 * round, 20 + 100 * round);
			send_chunk(i, i, WHOLE);
		}
	}
	cr_assert_eq(end().events, 2 * threads);
	/* The process's object and one of each thread; archive_expect_clean() checks their use. */
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_KERNEL_OBJECT), threads + 1);
	archive_each(archive_path(), count_by_thread, counts);
	for (unsigned i = 0; i < threads; i++)
		cr_assert_eq(counts[i], 2, "events of thread %u", i);
}

/* --- Threads without end ---------------------------------------------------------------------- */

#define INVENTED (4 * FX_STREAM_THREADS_MAX)

Test(stream, invented_threads_do_not_fill_the_memory)
{
	unsigned counts[MANY_THREADS] = {0};

	begin();
	for (unsigned i = 0; i < INVENTED; i++) {
		put_thread(TID + i);
		put_complete(NAME, 10, 20);
		send_chunk(0, i, WHOLE);
		cr_assert_leq(HASH_COUNT(s->threads), FX_STREAM_THREADS_MAX);
	}
	/* Who is forgotten is introduced again. */
	put_thread(TID);
	put_complete(NAME, 30, 40);
	send_chunk(0, INVENTED, WHOLE);
	cr_assert_eq(end().events, INVENTED + 1);
	archive_each(archive_path(), count_by_thread, counts);
	cr_assert_eq(counts[0], 2);
}

Test(stream, threads_of_events_do_not_fill_the_memory_either)
{
	begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, FX_PIECE_FIRST);
	for (unsigned i = 1; i < INVENTED; i++) {
		const uint64_t record[4] = {
		    fx_header_event(4, FXT_EVENT_INSTANT, 0, FXT_THREAD_INLINE, CATEGORY, NAME), 30,
		    PID, TID + i};

		put(record, 4);
		send_chunk(0, 0, 0);
		cr_assert_leq(HASH_COUNT(s->threads), FX_STREAM_THREADS_MAX);
	}
	/* The thread of the unfinished chunk was not forgotten meanwhile. */
	put_complete(NAME, 40, 50);
	send_chunk(0, 0, FX_PIECE_LAST);
	cr_assert_eq(end().events, INVENTED + 1);
}

/* An event of the virtual thread `id`, called by the reference `called`. */
static void put_virtual(unsigned type, uint64_t ticks, uint64_t id, uint64_t called)
{
	const uint64_t record[4] = {fx_header_event(4, type, 0, FXT_THREAD_INLINE, CATEGORY, NAME),
				    ticks, called << FX_VTHREAD_NAME_SHIFT | 1, id | FX_VTHREAD};

	put(record, 4);
}

Test(stream, virtual_threads_are_bounded_whatever_they_are_called)
{
	static const uint64_t names[] = {0, NAME, 99, FX_STRING_LOCAL + 5, 0x8004, 0xffff};
	struct fx_stream_counts counts;

	begin();
	for (uint64_t i = 0; i < FX_VTHREADS_MAX + 100; i++) {
		put_thread(TID);
		put_virtual(FXT_EVENT_DURATION_END, 30 + i, i, names[i % FX_ARRAY_LEN(names)]);
		put_virtual(FXT_EVENT_DURATION_BEGIN, 20 + i, i, NAME);
		send_chunk(0, i, WHOLE);
	}
	cr_assert_eq(HASH_COUNT(s->threads), 1, "they are none of the process's threads");
	counts = end();
	cr_assert_eq(counts.events, 2 * FX_VTHREADS_MAX);
	cr_assert_eq(counts.lost[FX_CAUSE_VIRTUAL], 200);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.unfinished, 0);
}

Test(stream, times_of_virtual_threads_are_not_the_writers)
{
	uint64_t last;

	begin();
	put_thread(TID);
	put_complete(NAME, 1000, 2000);
	send_chunk(0, 0, FX_PIECE_FIRST);
	last = fx_stream_thread_known(s, TID)->last_end;
	put_virtual(FXT_EVENT_DURATION_BEGIN, 1, 7, NAME);
	put_virtual(FXT_EVENT_DURATION_END, 5000, 7, NAME);
	put_virtual(FXT_EVENT_INSTANT, 1, 7, NAME);
	send_chunk(0, 0, 0);
	cr_assert_eq(fx_stream_thread_known(s, TID)->last_end, last);
	cr_assert_eq(s->first_end, last);
	cr_assert_eq(fx_stream_thread_known(s, TID)->depth, 0);
	put_complete(NAME, 3000, 4000);
	send_chunk(0, 0, FX_PIECE_LAST);
	cr_assert_eq(end().events, 5);
	cr_assert_gt(archive_find_event(archive_path(), FXT_EVENT_DURATION_BEGIN, "name").tid,
		     UINT64_C(1) << 22);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_DURATION_BEGIN, "name").pid, PID);
}

Test(stream, threads_that_all_have_chunks_are_refused_beyond_the_bound)
{
	struct fx_stream_counts counts;

	begin();
	for (unsigned i = 0; i < FX_STREAM_THREADS_MAX + 100; i++) {
		put_thread(TID + i);
		put_instant(NAME, 10);
		send_chunk(i, i, FX_PIECE_FIRST);
	}
	cr_assert_eq(HASH_COUNT(s->threads), FX_STREAM_THREADS_MAX);
	counts = end();
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

Test(stream, short_lived_threads_without_end_lose_nothing)
{
	struct fx_thread_facts facts = {.tid = PID, .name = "first"};
	struct fx_stream_counts counts;
	char name[32] = "";

	begin();
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
		cr_assert_leq(HASH_COUNT(s->threads), FX_STREAM_THREADS_MAX);
	}
	/* The first is there all the time, and remembered. */
	put_thread(PID);
	put_end(NAME, 30 + 4 * SHORT_LIVED);
	send_chunk(0, 1 + SHORT_LIVED, WHOLE);
	cr_assert_eq(s->others, SHORT_LIVED);
	counts = end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 2 + 2 * SHORT_LIVED);
	/* What they had begun is ended when they are forgotten, or their numbers are another's. */
	cr_assert_geq(counts.unfinished, SHORT_LIVED - FX_STREAM_THREADS_MAX);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_END, "name"),
		     counts.unfinished + 1);
	archive_each(archive_path(), take_last_name_of_first, name);
	cr_assert_str_eq(name, "first");
}

Test(stream, a_thread_that_leaves_its_slot_and_comes_back_is_one)
{
	begin();
	send_facts(0, (struct fx_thread_facts){.tid = TID});
	put_thread_that_begins(TID);
	put_instant(NAME, 10);
	send_chunk(0, 0, WHOLE);
	send_facts(1, (struct fx_thread_facts){.tid = TID});
	put_thread(TID);
	put_instant(NAME, 20);
	send_chunk(0, 1, WHOLE);
	cr_assert_eq(s->others, 1);
	end();
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
Test(stream, threads_of_one_number_are_told_apart)
{
	begin();
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
	cr_assert_eq(s->others, 2);
	end();
	fx_identities_destroy(&ids);
	tid_count = 0;
	archive_each(archive_path(), take_tid, NULL);
	cr_assert_eq(tid_count, 3);
	cr_assert_eq(tids[0], TID);
	cr_assert_eq(tids[1], 1000000001);
	cr_assert_eq(tids[2], PID);
}

Test(stream, processes_of_one_number_are_told_apart)
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

Test(stream, threads_are_named_anew_when_their_names_change)
{
	struct names names = {.count = 0};

	begin();
	send_facts(0, (struct fx_thread_facts){.tid = TID, .name = "first"});
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, WHOLE);
	send_facts(0, (struct fx_thread_facts){.tid = TID, .name = "first"});
	send_facts(0, (struct fx_thread_facts){.tid = TID, .name = "second"});
	end();
	archive_each(archive_path(), take_name, &names);
	cr_assert_eq(names.count, 2);
	cr_assert_str_eq(names.last, "second");
}

Test(stream, a_thread_says_its_own_name_at_its_end)
{
	const uint64_t record[3] = {
	    fx_header_kernel_object(3, FXT_OBJECT_THREAD, fx_ref_inline(4), 0), TID,
	    0x6b726f77 /* "work" */};
	struct names names = {.count = 0};

	begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put(record, 3);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	archive_each(archive_path(), take_name, &names);
	cr_assert_str_eq(names.last, "work");
}

Test(stream, arguments_of_every_kind)
{
	uint64_t record[64];
	struct fx_encoder e;
	struct fxt_record event = {.kind = FXT_KIND_EVENT, .nargs = 4};
	struct found_event f;

	event.event = (struct fxt_event){.type = FXT_EVENT_INSTANT,
					 .thread = {.ref = FX_CHUNK_THREAD_INDEX},
					 .timestamp = 10,
					 .category = fx_string_indexed(CATEGORY),
					 .name = fx_string_inline("inline name", 11)};
	event.args[0] = (struct fxt_arg){.type = FXT_ARG_STRING,
					 .name = fx_string_indexed(NAME),
					 .string = fx_string_indexed(FX_STRING_LOCAL)};
	event.args[1] = (struct fxt_arg){.type = FXT_ARG_STRING,
					 .name = fx_string_inline("key", 3),
					 .string = fx_string_inline("value", 5)};
	event.args[2] = (struct fxt_arg){
	    .type = FXT_ARG_INT64, .name = fx_string_indexed(FX_STRING_LOCAL), .int64 = -7};
	event.args[3] = (struct fxt_arg){
	    .type = FXT_ARG_BOOL, .name = fx_string_indexed(NAME), .boolean = true};
	fx_encoder_init(&e, record, 64);
	cr_assert_eq(fx_record_encode(&e, &event), 0);

	begin();
	put_thread(TID);
	put_string(FX_STRING_LOCAL, "local");
	put(record, e.used);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	f = archive_find_event(archive_path(), FXT_EVENT_INSTANT, "inline name");
	cr_assert_eq(f.nargs, 4);
	cr_assert_eq(f.first_int, -7);
}

/* What a text of one record has become in the archive. */
struct seen {
	const char *want;
	unsigned times;
};

static void see(struct seen *seen, const struct fxt_string *s)
{
	cr_expect(fx_utf8_is_valid(s->data, s->length));
	seen->times +=
	    s->length == strlen(seen->want) && memcmp(s->data, seen->want, s->length) == 0;
}

static void see_texts(const struct fxt_record *r, void *opaque)
{
	struct seen *seen = opaque;

	if (r->kind == FXT_KIND_EVENT) {
		see(seen, &r->event.category);
		see(seen, &r->event.name);
	} else if (r->kind == FXT_KIND_BLOB) {
		see(seen, &r->blob.name);
	} else if (r->kind == FXT_KIND_MODULE) {
		see(seen, &r->profiler.name);
	} else if (r->kind == FXT_KIND_LOG) {
		see(seen, &r->log.message);
	}
	for (uint32_t i = 0; i < r->nargs; i++) {
		see(seen, &r->args[i].name);
		if (r->args[i].type == FXT_ARG_STRING)
			see(seen, &r->args[i].string);
	}
}

static void expect_text(unsigned times, const char *text)
{
	struct seen seen = {.want = text};

	archive_each(archive_path(), see_texts, &seen);
	cr_expect_eq(seen.times, times, "%s: %u times", text, seen.times);
}

static void put_record(const struct fxt_record *record)
{
	static uint64_t encoded[FXT_MAX_RECORD_WORDS];
	struct fx_encoder e;

	fx_encoder_init(&e, encoded, FXT_MAX_RECORD_WORDS);
	cr_assert_eq(fx_record_encode(&e, record), 0);
	put(encoded, e.used);
}

static struct fxt_record bytes_event(const char *category, const char *name, const char *arg)
{
	struct fxt_record event = {.kind = FXT_KIND_EVENT, .nargs = 1};

	event.event = (struct fxt_event){.type = FXT_EVENT_INSTANT,
					 .thread = {.ref = FX_CHUNK_THREAD_INDEX},
					 .timestamp = 10,
					 .category = fx_string_inline(category, strlen(category)),
					 .name = fx_string_inline(name, strlen(name))};
	event.args[0] = (struct fxt_arg){.type = FXT_ARG_STRING,
					 .name = fx_string_inline("a\0b", 3),
					 .string = fx_string_inline(arg, strlen(arg))};
	return event;
}

Test(stream, bytes_that_are_no_utf8_are_escaped_once)
{
	struct fxt_record record = bytes_event("c\xe9", "\\xE9", "v\xff");

	begin();
	put_thread(TID);
	put_string(FX_STRING_LOCAL, "local\xe9");
	put_record(&record);
	record.event.name = fx_string_indexed(FX_STRING_LOCAL);
	put_record(&record);
	record = (struct fxt_record){.kind = FXT_KIND_BLOB};
	record.blob.name = fx_string_inline("blob\xc0\xaf", 6);
	record.blob.payload = (struct fxt_bytes){.data = "\xff\xfe", .size = 2};
	record.blob.type = FXT_BLOB_DATA;
	put_record(&record);
	record = (struct fxt_record){.kind = FXT_KIND_LOG};
	record.log.thread.ref = FX_CHUNK_THREAD_INDEX;
	record.log.message = (struct fxt_string){.data = "log\xe6\x99", .length = 5};
	put_record(&record);
	send_chunk(0, 0, WHOLE);
	record = (struct fxt_record){.kind = FXT_KIND_MODULE};
	record.profiler = (struct fxt_profiler){.module = 3,
						.name = {.data = "/lib/\xe9.so", .length = 9},
						.build_id = {.data = "12345678", .size = 8}};
	put_record(&record);
	send_durable();
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	expect_text(2, "c\\xE9");
	expect_text(2, "v\\xFF");
	expect_text(2, "a\\x00b");
	expect_text(1, "\\x5CxE9");
	expect_text(1, "local\\xE9");
	expect_text(1, "blob\\xC0\\xAF");
	expect_text(1, "log\\xE6\\x99");
	expect_text(1, "/lib/\\xE9.so");
}

/* A record has no more words than viewers read: its texts are shortened, and it is not lost. */
Test(stream, what_is_escaped_fits_its_record)
{
	static char large[30000];
	struct fxt_record record;

	memset(large, 0xe9, sizeof(large) - 1);
	record = bytes_event("category", "\xe9", large);
	begin();
	put_thread(TID);
	put_record(&record);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	expect_text(1, "category");
	expect_text(1, "\\xE9");
}

Test(stream, modules_are_passed_on)
{
	uint64_t record[16];
	struct fx_encoder e;
	struct fxt_record module = {.kind = FXT_KIND_MODULE};

	module.profiler = (struct fxt_profiler){.timestamp = 5,
						.module = 3,
						.name = fx_string_inline("/lib/x.so", 9),
						.build_id = {.data = "12345678", .size = 8}};
	fx_encoder_init(&e, record, 16);
	cr_assert_eq(fx_record_encode(&e, &module), 0);
	begin();
	put(record, e.used);
	send_durable();
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_MODULE), 1);
}

static void send_builtin(const struct fx_builtin *builtin)
{
	const struct fx_piece piece = {.kind = FX_PIECE_BUILTIN, .bytes = sizeof(builtin)};

	fx_intake_piece(s, &piece, &builtin, 0, 0);
}

static bool has_category(const char *name)
{
	struct fx_known *found;

	HASH_FIND_STR(shared.known.entries, name, found);
	return found;
}

/* The strings that manager and provider both know have their names, categories among them, each provider for itself; and
 * a provider's own records may say otherwise. */
Test(stream, builtin_strings)
{
	static const uint64_t records[] = {2 | 2 << 4 | 1 << 16 | 3ull << 32, 0x656e6f,
					   2 | 2 << 4 | 2 << 16 | 3ull << 32 | FX_STRING_CATEGORY,
					   0x676164};
	static const struct fx_builtin builtin = {
	    .records = records, .words = 4, .next = 3, .id = 7};
	const struct fx_name *name;

	begin();
	send_builtin(&builtin);
	name = fx_names_find(&s->names, NULL, 1);
	cr_assert_not_null(name);
	cr_assert_str_eq(name->text, "one");
	cr_assert(has_category("dag"));
	cr_assert_not(has_category("one"));
	cr_assert_gt(fx_names_ref(&s->names, NULL, 1), 0);
	put_string(1, "uno");
	send_durable();
	cr_assert_str_eq(fx_names_find(&s->names, NULL, 1)->text, "uno");
	/* A session later it is as it was. */
	send_builtin(&builtin);
	cr_assert_str_eq(fx_names_find(&s->names, NULL, 1)->text, "one");
	cr_assert_not(s->names.table[1].told);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
}

/* A stack's name is wanted between two pieces: neither what is the same for all threads nor a chunk is taken before it is
 * there, each then from its first record on. */
Test(stream, a_name_that_is_waited_for_holds_the_next_pieces_up)
{
	const struct fx_piece durable = {.kind = FX_PIECE_DURABLE, .bytes = 16};
	struct fx_piece chunk = {.kind = FX_PIECE_CHUNK, .flags = WHOLE};
	struct fx_stream_counts counts;

	begin();
	s->modules.waiting = true;
	put_address(OTHER, ADDRESS + 16);
	cr_assert_eq(fx_intake_piece(s, &durable, words, 0, 0), 0);
	s->modules.waiting = false;
	cr_assert_eq(fx_intake_piece(s, &durable, words, 0, 0), durable.bytes);
	s->modules.waiting = true;
	used = 0;
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put_complete(OTHER, 30, 40);
	chunk.bytes = (uint32_t)(used * 8);
	used = 0;
	cr_assert_eq(fx_intake_piece(s, &chunk, words, 0, 0), 0);
	s->modules.waiting = false;
	cr_assert_eq(fx_intake_piece(s, &chunk, words, 0, 0), chunk.bytes);
	counts = end();
	cr_assert_eq(counts.events, 2);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
}

/* --- What does not --------------------------------------------------------------------------- */

/* One record in a chunk between two good ones: it is left out, they are not. */
static void expect_refused(const uint64_t *record, size_t count)
{
	struct fx_stream_counts counts;

	begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put(record, count);
	put_complete(NAME, 30, 40);
	send_chunk(0, 0, WHOLE);
	counts = end();
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

Test(stream, forged_metadata)
{
	refuse1(FXT_MAGIC_RECORD);
	refuse1(fx_header_provider_section(77));
	refuse1(fx_header_provider_event(1, 0));
	refuse2(fx_header_provider_info(2, 1, 4), 0x6b636168);
	refuse2(fx_header_initialization(), 1);
}

Test(stream, forged_names)
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

Test(stream, forged_scheduling)
{
	refuse3(fx_header_context_switch(3, 0, 0, 0), 10, TID);
}

Test(stream, forged_perfetto_blob)
{
	refuse2(fx_header_blob(2, NAME, 8, FXT_BLOB_PERFETTO), 0);
}

Test(stream, forged_blob_of_the_manager)
{
	const uint64_t name = 0x3a65636172747866; /* "fxtrace:" */

	refuse3(fx_header_blob(3, fx_ref_inline(8), 8, FXT_BLOB_DATA), name, 0);
	refuse2(fx_header_blob(2, fx_ref_inline(8), 0, FXT_BLOB_DATA), name);
}

Test(stream, unknown_references)
{
	refuse2(event_header(FXT_EVENT_INSTANT, 2, 99), 10);
	refuse2(event_header(FXT_EVENT_INSTANT, 2, FX_STRING_LOCAL + 1), 10);
	refuse2(fx_header_event(2, FXT_EVENT_INSTANT, 0, 9, CATEGORY, NAME), 10);
}

Test(stream, times_that_cannot_be)
{
	refuse2(event_header(FXT_EVENT_INSTANT, 2, NAME), UINT64_MAX);
	refuse3(event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME), 30, 20);
}

Test(stream, malformed_records)
{
	/* an argument that is announced and not there */
	refuse2(fx_header_event(2, FXT_EVENT_INSTANT, 1, FX_CHUNK_THREAD_INDEX, CATEGORY, NAME),
		10);
}

/* The record check passes them by their size alone: what they announce may not be there. */
Test(stream, types_from_the_future)
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

/* Viewers count it as an error. */
Test(stream, a_counter_has_numbers_alone)
{
	uint64_t counter[] = {
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, 5) |
		FXT_PUT(EVENT_TYPE, FXT_EVENT_COUNTER) | FXT_PUT(EVENT_NARGS, 2) |
		FXT_PUT(EVENT_THREAD, FX_CHUNK_THREAD_INDEX) | FXT_PUT(EVENT_CATEGORY, NAME) |
		FXT_PUT(EVENT_NAME, NAME),
	    15,
	    FXT_PUT(ARG_TYPE, FXT_ARG_INT32) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, NAME),
	    FXT_PUT(ARG_TYPE, FXT_ARG_UINT32) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, NAME),
	    1,
	};
	static const enum fxt_arg_type others[] = {FXT_ARG_NULL, FXT_ARG_STRING, FXT_ARG_BOOL};

	begin();
	put_thread(TID);
	put(counter, 5);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		counter[3] =
		    FXT_PUT(ARG_TYPE, others[i]) | FXT_PUT(ARG_SIZE, 1) | FXT_PUT(ARG_NAME, NAME);
		expect_refused(counter, 5);
	}
}

Test(stream, a_record_without_size_ends_its_piece)
{
	struct fx_stream_counts counts;

	begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put((const uint64_t[]){FXT_PUT(RECORD_TYPE, 4)}, 1);
	put_complete(NAME, 30, 40);
	send_chunk(0, 0, WHOLE);
	counts = end();
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

Test(stream, fragments_that_cannot_be)
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
Test(stream, fragments_without_the_one_before_are_nothing)
{
	struct fx_stream_counts counts;

	begin();
	put_thread(TID);
	put_fragment(1, 3, 1, 10);
	put_fragment(1, 3, 2, 10);
	send_chunk(0, 0, WHOLE);
	counts = end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 0);
}

/* A fragment twice, or one left out: the record is no more, and what is there of it counts once. */
Test(stream, fragments_out_of_their_order)
{
	struct fx_stream_counts counts;

	begin();
	put_thread(TID);
	put_fragment(1, 4, 0, event_header(FXT_EVENT_INSTANT, 2, NAME));
	put_fragment(1, 4, 2, 10);
	put_fragment(1, 4, 1, 10);
	put_fragment(1, 4, 2, 10);
	put_fragment(1, 4, 3, 10);
	send_chunk(0, 0, WHOLE);
	counts = end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 1);
	cr_assert_eq(counts.events, 0);
}

Test(stream, records_in_fragments_are_told_apart)
{
	const uint64_t header = event_header(FXT_EVENT_INSTANT, 2, NAME);
	struct fx_stream_counts counts;

	begin();
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
	counts = end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 2);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_LARGE_ATTACHMENT), 0);
}

Test(stream, records_that_are_never_finished_take_little)
{
	struct fx_stream_counts counts;

	begin();
	for (uint32_t i = 0; i < 10000; i++) {
		put_thread(TID);
		put_fragment(i, FX_LARGEST_RECORD / 8, 0, event_header(FXT_EVENT_INSTANT, 2, NAME));
		send_chunk(i % 8, i, WHOLE);
	}
	/* The oldest are given up: this one is not out of order, but unknown. */
	put_thread(TID);
	put_fragment(0, FX_LARGEST_RECORD / 8, 7, 0);
	send_chunk(0, 10000, WHOLE);
	counts = end();
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(counts.events, 0);
}

Test(stream, a_process_id_of_its_own_choice)
{
	const uint64_t record[4] = {
	    fx_header_event(4, FXT_EVENT_INSTANT, 0, FXT_THREAD_INLINE, CATEGORY, NAME), 10, 1,
	    TID};

	begin();
	put_thread(TID);
	put(record, 4);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_INSTANT, "name").pid, PID);
}

Test(stream, random_words_do_no_harm)
{
	srand(4);
	begin();
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
	fx_intake_finish(s, &(struct fx_stream_end){.ticks = 1});
	fx_stream_destroy(s);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	cr_assert_gt(archive_count(archive_path(), FXT_KIND_EVENT), 0);
}

/* Parts of all sizes, in any order, of records of all kinds. */
Test(stream, random_fragments_do_no_harm)
{
	srand(5);
	begin();
	for (unsigned round = 0; round < 20000; round++) {
		unsigned count = rand() % 12, total = rand() % 24;

		put_thread(TID + (unsigned)(rand() % 3));
		put_complete(NAME, 10, 20);
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
	fx_intake_finish(s, &(struct fx_stream_end){.ticks = 1});
	fx_stream_destroy(s);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	cr_assert_gt(archive_count(archive_path(), FXT_KIND_EVENT), 5000);
}

/* --- The kernel provider --------------------------------------------------------------------- */

/* Of another process's thread, at a time that is none of a counter. */
static void put_foreign(uint64_t pid, uint64_t tid, uint64_t ns)
{
	const uint64_t record[4] = {
	    fx_header_event(4, FXT_EVENT_INSTANT, 0, FXT_THREAD_INLINE, CATEGORY, NAME), ns, pid,
	    tid};

	put(record, 4);
}

static void put_switch(uint64_t ns, uint64_t outgoing, uint64_t incoming)
{
	const uint64_t record[4] = {fx_header_context_switch(4, 0, 3, 0), ns, outgoing, incoming};

	put(record, 4);
}

Test(stream, events_of_others_by_the_kernel_provider)
{
	struct found_event found;

	begin_as(true);
	fx_timebase_destroy(&shared.timebase);
	fx_timebase_init(&shared.timebase, FX_CLOCK_COUNTER, (struct fx_anchor){100, 5000});
	fx_timebase_add(&shared.timebase, (struct fx_anchor){200, 7000}, 1000000);
	put_thread(TID);
	put_foreign(777, 778, 6000);
	put_switch(6001, 778, 0);
	put((const uint64_t[]){fx_header_kernel_object(3, FXT_OBJECT_PROCESS, fx_ref_inline(4), 0),
			       777, 0x6b636168},
	    3);
	/* its own thread's name, as any provider's */
	put((const uint64_t[]){fx_header_kernel_object(3, FXT_OBJECT_THREAD, fx_ref_inline(4), 0),
			       TID, 0x6b636168},
	    3);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().lost[FX_CAUSE_INVALID], 0);
	found = archive_find_event(archive_path(), FXT_EVENT_INSTANT, "name");
	cr_expect_eq(found.pid, 777);
	cr_expect_eq(found.tid, 778);
	cr_expect_eq(found.event.timestamp, 6000);
	cr_expect_eq(archive_count(archive_path(), FXT_KIND_CONTEXT_SWITCH), 1);
	fx_timebase_destroy(&shared.timebase);
}

/* Nobody has such numbers. */
Test(stream, nobodys_events_by_the_kernel_provider)
{
	begin_as(true);
	put_thread(TID);
	put_foreign(0, 778, 10);
	put_foreign(777, 0, 10);
	put_foreign(UINT64_C(1) << 31, 778, 10);
	put_foreign(777, UINT64_MAX, 10);
	put_switch(10, UINT64_MAX, 0);
	put_switch(UINT64_MAX, 778, 0);
	put((const uint64_t[]){fx_header_kernel_object(3, FXT_OBJECT_PROCESS, fx_ref_inline(4), 0),
			       UINT64_C(1) << 31, 0x6b636168},
	    3);
	/* a thread without a process, another's */
	put((const uint64_t[]){fx_header_kernel_object(3, FXT_OBJECT_THREAD, fx_ref_inline(4), 0),
			       TID + 1, 0x6b636168},
	    3);
	put_foreign(777, 778, 10);
	send_chunk(0, 0, WHOLE);
	cr_expect_eq(end().lost[FX_CAUSE_INVALID], 8);
	cr_expect_eq(archive_count(archive_path(), FXT_KIND_EVENT),
		     1 + 1); /* and the mark of them */
}

Test(stream, random_words_of_the_kernel_provider_do_no_harm)
{
	srand(6);
	begin_as(true);
	for (unsigned round = 0; round < 20000; round++) {
		put_thread(TID);
		put_foreign(777, 778, 10);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t word = (uint64_t)rand() << 32 ^ (uint64_t)rand();

			if (rand() % 2)
				word = (word & ~UINT64_C(0xffff)) | rand() % 11 | (rand() % 6) << 4;
			if (rand() % 4 == 0)
				word &= 0xffff;
			put(&word, 1);
		}
		send_chunk(round % 5, round, rand() % 4);
	}
	fx_intake_finish(s, &(struct fx_stream_end){.ticks = 1});
	fx_stream_destroy(s);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	cr_assert_gt(archive_count(archive_path(), FXT_KIND_EVENT), 1000);
}

/* --- Marks ----------------------------------------------------------------------------------- */

Test(stream, open_calls_are_shown)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};
	struct found_event f;

	begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 2, 90);
	cr_assert_eq(end().unfinished, 2);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
	cr_assert_eq(f.event.timestamp, 5);
	cr_assert_eq(f.event.end_time, 90);
	cr_assert(f.unfinished);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 2);
}

Test(stream, an_open_call_that_is_recorded_already)
{
	const struct fx_frame frames[] = {
	    {.start = 10, .id = ADDRESS},
	    {.start = 12, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	begin();
	put_thread(TID);
	put_complete(NAME, 12, 20);
	put_complete(FUNCTION, 10, 30);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 2, 90);
	cr_assert_eq(end().unfinished, 0);
}

/* A liar's may begin at one time: the name tells them apart. */
Test(stream, an_open_call_beside_a_recorded_one_of_another_name)
{
	const struct fx_frame frames[] = {
	    {.start = 10, .id = ADDRESS + 64},
	    {.start = 12, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, OTHER)},
	    {.start = 14,
	     .id = fx_header_event(3, FXT_EVENT_DURATION_COMPLETE, 0, FX_CHUNK_THREAD_INDEX, OTHER,
				   NAME)},
	};

	begin();
	put_string(OTHER, "other");
	send_durable();
	put_thread(TID);
	put_complete(NAME, 14, 90);
	put_complete(NAME, 12, 90);
	put_complete(FUNCTION, 10, 90);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 3, 90);
	cr_assert_eq(end().unfinished, 3);
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
	return end();
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

Test(stream, an_open_exec_shows_what_it_executes)
{
	struct executed e;

	begin();
	put_thread(TID);
	put_exec(30, "/bin/false", "one that failed");
	put_exec(50, "/bin/true", "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	e = executed();
	cr_assert_eq(e.count, 1);
	cr_assert_str_eq(e.path, "/bin/true");
	cr_assert_str_eq(e.argv, "true -x");
}

Test(stream, an_open_exec_whose_path_is_not_known)
{
	struct executed e;

	begin();
	put_thread(TID);
	put_exec(50, NULL, "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	e = executed();
	cr_assert_eq(e.count, 1);
	cr_assert_str_eq(e.path, "");
	cr_assert_str_eq(e.argv, "true -x");
}

Test(stream, an_open_call_that_is_no_exec)
{
	begin();
	put_thread(TID);
	put_exec(30, "/bin/false", "one that failed");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(executed().count, 0);
}

Test(stream, an_exec_of_another_thread)
{
	begin();
	put_thread(TID + 1);
	put_exec(50, "/bin/true", "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(executed().count, 0);
}

/* A text that is longer than any that a provider may tell is none. */
Test(stream, an_exec_with_a_text_that_is_too_long)
{
	char text[300];
	struct executed e;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	begin();
	put_thread(TID);
	put_exec(50, text, "true -x");
	cr_assert_eq(stay_in_exec().lost[FX_CAUSE_INVALID], 0);
	e = executed();
	cr_assert_str_eq(e.path, "");
	cr_assert_str_eq(e.argv, "true -x");
}

Test(stream, an_open_call_ends_after_what_it_encloses)
{
	const struct fx_frame frame = {.start = 5, .id = ADDRESS};
	struct found_event f;

	begin();
	put_thread(TID);
	put_complete(NAME, 10, 200);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, &frame, 1, 90);
	end();
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
	cr_assert_eq(f.event.end_time, 200);
}

Test(stream, garbage_for_open_calls)
{
	struct fx_frame frames[FX_FRAMES - 1];

	begin();
	memset(frames, 0xff, sizeof(frames));
	send_frames(TID, frames, FX_FRAMES - 1, 90);
	srand(5);
	for (size_t i = 0; i < sizeof(frames) / 8; i++)
		((uint64_t *)frames)[i] = (uint64_t)rand() << 40 ^ (uint64_t)rand();
	send_frames(TID, frames, FX_FRAMES - 1, 90);
	send_frames(0, frames, FX_FRAMES - 1, 90);
	send_frames(UINT64_MAX, frames, FX_FRAMES - 1, 90);
	end();
}

Test(stream, pairs_are_ended)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS, .sp = 64},
	    {.start = 50, .id = ADDRESS, .sp = 32 | FX_FRAME_SILENT},
	    {.start = 60, .id = ADDRESS, .sp = 16},
	};
	const uint64_t one[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 5};
	const uint64_t two[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 60};

	begin();
	shared.pairs = true;
	put_thread(TID);
	put(one, 2);
	put(two, 2);
	send_chunk(0, 0, WHOLE);
	send_frames(TID, frames, 3, 90);
	cr_assert_eq(end().unfinished, 2);
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
	if (record->kind == FXT_KIND_EVENT)
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
	begin();
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
Test(stream, an_owed_end_has_the_name_of_its_begin)
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
	cr_assert_eq(end().unfinished, 0);
	expect_replay(
	    "+0x401000@10 +0x402000@20 -0x402000@30 +0x403000@30 -0x403000@40 -0x401000@50 ");
}

/* An end that is lost is the end of the call that it lies in. */
Test(stream, no_call_outlasts_its_caller)
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
	end();
	expect_replay("+0x401000@10 +0x402000@20 +name@25 -name@30 -0x402000@30 -0x401000@30 "
		      "+0x403000@40 -0x403000@50 ");
}

/* The program's own slices end no call, and no other slice than their own. */
Test(stream, an_end_whose_begin_is_lost_ends_nothing)
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
	end();
	expect_replay("+name@5 +outer@6 +0x401000@10 -0x401000@30 -outer@40 -name@50 ");
}

/* What a handler has recorded stands in a chunk of its own, which may come later. */
Test(stream, pairs_of_handlers_come_in_any_order)
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
	cr_assert_eq(end().unfinished, 0);
	expect_replay(
	    "+0x401000@10 +0x402000@40 +0x403000@20 -0x402000@50 -0x403000@30 -0x401000@60 ");
}

/* The last ends of a thread found no room, and it has left its slot. */
Test(stream, nothing_is_open_of_a_thread_that_has_ended)
{
	begin_pairs();
	put_begin(FUNCTION, 10);
	put_begin(DEEPER, 20);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(end().unfinished, 2);
	expect_replay("+0x401000@10 +0x402000@20 -0x402000@20 -0x401000@20 ");
}

/* --- Calls that are open while tracing stops and goes on ------------------------------------- */

/* Two calls that were open at a stop at 90; the thread holds chunk 0. */
static void stop_in_two_calls(void)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	begin();
	put_thread(TID);
	put_complete(FUNCTION, 10, 20);
	send_chunk(0, 0, FX_PIECE_FIRST);
	send_frames(TID, frames, 2, 90);
}

/* The kernel stopped the thread in the middle of the hook that ends the inner call. */
Test(stream, the_record_of_a_call_that_was_told_at_a_stop)
{
	const uint64_t ends[] = {80, 90, 250};

	for (unsigned i = 0; i < 3; i++) {
		stop_in_two_calls();
		put_complete(NAME, 50, ends[i]);
		send_chunk(0, 0, FX_PIECE_LAST);
		put_thread(TID);
		put_complete(NAME, 300, 310);
		send_chunk(1, 1, WHOLE);
		cr_assert_eq(end().unfinished, 2);
		cr_assert_eq(
		    archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 2,
		    "the call once, and the one after it");
	}
}

/* It was taken off between the look at the records and the look at the open calls. */
Test(stream, the_record_of_a_call_that_ended_while_it_was_told_of)
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
	cr_assert_eq(end().unfinished, 2);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "other");
	cr_assert_eq(f.event.timestamp, 57);
	cr_assert_eq(f.event.end_time, 90);
}

Test(stream, a_call_that_is_open_at_two_stops_is_told_once)
{
	const struct fx_frame frames[] = {
	    {.start = 5, .id = ADDRESS},
	    {.start = 50, .id = event_header(FXT_EVENT_DURATION_COMPLETE, 3, NAME)},
	};

	stop_in_two_calls();
	send_frames(TID, frames, 2, 190);
	send_frames(TID, frames, 2, 290);
	cr_assert_eq(end().unfinished, 2);
	cr_assert_eq(
	    archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name").event.end_time,
	    90);
}

Test(stream, calls_of_the_next_start_are_told_at_its_stop)
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
	cr_assert_eq(end().unfinished, 4);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name"), 3);
}

/* Who had the number before left without a word. */
Test(stream, two_threads_of_one_number_at_a_stop)
{
	const struct fx_frame frame = {.start = 40, .id = ADDRESS + 64};

	stop_in_two_calls();
	send_frames(TID, &frame, 1, 90);
	cr_assert_eq(end().unfinished, 3);
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401040");
}

Test(stream, begins_and_ends_that_come_after_their_stop)
{
	const struct fx_frame frame = {.start = 5, .id = ADDRESS};
	const uint64_t begins[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 5};
	uint64_t late[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, FUNCTION), 80};
	struct fx_stream_counts counts;

	for (; late[1] <= 280; late[1] += 200) {
		begin();
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
		counts = end();
		cr_assert_eq(counts.unfinished, 1);
		cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
		cr_assert_eq(
		    archive_count_events(archive_path(), FXT_EVENT_DURATION_BEGIN, "0x401000"), 1);
	}
}

/* The program's own slices may begin before a stop and end after the next start. */
Test(stream, the_programs_own_slices_go_on_over_a_stop)
{
	const struct fx_frame frame = {.start = 5, .id = ADDRESS};
	const uint64_t begins[2] = {event_header(FXT_EVENT_DURATION_BEGIN, 2, NAME), 50};
	const uint64_t ends[2] = {event_header(FXT_EVENT_DURATION_END, 2, NAME), 350};

	begin();
	put_thread(TID);
	put(begins, 2);
	send_chunk(0, 0, FX_PIECE_FIRST);
	send_frames(TID, &frame, 1, 90);
	send_chunk(0, 0, FX_PIECE_LAST);
	put_thread(TID);
	put(ends, 2);
	put_complete(NAME, 360, 370);
	send_chunk(1, 1, WHOLE);
	end();
}

Test(stream, losses_are_counted_and_shown)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "loser"};
	struct fx_stream_counts counts;
	struct found_event f;

	begin();
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
	counts = end_with(&(struct fx_stream_end){.ticks = 1000, .unslotted[FX_LOSS_THREADS] = 3});
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

/* Times and values of the counter of losses, as they stand. */
static void take_counter(const struct fxt_record *record, void *context)
{
	size_t length = strlen(replayed);

	(void)context;
	if (record->kind == FXT_KIND_EVENT && record->event.type == FXT_EVENT_COUNTER)
		snprintf(replayed + length, sizeof(replayed) - length, "%u@%u ",
			 (unsigned)record->args[0].uint64, (unsigned)record->event.timestamp);
}

/* Between two looks writing has gone on and stopped again: the losses are those of two gaps. */
Test(stream, each_gap_has_its_begin_and_its_end)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "loser"};

	begin();
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
	cr_assert_eq(end().dropped, 18);
	replayed[0] = 0;
	archive_each(archive_path(), take_counter, NULL);
	cr_assert_str_eq(replayed,
			 "0@100 10@200 10@250 13@250 13@300 15@400 15@400 17@400 17@500 18@500 ");
}

/* A count that nobody can reach is one thing that is left out, and nothing more is believed of such. */
Test(stream, losses_that_cannot_be_are_not_counted)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "liar"};
	struct fx_stream_counts counts;

	begin();
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
	counts = end_with(&(struct fx_stream_end){
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
Test(stream, no_two_marks_of_losses_at_one_time)
{
	struct fx_thread_facts facts = {.tid = TID, .name = "loser"};
	struct marks marks = {0};

	begin();
	facts.dropped_first = facts.dropped_last = 100;
	while (facts.lost[FX_LOSS_FULL]++ < 3)
		send_facts(0, facts);
	cr_assert_eq(end().dropped, 3);
	archive_each(archive_path(), take_mark, &marks);
	cr_assert_eq(marks.count, 3);
}

Test(stream, the_heap_at_the_end)
{
	struct found_event f;

	begin();
	end_with(&(struct fx_stream_end){.ticks = 1000, .heap_bytes = 4096, .heap_blocks = 3});
	f = archive_find_event(archive_path(), FXT_EVENT_COUNTER, "heap");
	cr_assert_eq(f.event.timestamp, 1000);
	cr_assert_eq(f.first_int, 4096);
	cr_assert_eq(f.nargs, 2);
}
