/* SPDX-License-Identifier: MIT */
/* Host records: what is written is read, and whatever else stands there is text that can be shown, or nothing. */
#include <criterion/criterion.h>

#include <string.h>

#include <fxtrace/reader.h>

#include "format/host-record.h"

static uint64_t words[FXT_MAX_RECORD_WORDS];

static struct fxt_record decode_words(void)
{
	struct fxt_record record;

	cr_assert_gt(fxt_record_decode(words, FXT_MAX_RECORD_WORDS, &record, NULL), 0);
	return record;
}

/* A record of this name and payload. */
static bool decode_payload(const char *name, const char *payload, size_t size,
			   struct fx_host_record *ret)
{
	struct fxt_record record = {.kind = FXT_KIND_BLOB};
	struct fx_encoder encoder;

	record.blob.type = FXT_BLOB_DATA;
	record.blob.name = fx_string_inline(name, strlen(name));
	record.blob.payload.data = payload;
	record.blob.payload.size = (uint32_t)size;
	fx_encoder_init(&encoder, words, FXT_MAX_RECORD_WORDS);
	cr_assert_eq(fx_record_encode(&encoder, &record), 0);
	record = decode_words();
	return fx_host_record_decode(&record, ret);
}

Test(host, what_is_written_is_read)
{
	struct fx_host_record host = {.host = "a",
				      .system = "Linux",
				      .release = "6.1=x",
				      .machine = "aarch64",
				      .uuid = {1, UINT64_C(0xfedcba9876543210)}},
			      read;
	struct fx_encoder encoder;
	struct fxt_record record;

	memset(host.build, 'b', sizeof(host.build) - 1);
	fx_encoder_init(&encoder, words, FXT_MAX_RECORD_WORDS);
	cr_assert_eq(fx_host_record_encode(&encoder, &host), 0);
	record = decode_words();
	cr_assert(fx_host_record_is(&record));
	cr_assert(fx_host_record_decode(&record, &read));
#define EXPECT_SAME(member) cr_assert_str_eq(read.member, host.member);
	FX_HOST_VALUES(EXPECT_SAME)
	cr_assert_eq(read.uuid[0], host.uuid[0]);
	cr_assert_eq(read.uuid[1], host.uuid[1]);
}

Test(host, whatever_stands_there_is_text_or_nothing)
{
	char long_value[300] = "host=";
	struct fx_host_record host;
	static const char odd[] = "host=a\033[2J\302\233\377\n"
				  "=\nrelease\n\nother=x\nuuid=123\nmachine=\nsystem=last";

	cr_assert(!decode_payload("fxtrace:clock", odd, sizeof(odd) - 1, &host));
	cr_assert(decode_payload(FX_HOST_RECORD_NAME, odd, sizeof(odd) - 1, &host));
	cr_assert_str_eq(host.host, "a\\x1B[2J\\xC2\\x9B\\xFF");
	cr_assert_str_eq(host.system, "last");
	cr_assert_str_empty(host.release);
	cr_assert_str_empty(host.machine);
	cr_assert_eq(host.uuid[0] | host.uuid[1], 0);
	memset(long_value + 5, 'x', sizeof(long_value) - 5);
	cr_assert(decode_payload(FX_HOST_RECORD_NAME, long_value, sizeof(long_value), &host));
	cr_assert_lt(strlen(host.host), FX_HOST_VALUE_MAX);
	cr_assert(decode_payload(FX_HOST_RECORD_NAME, "", 0, &host));
	cr_assert_str_empty(host.host);
}
