/* SPDX-License-Identifier: MIT */
/* The queue's order, its bound and its end; and the pace of looking. */
#include <pthread.h>
#include <time.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "manager/door/pace.h"
#include "manager/archive/queue.h"

static struct fx_queue q;

static void push_kind(enum fx_block_kind kind, uint64_t ticks, size_t bytes)
{
	struct fx_block *block = fx_queue_block(&q, kind, NULL);
	struct fx_block_list list;

	cr_assert_not_null(block);
	cr_assert_eq(block->pieces.used, 0);
	block->ticks = ticks;
	block->pieces.used = bytes;
	fx_block_list_init(&list);
	fx_block_list_add(&list, block);
	fx_queue_push(&q, &list);
}

static void push(uint64_t ticks, size_t bytes)
{
	push_kind(FX_BLOCK_DATA, ticks, bytes);
}

static struct timespec seconds_from_now(time_t seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += seconds;
	return t;
}

static struct fx_block *take_now(void)
{
	const struct timespec at_once = {0, 0};

	return fx_queue_take(&q, &at_once);
}

static uint64_t pop(void)
{
	struct fx_block *block = take_now();
	uint64_t ticks;

	cr_assert_not_null(block);
	ticks = block->ticks;
	fx_queue_recycle(&q, block);
	return ticks;
}

Test(queue, first_in_first_out)
{
	fx_queue_init(&q, 1000);
	cr_assert_null(take_now());
	for (uint64_t i = 0; i < 200; i++)
		push(i, 1);
	for (uint64_t i = 0; i < 200; i++)
		cr_assert_eq(pop(), i);
	cr_assert_null(take_now());
	fx_queue_destroy(&q);
}

Test(queue, the_bound_is_in_bytes)
{
	fx_queue_init(&q, 1000);
	push(1, 600);
	cr_assert(!fx_queue_is_full(&q));
	push(2, 600);
	cr_assert(fx_queue_is_full(&q));
	pop();
	cr_assert(!fx_queue_is_full(&q));
	fx_queue_destroy(&q);
}

Test(queue, it_is_over_when_closed_and_empty)
{
	fx_queue_init(&q, 1000);
	push(1, 1);
	fx_queue_close(&q);
	cr_assert(!fx_queue_is_over(&q));
	pop();
	cr_assert(fx_queue_is_over(&q));
	cr_assert_null(take_now());
	fx_queue_destroy(&q);
}

/* --- Gathering -------------------------------------------------------------------------------- */

static void linger_briefly(void)
{
	struct timespec deadline = seconds_from_now(0);

	deadline.tv_nsec += deadline.tv_nsec < 999000000 ? 1000000 : 0;
	fx_queue_linger(&q, &deadline);
}

static int lingering; /* the thread has not come back yet */

static void *linger_long(void *unused)
{
	const struct timespec deadline = seconds_from_now(600);

	(void)unused;
	fx_queue_linger(&q, &deadline);
	fx_store_release(&lingering, 0); /* pairs with is_lingering() */
	return NULL;
}

static pthread_t linger_start(void)
{
	pthread_t thread;

	lingering = 1;
	cr_assert_eq(pthread_create(&thread, NULL, linger_long, NULL), 0);
	return thread;
}

/* After a moment in which a thread that was woken would have come back. */
static bool is_lingering(void)
{
	const struct timespec moment = {.tv_nsec = 20000000};

	nanosleep(&moment, NULL);
	return fx_load_acquire(&lingering);
}

Test(queue, blocks_gather_until_one_is_waited_for, .timeout = 60)
{
	pthread_t thread;

	fx_queue_init(&q, 100000);
	thread = linger_start();
	for (uint64_t i = 0; i < 10; i++)
		push(i, 100);
	cr_assert(is_lingering());
	push_kind(FX_BLOCK_FLUSH, 10, 0);
	pthread_join(thread, NULL);
	/* It is waited for until it is taken. */
	linger_long(NULL);
	for (uint64_t i = 0; i <= 10; i++)
		cr_assert_eq(pop(), i);
	thread = linger_start();
	cr_assert(is_lingering());
	fx_queue_close(&q);
	pthread_join(thread, NULL);
	fx_queue_destroy(&q);
}

Test(queue, many_blocks_or_bytes_do_not_gather, .timeout = 60)
{
	fx_queue_init(&q, 1000);
	push(0, 500);
	linger_long(NULL);
	pop();
	for (uint64_t i = 0; i < 64; i++)
		push(i, 1);
	linger_long(NULL);
	fx_queue_destroy(&q);
}

#ifdef FX_TSAN
#define MANY 10000u /* each block that is allocated costs it mappings, which are limited */
#else
#define MANY 100000u
#endif

static void *take_many(void *unused)
{
	uint64_t expected = 0;

	(void)unused;
	while (!fx_queue_is_over(&q)) {
		const struct timespec deadline = seconds_from_now(1);
		struct fx_block *block = fx_queue_take(&q, &deadline);

		if (!block)
			continue;
		cr_assert_eq(block->ticks, expected++);
		fx_queue_recycle(&q, block);
		if (expected % 100 == 0)
			linger_briefly();
	}
	cr_assert_eq(expected, MANY);
	return NULL;
}

Test(queue, two_threads, .timeout = 30)
{
	pthread_t taker;

	fx_queue_init(&q, 1000);
	cr_assert_eq(pthread_create(&taker, NULL, take_many, NULL), 0);
	for (uint64_t i = 0; i < MANY; i++)
		push(i, 8);
	fx_queue_close(&q);
	pthread_join(taker, NULL);
	fx_queue_destroy(&q);
}

/* --- Pace ------------------------------------------------------------------------------------ */

/* Looks until the period has settled, for a provider that fills `halves` halves a second. */
static uint64_t settled_period(double halves)
{
	struct fx_pace pace;

	fx_pace_init(&pace, 0);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t last = pace.last;

		fx_pace_next(&pace, pace.next, halves * (double)(pace.next - last) / 1e9, false);
	}
	return pace.period;
}

Test(pace, idle_is_slow)
{
	cr_assert_eq(settled_period(0), FX_PACE_MAX_NS);
	cr_assert_eq(settled_period(1), FX_PACE_MAX_NS);
}

Test(pace, busy_is_fast)
{
	cr_assert_eq(settled_period(10000), FX_PACE_MIN_NS);
}

Test(pace, a_quarter_of_a_half_between_two_looks)
{
	uint64_t period = settled_period(50);

	cr_assert_gt(period, 4900000);
	cr_assert_lt(period, 5100000);
}

Test(pace, the_doorbell_makes_it_faster)
{
	struct fx_pace pace;

	fx_pace_init(&pace, 0);
	pace.period = 40000000;
	fx_pace_next(&pace, 1000, 0, true);
	cr_assert_eq(pace.period, 20000000);
}
