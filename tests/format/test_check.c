/* SPDX-License-Identifier: MIT */
/* The check of archives: what it finds, and what it lets pass. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "format/check-archive.h"
#include "format/check-slices.h"
#include "format/encode.h"

#define PID 100
#define TID 101

/* --- Making archives ------------------------------------------------------------------------- */

static uint64_t words[1 << 16];
static struct fx_encoder archive;

static void archive_begin(void)
{
	fx_encoder_init(&archive, words, sizeof(words) / sizeof(words[0]));
	cr_assert_eq(fx_encode_magic(&archive), 0);
	cr_assert_eq(fx_encode_provider_info(&archive, 1, "one", 3), 0);
	cr_assert_eq(fx_encode_initialization(&archive, 1000000000), 0);
	cr_assert_eq(fx_encode_process_name(&archive, PID, "app", 3), 0);
	cr_assert_eq(fx_encode_thread_name(&archive, PID, TID, "main", 4), 0);
	cr_assert_eq(fx_encode_string(&archive, 1, "cat", 3), 0);
	cr_assert_eq(fx_encode_string(&archive, 2, "name", 4), 0);
	cr_assert_eq(fx_encode_string(&archive, 3, "other", 5), 0);
	cr_assert_eq(fx_encode_thread(&archive, 1, PID, TID), 0);
	cr_assert_eq(fx_encode_thread(&archive, 2, PID, TID + 1), 0);
	cr_assert_eq(fx_encode_thread(&archive, 3, PID + 1, PID + 1), 0);
}

static struct fxt_record event(enum fxt_event_type type, unsigned thread, uint64_t time,
			       uint64_t extra)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.type = (uint8_t)type;
	record.event.thread.ref = (uint8_t)thread;
	record.event.timestamp = time;
	record.event.category = fx_string_indexed(1);
	record.event.name = fx_string_indexed(2);
	record.event.extra = extra;
	return record;
}

/* Returns the offset of the record. */
static uint64_t add(const struct fxt_record *record)
{
	uint64_t offset = archive.used * FXT_WORD_SIZE;

	cr_assert_eq(fx_record_encode(&archive, record), 0);
	return offset;
}

static uint64_t add_event(enum fxt_event_type type, unsigned thread, uint64_t time, uint64_t extra)
{
	struct fxt_record record = event(type, thread, time, extra);

	return add(&record);
}

static uint64_t begin(uint64_t time)
{
	return add_event(FXT_EVENT_DURATION_BEGIN, 1, time, 0);
}

static uint64_t end(uint64_t time)
{
	return add_event(FXT_EVENT_DURATION_END, 1, time, 0);
}

static uint64_t complete(uint64_t start, uint64_t stop)
{
	return add_event(FXT_EVENT_DURATION_COMPLETE, 1, start, stop);
}

/* --- Checking them --------------------------------------------------------------------------- */

static char found[1 << 16];
static struct fx_violations violations;
static struct fx_archive_counts counts;
static int result;

static void on_violation(void *opaque, enum fx_severity severity, uint64_t offset, const char *text)
{
	size_t used = strlen(found);

	(void)opaque;
	snprintf(found + used, sizeof(found) - used, "%c %" PRIu64 " %s\n",
		 severity == FX_SEVERITY_ERROR ? 'E' : 'W', offset, text);
}

static void check(void)
{
	struct fxt_reader *reader;

	found[0] = '\0';
	violations = (struct fx_violations){.handler = on_violation};
	cr_assert_eq(fxt_reader_open_memory(words, archive.used * FXT_WORD_SIZE, &reader), 0);
	result = fx_archive_check(reader, &violations, &counts);
	fxt_reader_close(reader);
}

static void expect_clean(void)
{
	check();
	cr_expect_eq(result, 0);
	cr_expect_str_eq(found, "");
}

/* Exactly one violation, of this severity, at this record, whose text begins so. */
static void expect_one(char severity, uint64_t offset, const char *text)
{
	char line[300];

	check();
	cr_expect_eq(violations.errors + violations.warnings, 1u, "found:\n%s", found);
	snprintf(line, sizeof(line), "%c %" PRIu64 " %s", severity, offset, text);
	cr_expect_eq(strncmp(found, line, strlen(line)), 0, "expected: %s\nfound: %s", line, found);
}

static void setup(void)
{
	archive_begin();
}

TestSuite(check, .init = setup);

/* --- Sound archives -------------------------------------------------------------------------- */

Test(check, counts_what_it_read)
{
	begin(10);
	complete(11, 12);
	add_event(FXT_EVENT_INSTANT, 2, 13, 0);
	add_event(FXT_EVENT_INSTANT, 3, 13, 0);
	expect_clean();
	cr_expect_eq(counts.bytes, archive.used * FXT_WORD_SIZE);
	cr_expect_eq(counts.records, 15u);
	cr_expect_eq(counts.events, 4u);
	cr_expect_eq(counts.providers, 1u);
	cr_expect_eq(counts.processes, 2u);
	cr_expect_eq(counts.threads, 3u);
	cr_expect_eq(counts.open_slices, 1u);
	cr_expect_eq(counts.unknown_records, 0u);
}

/* Complete events are written when calls end, so children come first in the file. */
Test(check, children_before_parents_with_distinct_starts)
{
	complete(20, 30);
	complete(40, 50);
	complete(10, 60);
	expect_clean();
}

Test(check, slices_may_touch)
{
	complete(10, 20);
	complete(20, 30);
	complete(20, 20);
	complete(30, 40);
	begin(40);
	end(50);
	begin(50);
	end(60);
	expect_clean();
}

Test(check, children_may_start_and_end_with_their_parent)
{
	complete(10, 30);
	complete(20, 30);
	complete(40, 50);
	complete(40, 50);
	expect_clean();
}

Test(check, pairs_inside_a_complete_event_may_end_with_it)
{
	complete(10, 20);
	begin(15);
	end(20);
	complete(20, 25);
	expect_clean();
}

Test(check, order_is_by_time_not_by_place)
{
	end(50);
	begin(40);
	expect_clean();
}

Test(check, threads_do_not_disturb_each_other)
{
	complete(10, 20);
	add_event(FXT_EVENT_DURATION_COMPLETE, 2, 15, 25);
	expect_clean();
}

/* --- Slices ---------------------------------------------------------------------------------- */

Test(check, end_before_start)
{
	expect_one('E', complete(20, 19), "complete event ends before it starts: 19 < 20");
}

Test(check, partial_overlap)
{
	complete(10, 20);
	expect_one('E', complete(15, 25), "partly overlaps the complete event at offset ");
}

/* At equal starts the one that comes first in the file is taken for the parent. */
Test(check, equal_starts_need_the_parent_first)
{
	complete(10, 20);
	expect_one('E', complete(10, 30), "partly overlaps the complete event at offset ");
	archive_begin();
	complete(10, 30);
	complete(10, 20);
	expect_clean();
}

Test(check, end_without_begin)
{
	begin(10);
	end(20);
	expect_one('E', end(30), "end event without a begin event");
}

Test(check, end_without_begin_on_a_virtual_thread_is_a_warning)
{
	struct fxt_record named = {.kind = FXT_KIND_KERNEL_OBJECT, .nargs = 2};

	add_event(FXT_EVENT_DURATION_BEGIN, 2, 10, 0);
	add_event(FXT_EVENT_DURATION_END, 2, 20, 0);
	named.kernel_object.type = FXT_OBJECT_THREAD;
	named.kernel_object.koid = TID + 1;
	named.args[0] = (struct fxt_arg){
	    .type = FXT_ARG_KOID, .name = fx_string_inline("process", 7), .koid = PID};
	named.args[1] = (struct fxt_arg){
	    .type = FXT_ARG_BOOL, .name = fx_string_inline("virtual", 7), .boolean = true};
	add(&named);
	expect_one('W', add_event(FXT_EVENT_DURATION_END, 2, 30, 0),
		   "end event without a begin event on a virtual thread");
}

Test(check, pair_that_crosses_the_end_of_a_complete_event)
{
	uint64_t offset;

	complete(10, 20);
	offset = begin(15);
	end(25);
	check();
	cr_expect_eq(violations.errors, 2u, "%s", found); /* and the end has lost its begin */
	cr_expect_not_null(strstr(found, "crosses the end of the complete event"));
	cr_expect_eq(strtoull(found + 2, NULL, 10), offset, "%s", found);
}

Test(check, end_inside_a_complete_event)
{
	begin(10);
	complete(15, 25);
	expect_one('E', end(20), "end event inside the complete event at offset ");
}

Test(check, nesting_of_512_is_the_limit)
{
	uint64_t offset = 0;

	for (uint64_t i = 0; i < FX_MAX_SLICE_DEPTH; i++)
		complete(10 + i, 10000 - i);
	expect_clean();
	offset = complete(10 + FX_MAX_SLICE_DEPTH, 10000 - FX_MAX_SLICE_DEPTH);
	expect_one('E', offset, "nested deeper than 512");
}

/* One report a thread, and the ends still find their begins. */
Test(check, pairs_nested_too_deep_are_matched_all_the_same)
{
	for (uint64_t i = 0; i < FX_MAX_SLICE_DEPTH + 10; i++)
		begin(10 + i);
	for (uint64_t i = 0; i < FX_MAX_SLICE_DEPTH + 10; i++)
		end(10000 + i);
	check();
	cr_expect_eq(violations.errors, 1u, "%s", found);
	cr_expect_eq(counts.open_slices, 0u);
}

Test(check, time_beyond_63_bits)
{
	expect_one('E', add_event(FXT_EVENT_INSTANT, 1, UINT64_C(1) << 63, 0),
		   "time beyond 63 bits of nanoseconds");
}

/* --- Ids ------------------------------------------------------------------------------------- */

Test(check, async_across_threads_in_any_file_order)
{
	add_event(FXT_EVENT_ASYNC_END, 2, 30, 7);
	add_event(FXT_EVENT_ASYNC_INSTANT, 2, 20, 7);
	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 7);
	expect_clean();
}

Test(check, async_end_without_begin)
{
	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 7);
	add_event(FXT_EVENT_ASYNC_END, 1, 20, 7);
	expect_one('E', add_event(FXT_EVENT_ASYNC_END, 1, 30, 7),
		   "async end without a begin, id 7");
}

Test(check, async_end_with_another_name)
{
	struct fxt_record other = event(FXT_EVENT_ASYNC_END, 1, 20, 7);

	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 7);
	other.event.name = fx_string_indexed(3);
	expect_one('E', add(&other), "async end with another name or category than its begin");
}

/* The same text counts, not the same reference. */
Test(check, async_end_with_the_name_inline)
{
	struct fxt_record same = event(FXT_EVENT_ASYNC_END, 1, 20, 7);

	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 7);
	same.event.name = fx_string_inline("name", 4);
	add(&same);
	expect_clean();
}

Test(check, async_id_in_two_processes_at_once)
{
	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 7);
	expect_one('E', add_event(FXT_EVENT_ASYNC_BEGIN, 3, 20, 7),
		   "async id 7 is open in another process as well");
}

Test(check, async_left_open_is_counted)
{
	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 7);
	add_event(FXT_EVENT_ASYNC_BEGIN, 1, 10, 8);
	expect_clean();
	cr_expect_eq(counts.open_slices, 2u);
}

Test(check, async_instant_without_begin)
{
	expect_one('W', add_event(FXT_EVENT_ASYNC_INSTANT, 1, 10, 7),
		   "async instant without a begin, id 7");
}

Test(check, flow_from_slice_to_slice)
{
	complete(10, 20);
	add_event(FXT_EVENT_FLOW_BEGIN, 1, 15, 9);
	add_event(FXT_EVENT_DURATION_COMPLETE, 2, 20, 30);
	add_event(FXT_EVENT_FLOW_STEP, 2, 25, 9);
	add_event(FXT_EVENT_INSTANT, 3, 40, 0);
	add_event(FXT_EVENT_FLOW_END, 3, 40, 9);
	expect_clean();
}

Test(check, flow_without_a_slice)
{
	expect_one('E', add_event(FXT_EVENT_FLOW_BEGIN, 1, 15, 9),
		   "flow event without a slice to bind to");
}

/* Nor does it matter then that there is no slice. */
Test(check, flow_end_without_begin)
{
	expect_one('W', add_event(FXT_EVENT_FLOW_END, 1, 15, 9), "flow end without a begin, id 9");
}

Test(check, flow_id_begun_twice)
{
	complete(10, 20);
	add_event(FXT_EVENT_FLOW_BEGIN, 1, 15, 9);
	expect_one('E', add_event(FXT_EVENT_FLOW_BEGIN, 1, 16, 9),
		   "flow id 9 begins again before its end");
}

/* --- Single records -------------------------------------------------------------------------- */

static struct fxt_arg arg_of_type(enum fxt_arg_type type, const char *name)
{
	return (struct fxt_arg){
	    .type = (uint8_t)type,
	    .name = fx_string_inline(name, strlen(name)),
	};
}

Test(check, counters_are_numeric)
{
	struct fxt_record record = event(FXT_EVENT_COUNTER, 1, 10, 1);

	record.nargs = 5;
	for (int i = 0; i < 5; i++)
		record.args[i] = arg_of_type((enum fxt_arg_type)(FXT_ARG_INT32 + i), "n");
	add(&record);
	expect_clean();
	record.nargs = 1;
	for (int type = FXT_ARG_NULL; type <= FXT_ARG_BLOB; type++) {
		if (type >= FXT_ARG_INT32 && type <= FXT_ARG_DOUBLE)
			continue;
		archive_begin();
		record.args[0] = arg_of_type((enum fxt_arg_type)type, "n");
		expect_one('E', add(&record), "counter with an argument that is no number");
	}
	record.nargs = 0;
	archive_begin();
	expect_one('W', add(&record), "counter without arguments");
}

Test(check, threads_name_their_process)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};
	uint64_t offset;

	record.kernel_object.type = FXT_OBJECT_THREAD;
	record.kernel_object.koid = 5;
	offset = add(&record);
	expect_one('E', offset, "kernel object of thread 5 lacks the argument \"process\"");
	record.nargs = 1;
	record.args[0] = arg_of_type(FXT_ARG_UINT64, "process");
	archive_begin();
	expect_one('E', add(&record), "kernel object of thread 5 lacks the argument \"process\"");
}

Test(check, scheduling)
{
	struct fxt_record record = {.kind = FXT_KIND_CONTEXT_SWITCH, .nargs = 1};

	record.args[0] = arg_of_type(FXT_ARG_INT32, "incoming_weight");
	record.scheduling.cpu = 4095;
	add(&record);
	expect_clean();
	archive_begin();
	record.scheduling.cpu = 4096;
	expect_one('E', add(&record), "CPU number 4096 is too large");
	archive_begin();
	record.scheduling.cpu = 0;
	record.args[0].type = FXT_ARG_INT64;
	expect_one('E', add(&record), "argument \"incoming_weight\" is not of type int32");
	archive_begin();
	record.kind = FXT_KIND_THREAD_WAKEUP;
	record.args[0] = arg_of_type(FXT_ARG_INT32, "waker");
	expect_one('E', add(&record), "argument \"waker\" is not of type koid");
}

Test(check, clock_rate_that_changes)
{
	uint64_t offset;

	cr_assert_eq(fx_encode_initialization(&archive, 2000000000), 0);
	add_event(FXT_EVENT_INSTANT, 1, 10, 0);
	cr_assert_eq(fx_encode_initialization(&archive, 2000000000), 0);
	expect_clean();
	offset = archive.used * FXT_WORD_SIZE;
	cr_assert_eq(fx_encode_initialization(&archive, 1000000000), 0);
	expect_one('E', offset, "clock rate changes after events");
}

Test(check, faults_of_the_reader)
{
	struct fxt_record record = event(FXT_EVENT_INSTANT, 1, 10, 0);
	uint64_t offset;

	record.event.name = fx_string_indexed(99);
	expect_one('E', add(&record), "string index was never defined (word 0, index 99)");
	archive_begin();
	expect_one('E', add_event(FXT_EVENT_INSTANT, 77, 10, 0),
		   "thread index was never defined (word 0, index 77)");
	archive_begin();
	offset = archive.used * FXT_WORD_SIZE;
	cr_assert_eq(fx_encode_provider_section(&archive, 5), 0);
	expect_one('E', offset, "section of a provider that was never introduced (word 0, id 5)");
	archive_begin();
	offset = archive.used * FXT_WORD_SIZE;
	cr_assert_eq(fx_encode_provider_info(&archive, 1, "again", 5), 0);
	expect_one('E', offset, "provider introduced twice (word 0, id 1)");
	archive_begin();
	offset = archive.used * FXT_WORD_SIZE;
	archive.words[archive.used++] = fx_header_initialization();
	expect_one('E', offset, "truncated inside this record");
}

Test(check, no_archive)
{
	fx_encoder_init(&archive, words, 10);
	cr_assert_eq(fx_encode_initialization(&archive, 1), 0);
	expect_one('E', 0, "not a trace: the magic number is missing");
	cr_expect_eq(result, -EBADMSG);
}

/* --- Warnings -------------------------------------------------------------------------------- */

Test(check, record_outside_of_any_provider)
{
	fx_encoder_init(&archive, words, 100);
	cr_assert_eq(fx_encode_magic(&archive), 0);
	cr_assert_eq(fx_encode_string(&archive, 1, "a", 1), 0);
	cr_assert_eq(fx_encode_string(&archive, 1, "b", 1), 0);
	expect_one('W', 8, "record before the first provider info");
}

Test(check, reserved_bits)
{
	uint64_t offset = archive.used * FXT_WORD_SIZE;

	archive.words[archive.used++] = fx_header_string_address(9);
	archive.words[archive.used++] = 0x0101010101010101;
	expect_one('W', offset, "reserved bits set in the header: 0x1000000000000");
}

Test(check, reserved_bits_of_an_argument)
{
	struct fxt_record record = event(FXT_EVENT_INSTANT, 1, 10, 0);
	uint64_t offset;

	record.nargs = 1;
	record.args[0] = (struct fxt_arg){.type = FXT_ARG_BOOL, .boolean = true};
	offset = add(&record);
	archive.words[archive.used - 1] |= UINT64_C(1) << 63;
	expect_one('W', offset,
		   "reserved bits set in the header of an argument: 0x8000000000000000");
}

Test(check, padding)
{
	uint64_t offset = archive.used * FXT_WORD_SIZE;

	cr_assert_eq(fx_encode_string(&archive, 9, "pad", 3), 0);
	archive.words[archive.used - 1] |= UINT64_C(0x20) << 56;
	expect_one('W', offset, "padding of a stream is not zero");
}

Test(check, text)
{
	static const char *const bad[] = {"\x80",	  "\xc1\x81",	      "\xe0\x9f\xbf",
					  "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
	static const char good[] = "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xee\x80\x80";
	uint64_t offset;

	cr_assert_eq(fx_encode_string(&archive, 9, good, strlen(good)), 0);
	expect_clean();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		archive_begin();
		offset = archive.used * FXT_WORD_SIZE;
		cr_assert_eq(fx_encode_string(&archive, 9, bad[i], strlen(bad[i])), 0);
		expect_one('W', offset, "text is not valid UTF-8");
	}
	archive_begin();
	offset = archive.used * FXT_WORD_SIZE;
	cr_assert_eq(fx_encode_string(&archive, 9, "a\0b", 3), 0);
	expect_one('W', offset, "text holds a NUL");
}

Test(check, names_of_kernel_objects_may_be_any_bytes)
{
	cr_assert_eq(fx_encode_process_name(&archive, PID, "\xff\xfe", 2), 0);
	expect_clean();
}

Test(check, index_zero)
{
	uint64_t offset = archive.used * FXT_WORD_SIZE;

	archive.words[archive.used++] = fx_header_string(1, 0, 0);
	expect_one('W', offset, "string index 0 cannot be defined");
}

Test(check, large_record_that_viewers_cannot_frame)
{
	static char payload[FXT_MAX_RECORD_WORDS * FXT_WORD_SIZE];
	struct fxt_record record = {.kind = FXT_KIND_LARGE_ATTACHMENT};

	record.large_blob.payload = (struct fxt_bytes){payload, 1000};
	add(&record);
	expect_clean();
	record.large_blob.payload.size = sizeof(payload);
	expect_one('W', add(&record), "large record of 4098 words");
}
