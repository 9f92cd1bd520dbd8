/* SPDX-License-Identifier: MIT */
/* The decoder, the reader, the encoder and the record check against the golden traces. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <criterion/criterion.h>

#include <fxtrace/reader.h>

#include "format/dump.h"
#include "format/encode.h"
#include "format/validate.h"
#include "tests/format/golden.h"

/* --- What a reader makes of some bytes, as text ---------------------------------------------- */

struct reading {
	FILE *out;
	char *text;
	size_t size;
	int result;
	size_t records;
};

static void on_fault(void *opaque, const struct fxt_fault *fault)
{
	char text[200];

	fxt_fault_format(fault, text, sizeof(text));
	fprintf(opaque, "! 0x%08" PRIx64 " %s\n", fault->offset, text);
}

static struct reading read_bytes(const void *data, size_t size, bool bare)
{
	struct reading r = {0};
	const struct fxt_record *record;
	struct fxt_reader *reader;

	r.out = open_memstream(&r.text, &r.size);
	cr_assert_eq(fxt_reader_open_memory(data, size, &reader), 0);
	fxt_reader_set_fault_handler(reader, on_fault, r.out);
	fxt_reader_set_bare(reader, bare);
	while ((r.result = fxt_reader_next(reader, &record)) > 0) {
		fputs("> ", r.out);
		fx_record_dump(r.out, record, FX_DUMP_TEXT);
		r.records++;
	}
	fxt_reader_close(reader);
	fclose(r.out);
	return r;
}

static void reading_free(struct reading *r)
{
	free(r->text);
}

/* --- Reading --------------------------------------------------------------------------------- */

static void reads_as_expected(const struct golden *g)
{
	struct reading r = read_bytes(g->words, g->n_words * sizeof(uint64_t), true);

	cr_expect_eq(r.result, 0, "%s: result %d", g->name, r.result);
	cr_expect_str_eq(r.text, g->expected, "%s:\n%s", g->name, r.text);
	reading_free(&r);
}

Test(golden, reads_as_expected)
{
	cr_assert_geq(golden_for_each(reads_as_expected), 50u);
}

static void every_prefix_yields_its_whole_records(const struct golden *g)
{
	size_t ends[GOLDEN_MAX_WORDS], n = 0;
	struct fxt_record record;

	if (!g->is_good)
		return;
	for (size_t at = 0; at < g->n_words;) {
		int64_t size = fxt_record_decode(g->words + at, g->n_words - at, &record, NULL);

		cr_assert_gt(size, 0, "%s: word %zu", g->name, at);
		at += (size_t)size;
		ends[n++] = at * sizeof(uint64_t);
	}
	for (size_t size = 0; size <= g->n_words * sizeof(uint64_t); size++) {
		struct reading r = read_bytes(g->words, size, true);
		size_t whole = 0;
		bool is_end;

		while (whole < n && ends[whole] <= size)
			whole++;
		is_end = size == (whole ? ends[whole - 1] : 0);
		cr_assert_eq(r.records, whole, "%s cut at byte %zu: %zu records", g->name, size,
			     r.records);
		cr_assert_eq(strstr(r.text, "truncated") == NULL, is_end, "%s cut at byte %zu",
			     g->name, size);
		reading_free(&r);
	}
}

Test(golden, every_prefix_yields_its_whole_records)
{
	golden_for_each(every_prefix_yields_its_whole_records);
}

/* --- Compression ----------------------------------------------------------------------------- */

static size_t compress_gzip(const void *data, size_t size, uint8_t *out, size_t capacity)
{
	z_stream z = {0};

	cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)size;
	z.next_out = out;
	z.avail_out = (uInt)capacity;
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return capacity - z.avail_out;
}

static void compressed_reads_the_same(const struct golden *g)
{
	size_t size = g->n_words * sizeof(uint64_t), half = size / 2;
	static uint8_t packed[GOLDEN_MAX_WORDS * 16];
	struct reading r;
	size_t n;

	/* Two gzip members, then two zstd frames. */
	n = compress_gzip(g->words, half, packed, sizeof(packed));
	n += compress_gzip((const char *)g->words + half, size - half, packed + n,
			   sizeof(packed) - n);
	r = read_bytes(packed, n, true);
	cr_expect_str_eq(r.text, g->expected, "%s.gz:\n%s", g->name, r.text);
	reading_free(&r);

	n = ZSTD_compress(packed, sizeof(packed), g->words, half, 3);
	n += ZSTD_compress(packed + n, sizeof(packed) - n, (const char *)g->words + half,
			   size - half, 3);
	r = read_bytes(packed, n, true);
	cr_expect_str_eq(r.text, g->expected, "%s.zst:\n%s", g->name, r.text);
	reading_free(&r);
}

Test(golden, compressed_reads_the_same)
{
	golden_for_each(compressed_reads_the_same);
}

static void cut_compression_is_reported(const struct golden *g)
{
	size_t size = g->n_words * sizeof(uint64_t);
	static uint8_t packed[GOLDEN_MAX_WORDS * 16];
	struct reading r;
	size_t n;

	if (!g->is_good)
		return;
	n = compress_gzip(g->words, size, packed, sizeof(packed));
	for (size_t cut = 4; cut < n; cut += 7) {
		r = read_bytes(packed, cut, true);
		cr_assert_not_null(strstr(r.text, "truncated"), "%s.gz cut at %zu", g->name, cut);
		reading_free(&r);
	}
	n = ZSTD_compress(packed, sizeof(packed), g->words, size, 3);
	for (size_t cut = 4; cut < n; cut += 7) {
		r = read_bytes(packed, cut, true);
		cr_assert_not_null(strstr(r.text, "truncated"), "%s.zst cut at %zu", g->name, cut);
		reading_free(&r);
	}
}

Test(golden, cut_compression_is_reported)
{
	golden_for_each(cut_compression_is_reported);
}

Test(golden, corrupt_compression_is_reported)
{
	static const char text[] = "some bytes that will be packed, and then spoilt";
	uint8_t packed[256];
	size_t n = compress_gzip(text, sizeof(text), packed, sizeof(packed));
	struct reading r;

	packed[n - 8] ^= 1; /* the checksum */
	r = read_bytes(packed, n, true);
	cr_expect_not_null(strstr(r.text, "compressed data are corrupt"), "%s", r.text);
	reading_free(&r);
	n = ZSTD_compress(packed, sizeof(packed), text, sizeof(text), 3);
	packed[5] = 0xff;
	packed[6] = 0xff;
	r = read_bytes(packed, n, true);
	cr_expect_not_null(strstr(r.text, "compressed data are corrupt"), "%s", r.text);
	reading_free(&r);
}

/* --- The first word -------------------------------------------------------------------------- */

Test(start, needs_the_magic_number)
{
	const uint64_t init[] = {0x21, 1000};
	const uint64_t swapped[] = {0x1000044678541600};
	const uint64_t magic[] = {0x0016547846040010};
	struct reading r = read_bytes(init, sizeof(init), false);

	cr_expect_eq(r.result, -EBADMSG);
	cr_expect_str_eq(r.text, "! 0x00000000 not a trace: the magic number is missing\n");
	reading_free(&r);
	r = read_bytes(swapped, sizeof(swapped), false);
	cr_expect_eq(r.result, -EBADMSG);
	cr_expect_str_eq(r.text, "! 0x00000000 trace of a machine with the other byte order\n");
	reading_free(&r);
	r = read_bytes(magic, sizeof(magic), false);
	cr_expect_eq(r.result, 0);
	cr_expect_str_eq(r.text, "> 0x00000000 0 magic\n");
	reading_free(&r);
	r = read_bytes(magic, 0, false);
	cr_expect_eq(r.result, -EBADMSG);
	reading_free(&r);
}

/* --- Encoding -------------------------------------------------------------------------------- */

static void encodes_to_the_same_words(const struct golden *g)
{
	uint64_t out[GOLDEN_MAX_WORDS];
	struct fx_encoder encoder;

	/* Extensions and reserved bits are not kept. */
	if (!g->is_good || strcmp(g->name, "unknown") == 0)
		return;
	fx_encoder_init(&encoder, out, GOLDEN_MAX_WORDS);
	for (size_t at = 0; at < g->n_words;) {
		struct fxt_record record;
		int64_t size = fxt_record_decode(g->words + at, g->n_words - at, &record, NULL);

		cr_assert_gt(size, 0, "%s: word %zu", g->name, at);
		cr_assert_eq(fx_record_encode(&encoder, &record), 0, "%s: word %zu", g->name, at);
		at += (size_t)size;
		cr_assert_eq(encoder.used, at, "%s: word %zu", g->name, at);
	}
	for (size_t i = 0; i < g->n_words; i++)
		cr_expect_eq(out[i], g->words[i], "%s: word %zu is %016" PRIx64, g->name, i,
			     out[i]);
}

Test(golden, encodes_to_the_same_words)
{
	golden_for_each(encodes_to_the_same_words);
}

/* --- The record check ------------------------------------------------------------------------ */

static void check_agrees_with_the_decoder(const struct golden *g)
{
	struct fxt_record record;
	int64_t size;

	for (size_t at = 0; at < g->n_words; at += record.size) {
		size_t left = g->n_words - at;

		size = fxt_record_decode(g->words + at, left, &record, NULL);
		cr_expect_eq(fx_record_check(g->words + at, left), size, "%s: word %zu", g->name,
			     at);
		if (record.size == 0 || record.size > left)
			return;
		for (size_t cut = 0; cut < record.size; cut++)
			cr_expect_eq(fx_record_check(g->words + at, cut), 0,
				     "%s: word %zu, cut at %zu", g->name, at, cut);
	}
}

Test(golden, check_agrees_with_the_decoder)
{
	golden_for_each(check_agrees_with_the_decoder);
}

/* Every header of an event without arguments, so that the check's fast path is seen whole. */
Test(check, fast_path_agrees_with_the_slow_one)
{
	static const unsigned refs[] = {0, 1, 0x7fff, 0x8000, 0x8001};
	uint64_t words[8] = {0};

	for (unsigned type = 0; type < 16; type++)
		for (unsigned size = 0; size < 8; size++)
			for (unsigned thread = 0; thread < 3; thread++)
				for (unsigned name = 0; name < 5; name++) {
					words[0] =
					    fx_header_event(size, (enum fxt_event_type)type, 0,
							    thread, refs[name], refs[4 - name]);
					cr_expect_eq(fx_record_check(words, 7),
						     fx_record_check_slow(words, 7),
						     "header %016" PRIx64, words[0]);
				}
}
