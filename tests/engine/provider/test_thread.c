/* SPDX-License-Identifier: MIT */
/* Threads: slots taken, given back, taken again; threads without one; threads that end unseen. */
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/syscall.h"
#include "engine/provider/chunk.h"
#include "engine/provider/frame.h"
#include "engine/provider/number.h"
#include "engine/provider/record.h"
#include "tests/engine/produce.h"

/* Sanitizers keep their own books of threads, and end the program if one vanishes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define THREADS_MAY_VANISH false
#else
#define THREADS_MAY_VANISH true
#endif

static struct fm_manager m;
static struct produced_all got;

static void start(struct fm_config config)
{
	fm_start(&m, &config);
	produced_init(&got, 1, 100000);
}

static uint32_t threads_in_slots(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m.layout.thread_count; i++)
		count += fm_slot(&m, i)->tid != 0;
	return count;
}

static void run(void *(*start_routine)(void *), void *context)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, start_routine, context), 0);
	pthread_join(thread, NULL);
}

static void *one_and_exit(void *context)
{
	cr_assert(produce(0, (uint32_t)(uintptr_t)context));
	fx_thread_exit();
	return NULL;
}

static void *number_and_one(void *context)
{
	cr_expect_eq(fx_number(), (uint32_t)fx_gettid());
	return one_and_exit(context);
}

/* Whether the place of the thread's number can be learned, as number.c does it. */
static bool somebody_tells_the_place(void)
{
	uint64_t address = 0;
	size_t size;

	if (fx_syscall2(SYS_prctl, PR_GET_TID_ADDRESS, &address) == 0 && address)
		return true;
	return fx_syscall3(SYS_get_robust_list, 0, &address, &size) == 0 && address;
}

Test(thread, begins_when_the_kernel_may_not_be_asked)
{
	start((struct fm_config){0});
	cr_expect_eq(fx_number(), 0, "nobody has looked where it is");
	if (!somebody_tells_the_place())
		cr_skip_test("the emulator does not tell where the thread's number is");
	fx_engine_confine(FX_ASK_ALL);
	for (uint32_t i = 0; i < 20; i++)
		run(number_and_one, (void *)(uintptr_t)i);
	produced_read(&got, &m);
	cr_expect_eq(got.total, 20);
	cr_expect_eq(threads_in_slots(), 0);
}

Test(thread, times_differ_by_a_nanosecond_at_least)
{
	struct fx_thread *t;
	uint64_t first, second;

	start((struct fm_config){0});
	cr_assert(produce(0, 0));
	t = fx_self;
	/* A counter whose step is longer than two readings take. */
	fx_engine.tick_step = UINT64_C(1) << 40;
	first = fx_thread_now(t);
	second = fx_thread_now(t);
	cr_assert_geq(second, first + fx_engine.tick_step);
}

/* What was read before the thread's first look at the session counts from that look on. */
Test(thread, no_time_is_from_before_the_adoption)
{
	uint64_t early = fx_now(), begun;

	start((struct fm_config){0});
	begun = fx_now();
	cr_assert(produce(0, 0));
	cr_assert_gt(fx_thread_time(fx_self, early), begun);
}

Test(thread, a_slot_tells_who_owns_it)
{
	start((struct fm_config){0});
	prctl(PR_SET_NAME, "a name");
	cr_assert(produce(0, 0));
	cr_assert_eq(fm_slot(&m, 0)->tid, (uint32_t)gettid());
	cr_assert_eq(fm_slot(&m, 0)->incarnation, 1);
	cr_assert_eq(fm_slot(&m, 0)->pthread, (uint64_t)pthread_self());
	cr_assert_str_eq(fm_slot(&m, 0)->name, "a name");
	cr_assert_eq(fm_slot(&m, 0)->frames[0].start, 1);
	cr_assert_eq(fm_slot(&m, 0)->frames[0].sp, UINT64_MAX);
	fx_thread_set_name(0, "a name that is too long");
	cr_assert_str_eq(fm_slot(&m, 0)->name, "a name that is ");
	fx_thread_set_name((uint64_t)pthread_self(), "b");
	cr_assert_str_eq(fm_slot(&m, 0)->name, "b");
	fx_thread_set_name(12345, "nobody");
	cr_assert_str_eq(fm_slot(&m, 0)->name, "b");
}

Test(thread, slots_are_reused)
{
	start((struct fm_config){.thread_count = 2});
	for (uintptr_t i = 0; i < 10; i++)
		run(one_and_exit, (void *)i);
	cr_assert_eq(threads_in_slots(), 0);
	cr_assert_eq(fm_slot(&m, 0)->incarnation + fm_slot(&m, 1)->incarnation, 10);
	produced_read(&got, &m);
	cr_assert_eq(got.total, 10);
	cr_assert_eq(got.names, 10);
}

static void *lose_some_and_exit(void *context)
{
	uintptr_t count = (uintptr_t)context;

	for (uint32_t i = 0; i < count; i++)
		cr_assert_not(produce(0, i));
	fx_thread_exit();
	return NULL;
}

/* Nobody looks until the end: each thread's losses are still its own, as long as there are slots. */
Test(thread, losses_stay_with_their_thread)
{
	start((struct fm_config){.size = 16 << 10, .thread_count = 4});
	while (produce(0, 0))
		;
	for (uintptr_t i = 1; i <= 5; i++)
		run(lose_some_and_exit, (void *)(10 * i));
	cr_assert_eq(fm_slot(&m, 0)->dropped, 1);
	cr_assert_eq(fm_slot(&m, 1)->dropped, 10 + 40 + 50, "there was no other for the last two");
	cr_assert_eq(fm_slot(&m, 2)->dropped, 20);
	cr_assert_eq(fm_slot(&m, 3)->dropped, 30);
	cr_assert_eq(fm_dropped(&m), 151);
}

Test(thread, five_thousand_one_after_another)
{
	start((struct fm_config){
	    .size = 4 << 20, .mode = FX_MODE_STREAMING, .on_full = FX_ON_FULL_BLOCK});
	fm_saver_start(&m, 100);
	for (uintptr_t i = 0; i < 5000; i++)
		run(one_and_exit, (void *)i);
	fm_saver_stop(&m);
	cr_assert_eq(threads_in_slots(), 0);
	produced_read(&got, &m);
	cr_assert_eq(got.total, 5000);
	cr_assert_eq(got.names, 5000);
	cr_assert_eq(fm_dropped(&m), 0);
}

#define SLOTS	16u
#define THREADS 40u

static pthread_barrier_t all;

static void *one_all_together(void *context)
{
	bool ok;

	pthread_barrier_wait(&all);
	ok = produce(0, (uint32_t)(uintptr_t)context);
	pthread_barrier_wait(&all);
	fx_thread_exit();
	return (void *)(uintptr_t)ok;
}

Test(thread, more_threads_than_slots_are_counted)
{
	pthread_t threads[THREADS];
	uint32_t recorded = 0;

	start((struct fm_config){.thread_count = SLOTS, .size = 4 << 20});
	pthread_barrier_init(&all, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, one_all_together, (void *)i);
	for (uint32_t i = 0; i < THREADS; i++) {
		void *ok;

		pthread_join(threads[i], &ok);
		recorded += ok != NULL;
	}
	cr_assert_eq(recorded, SLOTS);
	cr_assert_eq(fm_dropped(&m), THREADS - SLOTS);
	cr_assert_eq(fm_lost(&m, FX_LOSS_THREADS), THREADS - SLOTS);
	cr_assert(produce(0, THREADS), "there is room again");
	produced_read(&got, &m);
	cr_assert_eq(got.total, SLOTS + 1);
}

static void *one_and_vanish(void *context)
{
	cr_assert(produce(0, (uint32_t)(uintptr_t)context));
	fx_syscall1(SYS_exit, 0);
	return NULL;
}

Test(thread, threads_that_end_unseen_are_found_when_slots_run_out, .disabled = !THREADS_MAY_VANISH)
{
	start((struct fm_config){.thread_count = 4, .size = 4 << 20});
	for (uintptr_t i = 0; i < 50; i++)
		run(one_and_vanish, (void *)i);
	produced_read(&got, &m);
	cr_assert_eq(got.total, 50);
	cr_assert_eq(fm_dropped(&m), 0);
}

/* A thread that was joined is known to the kernel, or to an emulator, for a moment more. */
static unsigned reclaim_ended(void)
{
	unsigned count = 0;

	for (int i = 0; i < 10000 && count == 0; i++) {
		count = fx_threads_reclaim();
		if (count == 0)
			usleep(1000);
	}
	return count;
}

static void *vanish_in_a_record(void *context)
{
	struct fx_thread *t;
	struct fx_reservation r;

	cr_assert(produce(0, (uint32_t)(uintptr_t)context));
	t = fx_thread_on(FX_CAT_USER);
	fx_frame_push(t, 0x400000, 0x1000, 0);
	fx_record_reserve(t, 7, &r)[1] = 77;
	fx_syscall1(SYS_exit, 0);
	return NULL;
}

Test(thread, a_thread_that_ends_in_the_middle_of_a_record_loses_that_one,
     .disabled = !THREADS_MAY_VANISH)
{
	start((struct fm_config){.size = 4 << 20, .thread_count = 2});
	run(vanish_in_a_record, (void *)0);
	cr_assert(produce(0, 1));
	cr_assert_eq(reclaim_ended(), 1);
	cr_assert_eq(fx_threads_reclaim(), 0);
	cr_assert_eq(threads_in_slots(), 1);
	produced_read(&got, &m);
	cr_assert_eq(got.total, 2);
	cr_assert_eq(fm_dropped(&m), 1);
	/* The slot's next owner begins without its calls. */
	run(one_and_exit, (void *)2);
	cr_assert_eq(fm_slot(&m, 0)->frames[1].start, 0);
}

Test(thread, chunks_of_vanished_threads_come_back_to_a_full_buffer, .disabled = !THREADS_MAY_VANISH)
{
	uint32_t lost = 0, n = 0;

	start((struct fm_config){.size = 64 << 10, .mode = FX_MODE_STREAMING});
	for (; n < 2 * m.layout.chunks_per_half; n++)
		run(one_and_vanish, (void *)(uintptr_t)n);
	/* All chunks are held by the dead. */
	for (int tries = 0; tries < 400; tries++) {
		lost += !produce(0, n++);
		fm_save(&m);
		usleep(1000);
	}
	cr_assert_lt(lost, 399, "nothing came back");
	produced_read(&got, &m);
	cr_assert_eq(got.total + fm_dropped(&m), n);
}

static uint64_t rolling_state(void)
{
	return fx_load_acquire(&m.header->rolling_state);
}

static void *stop_then_exit(void *context)
{
	(void)context;
	cr_assert(produce(0, 0));
	fx_frame_push(fx_self, 0x400000, 0x1000, 0);
	fm_state(&m, 1, 0);
	fx_thread_exit();
	return NULL;
}

Test(thread, a_thread_that_ends_after_a_stop_writes_nothing)
{
	start((struct fm_config){0});
	run(stop_then_exit, NULL);
	produced_read(&got, &m);
	cr_assert_eq(got.total, 1);
	cr_assert_eq(got.names, 0);
	cr_assert_eq(fm_unwound(&m), 0);
	cr_assert_eq(threads_in_slots(), 0);
	cr_assert_eq(rolling_state(), 1);
	cr_assert_eq(fm_slot(&m, 0)->frames[1].start, 0);
}

Test(thread, looking_for_the_dead_touches_no_unused_slot)
{
	unsigned char resident[8];
	uint32_t last;

	start((struct fm_config){0});
	cr_assert(produce(0, 0));
	fx_threads_reclaim();
	fx_thread_set_name(12345, "nobody");
	last = m.layout.thread_count - 1;
	cr_assert_eq(mincore((char *)m.header + m.layout.threads_offset +
				 (uint64_t)last * sizeof(struct fx_thread_slot),
			     sizeof(struct fx_thread_slot), resident),
		     0);
	cr_assert_eq(resident[0] & 1, 0);
}

Test(thread, flow_ids_differ)
{
	struct fx_thread *t;
	uint64_t a, b;

	start((struct fm_config){0});
	t = fx_thread_on(FX_CAT_USER);
	a = fx_flow_id_new(t);
	b = fx_flow_id_new(t);
	cr_assert_neq(a, b);
	cr_assert_eq(a >> FX_FLOW_MAKER_SHIFT, 7, "the provider's id");
	t->flows = UINT32_MAX;
	cr_assert_eq(fx_flow_id_new(t) >> FX_FLOW_SLOT_SHIFT, a >> FX_FLOW_SLOT_SHIFT,
		     "a thread's ids stay its own");
}
