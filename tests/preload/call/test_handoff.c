/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "preload/call/handoff.h"
#include "preload/call/tables.h"

TestSuite(handoff, .init = fx_tables_make);

static uint32_t take(uint64_t key)
{
	uint64_t time = 0;
	uint32_t tid = 0;

	if (!fx_handoff_take(key, &tid, &time))
		return 0;
	cr_assert_eq(time, 100 + tid);
	return tid;
}

Test(handoff, taken_once)
{
	fx_handoff_put(0x1000, 7, 107);
	cr_assert_eq(take(0x1001), 0);
	cr_assert_eq(take(0x1000), 7);
	cr_assert_eq(take(0x1000), 0);
}

Test(handoff, the_newest_of_a_key)
{
	fx_handoff_put(0x1000, 7, 107);
	fx_handoff_put(0x1000, 8, 108);
	cr_assert_eq(take(0x1000), 8);
	cr_assert_eq(take(0x1000), 0);
}

/* More than there is room for: the newest stay. */
Test(handoff, many_keys)
{
	unsigned found = 0;

	for (uint32_t i = 1; i <= 100000; i++)
		fx_handoff_put((uint64_t)i << 12, i, 100 + i);
	for (uint32_t i = 100000; i > 100000 - 256; i--)
		found += take((uint64_t)i << 12) == i;
	cr_assert_eq(found, 256);
}

/* Ten thousand threads that have ended, and that somebody will join. */
Test(handoff, none_is_lost)
{
	unsigned found = 0;

	for (uint64_t i = 1; i <= 10000; i++)
		fx_handoff_put(0x7f0000000000 + i * 0x801000, (uint32_t)i, 100 + i);
	for (uint64_t i = 1; i <= 10000; i++)
		found += take(0x7f0000000000 + i * 0x801000) == i;
	cr_assert_eq(found, 10000);
}

Test(handoff, forgotten)
{
	fx_handoff_put(0x1000, 7, 107);
	fx_handoff_forget(0x1000);
	cr_assert_eq(take(0x1000), 0);
}

Test(handoff, reset)
{
	fx_handoff_put(0x1000, 7, 107);
	fx_handoff_reset();
	cr_assert_eq(take(0x1000), 0);
}

#define ROUNDS	20000u
#define THREADS 8u

/* Two threads share a key. What one puts is taken once, and by nobody of another key. */
static uint8_t seen[THREADS * ROUNDS];

static void *put_and_take(void *number)
{
	uint32_t thread = (uint32_t)(uintptr_t)number, key = thread / 2 + 1;

	for (uint32_t n = 1; n < ROUNDS; n++) {
		uint32_t tid = thread * ROUNDS + n;

		fx_handoff_put(key, tid, 100 + tid);
		tid = take(key);
		cr_assert(tid == 0 || tid / ROUNDS / 2 + 1 == key, "of another key");
		if (tid)
			cr_assert_eq(__atomic_exchange_n(&seen[tid], 1, __ATOMIC_RELAXED), 0,
				     "taken twice");
	}
	return NULL;
}

Test(handoff, threads)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, put_and_take, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* When it was, without taking it from who joins. */
Test(handoff, time_of_a_thread)
{
	uint64_t time;

	cr_assert_not(fx_handoff_time(7, &time));
	fx_handoff_put(0x1000, 7, 107);
	fx_handoff_put(0x2000, 8, 108);
	cr_assert(fx_handoff_time(7, &time));
	cr_assert_eq(time, 107);
	cr_assert_eq(take(0x1000), 7);
	cr_assert_not(fx_handoff_time(7, &time));
	cr_assert_not(fx_handoff_time(0, &time));
}
