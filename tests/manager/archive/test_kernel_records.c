/* SPDX-License-Identifier: MIT */
/* Records of the kernel provider, which tells of other processes. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "format/encode.h"
#include "manager/archive/intake.h"
#include "tests/manager/archive/pieces.h"

TestSuite(kernel_records, .fini = archive_remove);

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

Test(kernel_records, events_of_others_by_the_kernel_provider)
{
	struct found_event found;

	pieces_begin_as(true);
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
	cr_assert_eq(pieces_end().lost[FX_CAUSE_INVALID], 0);
	found = archive_find_event(archive_path(), FXT_EVENT_INSTANT, "name");
	cr_expect_eq(found.pid, 777);
	cr_expect_eq(found.tid, 778);
	cr_expect_eq(found.event.timestamp, 6000);
	cr_expect_eq(archive_count(archive_path(), FXT_KIND_CONTEXT_SWITCH), 1);
	fx_timebase_destroy(&shared.timebase);
}

/* Nobody has such numbers. */
Test(kernel_records, nobodys_events_by_the_kernel_provider)
{
	pieces_begin_as(true);
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
	cr_expect_eq(pieces_end().lost[FX_CAUSE_INVALID], 8);
	cr_expect_eq(archive_count(archive_path(), FXT_KIND_EVENT),
		     1 + 1); /* and the mark of them */
}

Test(kernel_records, random_words_of_the_kernel_provider_do_no_harm)
{
	srand(6);
	pieces_begin_as(true);
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
	fx_intake_finish(stream, &(struct fx_stream_end){.ticks = 1});
	fx_stream_destroy(stream);
	cr_assert_eq(fx_output_close(shared.archive.out, NULL), 0);
	fx_symbol_cache_destroy(shared.symbols);
	cr_assert_gt(archive_count(archive_path(), FXT_KIND_EVENT), 1000);
}
