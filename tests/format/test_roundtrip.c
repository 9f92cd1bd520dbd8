/* SPDX-License-Identifier: MIT */
/*
 * Random records of every kind: what is encoded decodes to the same, and no mutation of it makes
 * the decoder look outside its words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "format/dump.h"
#include "format/encode.h"
#include "format/validate.h"
#include "tests/format/random_record.h"

#define ROUNDS	  3000
#define MAX_WORDS (2 * FXT_MAX_RECORD_WORDS)

/* A record as a line of text; indexed strings show their index. The caller frees it. */
static char *describe(const struct fxt_record *record)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fx_record_dump(out, record, FX_DUMP_JSON);
	fx_record_dump(out, record, FX_DUMP_TEXT);
	fclose(out);
	return text;
}

static void round_trip(struct random_source *random, enum fxt_kind kind)
{
	static uint64_t words[MAX_WORDS], again[MAX_WORDS];
	static struct fxt_record record, decoded;
	struct fx_encoder encoder;
	char *before, *after;
	int r;

	random_record(random, kind, &record);
	fx_encoder_init(&encoder, words, MAX_WORDS);
	r = fx_record_encode(&encoder, &record);
	if (r == -EINVAL && record.nargs > 0)
		return; /* its arguments are too long together */
	cr_assert_eq(r, 0, "%s: %d", fxt_kind_name(kind), r);
	cr_assert_eq(fxt_record_decode(words, encoder.used, &decoded, NULL), (int64_t)encoder.used,
		     "%s", fxt_kind_name(kind));
	cr_assert_eq(fx_record_check(words, encoder.used), (int64_t)encoder.used);

	decoded.provider = record.provider;
	decoded.offset = record.offset;
	before = describe(&record);
	after = describe(&decoded);
	cr_assert_str_eq(before, after);
	free(before);
	free(after);

	fx_encoder_init(&encoder, again, MAX_WORDS);
	cr_assert_eq(fx_record_encode(&encoder, &decoded), 0);
	cr_assert_eq(encoder.used, decoded.size);
	cr_assert_arr_eq(words, again, encoder.used * sizeof(uint64_t));
}

Test(roundtrip, every_kind)
{
	struct random_source random = {.state = 0x5eed};

	for (int kind = FXT_KIND_UNKNOWN + 1; kind < FXT_KIND_COUNT; kind++)
		for (int i = 0; i < ROUNDS; i++)
			round_trip(&random, (enum fxt_kind)kind);
}

/* --- Too little room ------------------------------------------------------------------------- */

static void fails_cleanly_without_room(const struct fxt_record *record)
{
	static uint64_t words[MAX_WORDS];
	struct fx_encoder encoder;
	size_t size;

	fx_encoder_init(&encoder, words, MAX_WORDS);
	if (fx_record_encode(&encoder, record) != 0)
		return;
	size = encoder.used;
	for (size_t room = 0; room < size && room < 64; room++) {
		fx_encoder_init(&encoder, words, room);
		words[room] = 0x600d600d600d600d;
		cr_assert_eq(fx_record_encode(&encoder, record), -ENOSPC);
		cr_assert_eq(encoder.used, 0u);
		cr_assert_eq(words[room], 0x600d600d600d600d, "wrote behind its room");
	}
}

Test(roundtrip, fails_cleanly_without_room)
{
	static struct fxt_record record;
	struct random_source random = {.state = 0xf00d};

	for (int kind = FXT_KIND_UNKNOWN + 1; kind < FXT_KIND_COUNT; kind++)
		for (int i = 0; i < 50; i++) {
			random_record(&random, (enum fxt_kind)kind, &record);
			fails_cleanly_without_room(&record);
		}
}

/* --- Mutations ------------------------------------------------------------------------------- */

/* Memory whose end borders on a page that cannot be read. */
static uint64_t *guarded_end;

static void guarded_init(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (MAX_WORDS * sizeof(uint64_t) + page) / page * page;
	uint8_t *map =
	    mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(mprotect(map + size, page, PROT_NONE), 0);
	guarded_end = (uint64_t *)(map + size);
}

/* Reads every byte that a decoded record points to. */
static uint64_t touch(struct fxt_record *record, const struct fxt_provider *provider)
{
	char *text;
	uint64_t length;

	record->provider = provider;
	record->offset = 0;
	text = describe(record);
	length = strlen(text);
	free(text);
	return length;
}

static void mutate(struct random_source *random, uint64_t *words, size_t n)
{
	for (uint64_t flips = 1 + random_below(random, 4); flips > 0; flips--)
		words[random_below(random, random_below(random, 4) ? 1 + n / 4 : n)] ^=
		    UINT64_C(1) << random_below(random, 64);
}

static void survives_mutation(struct random_source *random, enum fxt_kind kind)
{
	static uint64_t words[MAX_WORDS];
	static struct fxt_record record;
	struct fx_encoder encoder;
	const struct fxt_provider *provider;
	struct fxt_fault fault;
	uint64_t *guarded;
	int64_t size;

	random_record(random, kind, &record);
	provider = record.provider;
	fx_encoder_init(&encoder, words, MAX_WORDS);
	if (fx_record_encode(&encoder, &record) != 0)
		return;
	guarded = guarded_end - encoder.used;
	memcpy(guarded, words, encoder.used * sizeof(uint64_t));
	mutate(random, guarded, encoder.used);
	size = fxt_record_decode(guarded, encoder.used, &record, &fault);
	cr_assert_eq(fx_record_check(guarded, encoder.used), size);
	cr_assert_leq(size, (int64_t)encoder.used);
	if (size > 0)
		cr_assert_gt(touch(&record, provider), 0u);
	else if (size < 0)
		cr_assert(fault.kind == (enum fxt_fault_kind) - size && fault.word <= encoder.used);
}

Test(roundtrip, survives_mutation)
{
	struct random_source random = {.state = 0xbad};

	guarded_init();
	for (int kind = FXT_KIND_UNKNOWN + 1; kind < FXT_KIND_COUNT; kind++)
		for (int i = 0; i < ROUNDS; i++)
			survives_mutation(&random, (enum fxt_kind)kind);
}

/* --- Bounds of the encoder ------------------------------------------------------------------- */

static uint64_t room[MAX_WORDS];
static char long_text[FXT_MAX_STRING_LENGTH + 1];

static int encode(const struct fxt_record *record)
{
	struct fx_encoder encoder;

	fx_encoder_init(&encoder, room, MAX_WORDS);
	return fx_record_encode(&encoder, record);
}

Test(bounds, sixteen_arguments_are_refused)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT, .nargs = FXT_MAX_ARGS};

	cr_expect_eq(encode(&record), 0);
	record.nargs++;
	cr_expect_eq(encode(&record), -EINVAL);
}

Test(bounds, strings_over_32000_bytes_are_refused)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	memset(long_text, 'x', sizeof(long_text));
	record.event.name = fx_string_inline(long_text, FXT_MAX_STRING_LENGTH);
	cr_expect_eq(encode(&record), 0);
	record.event.name = fx_string_inline(long_text, FXT_MAX_STRING_LENGTH + 1);
	cr_expect_eq(encode(&record), -EINVAL);

	record = (struct fxt_record){.kind = FXT_KIND_STRING};
	record.string.text.data = long_text;
	record.string.text.length = FXT_MAX_STRING_LENGTH;
	cr_expect_eq(encode(&record), 0);
	record.string.text.length++;
	cr_expect_eq(encode(&record), -EINVAL);
}

Test(bounds, a_string_must_be_as_long_as_its_ref_says)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	record.event.name = fx_string_inline("abc", 3);
	record.event.name.length = 4;
	cr_expect_eq(encode(&record), -EINVAL);
}

/* 4095 words hold a name of 32000 bytes, but not two. */
Test(bounds, records_over_4095_words_are_refused)
{
	struct fxt_record record = {.kind = FXT_KIND_EVENT};

	memset(long_text, 'x', sizeof(long_text));
	record.event.name = fx_string_inline(long_text, FXT_MAX_STRING_LENGTH);
	record.event.category = record.event.name;
	cr_expect_eq(encode(&record), -EINVAL);
}

Test(bounds, large_records_may_be_longer)
{
	static uint64_t words[3 * FXT_MAX_RECORD_WORDS];
	static char payload[64 << 10];
	struct fxt_record record = {.kind = FXT_KIND_LARGE_ATTACHMENT}, decoded;
	struct fx_encoder encoder;

	record.large_blob.payload = (struct fxt_bytes){payload, sizeof(payload)};
	fx_encoder_init(&encoder, words, 3 * FXT_MAX_RECORD_WORDS);
	cr_assert_eq(fx_record_encode(&encoder, &record), 0);
	cr_expect_gt(encoder.used, (size_t)FXT_MAX_RECORD_WORDS);
	cr_assert_eq(fxt_record_decode(words, encoder.used, &decoded, NULL), (int64_t)encoder.used);
	cr_expect_eq(decoded.large_blob.payload.size, sizeof(payload));
}

Test(bounds, fields_are_not_cut_off)
{
	struct fxt_record record = {.kind = FXT_KIND_LEGACY_SWITCH};

	record.scheduling.cpu = 256;
	cr_expect_eq(encode(&record), -EINVAL);
	record.scheduling.cpu = 255;
	cr_expect_eq(encode(&record), 0);
	record.scheduling.outgoing_state = 16;
	cr_expect_eq(encode(&record), -EINVAL);

	record = (struct fxt_record){.kind = FXT_KIND_MMAP};
	record.profiler.flags = 8;
	cr_expect_eq(encode(&record), -EINVAL);

	record = (struct fxt_record){.kind = FXT_KIND_BACKTRACE};
	record.profiler.frames = room;
	record.profiler.frame_count = 256;
	cr_expect_eq(encode(&record), -EINVAL);

	record = (struct fxt_record){.kind = FXT_KIND_EVENT};
	record.event.type = FXT_EVENT_FLOW_END + 1;
	cr_expect_eq(encode(&record), -EINVAL);
}

Test(bounds, payload_sizes_do_not_wrap)
{
	struct fxt_record record = {.kind = FXT_KIND_LARGE_ATTACHMENT};

	record.large_blob.payload = (struct fxt_bytes){room, UINT64_MAX};
	cr_expect_eq(encode(&record), -ENOSPC);
}

Test(bounds, shorthands)
{
	struct fx_encoder encoder;

	fx_encoder_init(&encoder, room, MAX_WORDS);
	cr_expect_eq(fx_encode_string(&encoder, 0, "a", 1), -EINVAL);
	cr_expect_eq(fx_encode_string(&encoder, 0x8000, "a", 1), -EINVAL);
	cr_expect_eq(fx_encode_string(&encoder, 1, long_text, 32001), -EINVAL);
	cr_expect_eq(fx_encode_thread(&encoder, 0, 1, 1), -EINVAL);
	cr_expect_eq(fx_encode_thread(&encoder, 256, 1, 1), -EINVAL);
	cr_expect_eq(fx_encode_provider_info(&encoder, 1, long_text, 256), -EINVAL);
	cr_expect_eq(fx_encode_provider_event(&encoder, 1, 16), -EINVAL);
	cr_expect_eq(fx_encode_initialization(&encoder, 0), -EINVAL);
	cr_expect_eq(encoder.used, 0u);
}

/* --- Helpers of the reader ------------------------------------------------------------------- */

Test(ticks, to_nanoseconds)
{
	cr_expect_eq(fxt_ticks_to_ns(123, 1000000000), 123u);
	cr_expect_eq(fxt_ticks_to_ns(3, 2000000000), 1u);
	/* 2^63 ticks of 3 GHz: (2^63 * 10) / 30 */
	cr_expect_eq(fxt_ticks_to_ns(UINT64_C(1) << 63, 3000000000), UINT64_C(3074457345618258602));
	cr_expect_eq(fxt_ticks_to_ns(UINT64_MAX, 1), UINT64_MAX);
}

Test(names, numbers_without_a_name_have_none)
{
	cr_expect_str_eq(fxt_event_type_name(FXT_EVENT_FLOW_END), "flow-end");
	cr_expect_null(fxt_event_type_name(FXT_EVENT_FLOW_END + 1));
	cr_expect_null(fxt_record_type_name(11));
	cr_expect_str_eq(fxt_record_type_name(15), "large");
	cr_expect_null(fxt_object_type_name(0));
	cr_expect_null(fxt_scope_name(UINT64_MAX));
	for (int i = 0; i < FXT_KIND_COUNT; i++)
		cr_expect_not_null(fxt_kind_name((unsigned)i));
	cr_expect_null(fxt_kind_name(FXT_KIND_COUNT));
	for (int i = 0; i < FXT_FAULT_COUNT; i++)
		cr_expect_neq(*fxt_fault_text((enum fxt_fault_kind)i), '\0');
}
