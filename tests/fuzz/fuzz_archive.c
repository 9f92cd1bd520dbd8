/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, as an archive: the reader with both styles of dump, the check of archives, and the
 * record check as the manager uses it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/check-archive.h"
#include "format/dump.h"
#include "format/validate.h"
#include "tests/fuzz/fuzz.h"

static FILE *null_stream(void)
{
	static FILE *stream;

	if (!stream)
		stream = fopen("/dev/null", "w");
	if (!stream)
		abort();
	return stream;
}

static struct fxt_reader *open_bytes(const uint8_t *data, size_t size, bool bare)
{
	struct fxt_reader *reader;

	if (fxt_reader_open_memory(data, size, &reader) != 0)
		abort();
	fxt_reader_set_bare(reader, bare);
	return reader;
}

static void dump_all(const uint8_t *data, size_t size)
{
	struct fxt_reader *reader = open_bytes(data, size, true);
	const struct fxt_record *record;

	while (fxt_reader_next(reader, &record) > 0) {
		fx_record_dump(null_stream(), record, FX_DUMP_TEXT);
		fx_record_dump(null_stream(), record, FX_DUMP_JSON);
	}
	fxt_reader_close(reader);
}

static void check_all(const uint8_t *data, size_t size, bool bare)
{
	struct fxt_reader *reader = open_bytes(data, size, bare);
	struct fx_violations violations = {0};
	struct fx_archive_counts counts;

	fx_archive_check(reader, &violations, &counts);
	fxt_reader_close(reader);
}

/* The quick check and the decoder must agree on every record. */
static void walk(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(uint64_t), at = 0;
	uint64_t *words = malloc(n ? n * sizeof(uint64_t) : 1);

	if (!words)
		abort();
	memcpy(words, data, n * sizeof(uint64_t));
	while (at < n) {
		struct fxt_record record;
		int64_t quick = fx_record_check(words + at, n - at);
		int64_t slow = fxt_record_decode(words + at, n - at, &record, NULL);

		if (quick != slow)
			abort();
		if (record.size == 0 || record.size > n - at)
			break;
		at += record.size;
	}
	free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk(data, size);
	dump_all(data, size);
	check_all(data, size, true);
	check_all(data, size, false);
	return 0;
}
