/* SPDX-License-Identifier: MIT */
/* From a provider's pieces to records of the archive: what comes through. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/utf8.h"
#include "format/encode.h"
#include "manager/archive/intake.h"
#include "tests/manager/archive/pieces.h"

TestSuite(stream, .fini = archive_remove);

Test(stream, a_call)
{
	struct found_event f;

	pieces_begin();
	put_thread(TID);
	put_complete(NAME, 10, 20);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().events, 1);
	f = archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "name");
	cr_assert_eq(f.pid, PID);
	cr_assert_eq(f.tid, TID);
	cr_assert_eq(f.event.timestamp, 10);
	cr_assert_eq(f.event.end_time, 20);
	cr_assert_str_eq(f.category, "cat");
}

Test(stream, a_function_without_a_module_shows_its_address)
{
	pieces_begin();
	put_thread(TID);
	put_complete(FUNCTION, 10, 20);
	send_chunk(0, 0, WHOLE);
	pieces_end();
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "0x401000");
}

Test(stream, strings_are_written_once_and_only_if_used)
{
	pieces_begin();
	put_string(9, "unused");
	send_durable();
	for (unsigned i = 0; i < 3; i++) {
		put_thread(TID);
		put_complete(NAME, 10 + 100 * i, 20 + 100 * i);
		put_instant(NAME, 15 + 100 * i);
		send_chunk(i, i, WHOLE);
	}
	cr_assert_eq(pieces_end().events, 6);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_STRING), 2);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_THREAD), 1);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_KERNEL_OBJECT), 2);
}

Test(stream, a_chunk_in_several_pieces_keeps_its_thread_and_strings)
{
	pieces_begin();
	put_thread(TID);
	put_string(FX_STRING_LOCAL, "local");
	send_chunk(7, 7, FX_PIECE_FIRST);
	put_thread(TID + 1);
	send_chunk(8, 8, WHOLE);
	put_complete(FX_STRING_LOCAL, 10, 20);
	send_chunk(7, 7, 0);
	put_complete(FX_STRING_LOCAL, 30, 40);
	send_chunk(7, 7, FX_PIECE_LAST);
	cr_assert_eq(pieces_end().events, 2);
	cr_assert_eq(archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local").tid,
		     TID);
}

Test(stream, local_strings_mean_something_else_in_each_chunk)
{
	pieces_begin();
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
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 1, "the last chunk has not defined it");
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local 0"),
		     2);
	cr_assert_eq(archive_count_events(archive_path(), FXT_EVENT_DURATION_COMPLETE, "local 1"),
		     1);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_STRING), 3, "each text once");
}

Test(stream, more_local_strings_than_indices)
{
	const unsigned count = 10000;

	pieces_begin();
	for (unsigned i = 0; i < count; i++) {
		char text[16];

		snprintf(text, sizeof(text), "local %u", i);
		put_thread(TID);
		put_string(FX_STRING_LOCAL, text);
		put_complete(FX_STRING_LOCAL, 10 + 100 * i, 20 + 100 * i);
		send_chunk(0, i, WHOLE);
	}
	cr_assert_eq(pieces_end().events, count);
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

	pieces_begin();
	for (unsigned i = 0; i < count; i++) {
		put_long_string(10 + i);
		send_durable();
	}
	cr_assert_leq(stream->names.held, shared.max_strings);
	put_thread(TID);
	for (unsigned i = 0; i < count; i++)
		put_complete(10 + i, 10 + 100 * i, 20 + 100 * i);
	send_chunk(0, 0, WHOLE);
	counts = pieces_end();
	cr_assert_eq(counts.events, count, "no event is lost");
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
	cr_assert_gt(counts.lost[FX_CAUSE_NUMBERED], 900);
	cr_assert_lt(counts.lost[FX_CAUSE_NUMBERED], 1100);
	archive_find_event(archive_path(), FXT_EVENT_DURATION_COMPLETE, "string #1");
}

Test(stream, strings_of_chunks_that_never_end_take_no_more_than_the_quota)
{
	struct fx_stream_counts counts;

	pieces_begin();
	for (unsigned i = 0; i < 5000; i++) {
		put_thread(TID);
		put_string(FX_STRING_MAX, "the last index");
		put_long_string(FX_STRING_LOCAL);
		send_chunk(i, i, FX_PIECE_FIRST);
		cr_assert_leq(stream->names.held, shared.max_strings);
	}
	counts = pieces_end();
	cr_assert_gt(counts.lost[FX_CAUSE_NUMBERED], 4000);
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

	pieces_begin();
	put_thread(TID);
	put_string(FX_STRING_LOCAL, "local");
	put(record, e.used);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
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

	pieces_begin();
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
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
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
	pieces_begin();
	put_thread(TID);
	put_record(&record);
	send_chunk(0, 0, WHOLE);
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
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
	pieces_begin();
	put(record, e.used);
	send_durable();
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
	cr_assert_eq(archive_count(archive_path(), FXT_KIND_MODULE), 1);
}

static void send_builtin(const struct fx_builtin *builtin)
{
	const struct fx_piece piece = {.kind = FX_PIECE_BUILTIN, .bytes = sizeof(builtin)};

	fx_intake_piece(stream, &piece, &builtin, 0, 0);
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

	pieces_begin();
	send_builtin(&builtin);
	name = fx_names_find(&stream->names, NULL, 1);
	cr_assert_not_null(name);
	cr_assert_str_eq(name->text, "one");
	cr_assert(has_category("dag"));
	cr_assert_not(has_category("one"));
	cr_assert_gt(fx_names_ref(&stream->names, NULL, 1), 0);
	put_string(1, "uno");
	send_durable();
	cr_assert_str_eq(fx_names_find(&stream->names, NULL, 1)->text, "uno");
	/* A session later it is as it was. */
	send_builtin(&builtin);
	cr_assert_str_eq(fx_names_find(&stream->names, NULL, 1)->text, "one");
	cr_assert_not(stream->names.table[1].told);
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
}

/* A stack's name is wanted between two pieces: neither what is the same for all threads nor a chunk is taken before it is
 * there, each then from its first record on. */
Test(stream, a_name_that_is_waited_for_holds_the_next_pieces_up)
{
	const struct fx_piece durable = {.kind = FX_PIECE_DURABLE, .bytes = 16};
	struct fx_piece chunk = {.kind = FX_PIECE_CHUNK, .flags = WHOLE};
	struct fx_stream_counts counts;

	pieces_begin();
	stream->modules.waiting = true;
	put_address(OTHER, ADDRESS + 16);
	cr_assert_eq(fx_intake_piece(stream, &durable, words, 0, 0), 0);
	stream->modules.waiting = false;
	cr_assert_eq(fx_intake_piece(stream, &durable, words, 0, 0), durable.bytes);
	stream->modules.waiting = true;
	used = 0;
	put_thread(TID);
	put_complete(NAME, 10, 20);
	put_complete(OTHER, 30, 40);
	chunk.bytes = (uint32_t)(used * 8);
	used = 0;
	cr_assert_eq(fx_intake_piece(stream, &chunk, words, 0, 0), 0);
	stream->modules.waiting = false;
	cr_assert_eq(fx_intake_piece(stream, &chunk, words, 0, 0), chunk.bytes);
	counts = pieces_end();
	cr_assert_eq(counts.events, 2);
	cr_assert_eq(counts.lost[FX_CAUSE_INVALID], 0);
}
