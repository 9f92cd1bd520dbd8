/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include <criterion/criterion.h>

#include "base/atomic.h"
#include "preload/handoff.h"

TestSuite(handoff, .init = fx_handoff_reset);

Test(handoff, taken_once)
{
	fx_handoff_put(0x1000, 7, 100);
	cr_assert_eq(fx_handoff_take(0x1001, 0), 0);
	cr_assert_eq(fx_handoff_take(0x1000, 101), 0, "left before the wait began");
	cr_assert_eq(fx_handoff_take(0x1000, 100), 7);
	cr_assert_eq(fx_handoff_take(0x1000, 0), 0);
}

Test(handoff, a_later_release_replaces_an_earlier)
{
	fx_handoff_put(0x1000, 7, 100);
	fx_handoff_put(0x1000, 8, 200);
	cr_assert_eq(fx_handoff_take(0x1000, 0), 8);
	cr_assert_eq(fx_handoff_take(0x1000, 0), 0);
}

Test(handoff, one_release_for_several)
{
	uint64_t sum = 0;

	for (uint64_t id = 1; id <= 4; id++)
		fx_handoff_put(0x1000, id, 100);
	for (int i = 0; i < 4; i++)
		sum += fx_handoff_take(0x1000, 0);
	cr_assert_eq(sum, 10);
}

Test(handoff, reset)
{
	fx_handoff_put(0x1000, 7, 100);
	fx_handoff_reset();
	cr_assert_eq(fx_handoff_take(0x1000, 0), 0);
}

#define ROUNDS 20000u

#define THREADS 8u

/* Two threads share a key. Each puts ids of its own, once: none may come to another key, or twice. */
static uint8_t seen[THREADS * ROUNDS];

static void *put_and_take(void *number)
{
	uint64_t thread = (uintptr_t)number, key = thread / 2;

	for (uint64_t n = 1; n < ROUNDS; n++) {
		uint64_t id;

		fx_handoff_put(key, thread * ROUNDS + n, n);
		id = fx_handoff_take(key, 0);
		cr_assert(id == 0 || id / ROUNDS / 2 == key, "an id of another key");
		if (id)
			cr_assert_eq(__atomic_exchange_n(&seen[id], 1, __ATOMIC_RELAXED), 0,
				     "an id was taken twice");
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
