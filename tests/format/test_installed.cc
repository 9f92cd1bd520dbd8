/* SPDX-License-Identifier: MIT */
/* The installed headers in C++, and the shared library as a stranger links with it. */
#include <cstring>

#include <fxtrace/format.h>
#include <fxtrace/reader.h>

#include <criterion/criterion.h>

static_assert(FXT_GET(FXT_MAGIC_RECORD, TRACE_INFO_MAGIC) == FXT_MAGIC_NUMBER, "a constant");

Test(installed, reads_an_archive)
{
	const uint64_t words[] = {
	    FXT_MAGIC_RECORD,
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_EVENT) | FXT_PUT(RECORD_SIZE, 2) |
		FXT_PUT(EVENT_TYPE, FXT_EVENT_INSTANT) | FXT_PUT(EVENT_THREAD, 1),
	    7,
	};
	const fxt_record *record = nullptr;
	fxt_reader *reader = nullptr;

	cr_assert(fxt_reader_open_memory(words, sizeof(words), &reader) == 0);
	cr_assert(fxt_reader_next(reader, &record) == 1);
	cr_expect(record->kind == FXT_KIND_MAGIC);
	cr_assert(fxt_reader_next(reader, &record) == 1);
	cr_expect(record->kind == FXT_KIND_EVENT);
	cr_expect(record->event.timestamp == 7);
	cr_expect(fxt_reader_next(reader, &record) == 0);
	cr_expect(fxt_reader_fault_count(reader) == 1);
	cr_expect(std::strcmp(fxt_event_type_name(record->event.type), "instant") == 0);
	fxt_reader_close(reader);
}
