/* SPDX-License-Identifier: MIT */
/* Slots of the thread area: used again first, and never looked at before they are used, since a look at
 * a page of the buffer takes memory. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "engine/provider/chunk.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

static struct fm_manager m;

static void *one_record(void *number)
{
	cr_assert(produce(0, (uint32_t)(uintptr_t)number));
	fx_thread_exit();
	return NULL;
}

/* Pages of the thread area that are in memory. */
static size_t pages_touched(void)
{
	size_t size = m.layout.thread_count * sizeof(struct fx_thread_slot), touched = 0;
	static unsigned char in_memory[FX_THREADS_MAX * sizeof(struct fx_thread_slot) / FX_PAGE];

	cr_assert_eq(mincore((char *)m.header + m.layout.threads_offset, size, in_memory), 0);
	for (size_t i = 0; i < size / FX_PAGE; i++)
		touched += in_memory[i] & 1;
	return touched;
}

static void start(void)
{
	struct fm_config config = {.size = 1 << 20, .mode = FX_MODE_CIRCULAR};

	fm_start(&m, &config);
	cr_assert(produce(1, 0));
}

Test(slots, threads_one_after_another_share_one)
{
	pthread_t thread;
	size_t before;

	start();
	for (uintptr_t i = 0; i < 500; i++) {
		pthread_create(&thread, NULL, one_record, (void *)i);
		pthread_join(thread, NULL);
		if (i == 0)
			before = pages_touched();
	}
	cr_assert_eq(pages_touched(), before);
	cr_assert_eq(m.header->threads_used, 2);
	fm_destroy(&m);
}

Test(slots, a_search_touches_no_new_page)
{
	size_t before;

	start();
	before = pages_touched();
	fx_thread_set_name((uint64_t)pthread_self() + 1, "nobody");
	cr_assert_eq(fx_threads_reclaim(), 0);
	cr_assert_eq(pages_touched(), before);
	fm_destroy(&m);
}

Test(slots, another_thread_is_named)
{
	start();
	fx_thread_set_name((uint64_t)pthread_self(), "a name that is too long");
	cr_assert_str_eq(fm_slot(&m, 0)->name, "a name that is ");
	fx_thread_set_name(0, "short");
	cr_assert_str_eq(fm_slot(&m, 0)->name, "short");
	fm_destroy(&m);
}
