/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include <criterion/criterion.h>

#include "preload/waits.h"

TestSuite(waits, .init = fx_waits_reset);

static char objects[4096];

static struct fx_source source(uint32_t tid, uint64_t time)
{
	return (struct fx_source){.tid = tid, .name = 3, .time = time};
}

static void add(struct fx_wait *w, uint32_t tid, uint64_t time, bool many)
{
	struct fx_source s = source(tid, time);

	fx_token_add(w->cell, &s, many);
}

static uint32_t take(struct fx_wait *w, uint64_t since)
{
	struct fx_source s = {.tid = 0};

	return fx_token_take(w->cell, since, &s) ? s.tid : 0;
}

Test(waits, seen_while_they_last)
{
	struct fx_wait a, b;

	cr_assert_not(fx_is_awaited(objects));
	fx_wait_begin(&a, objects, 1000, 1);
	cr_assert(fx_is_awaited(objects));
	cr_assert_eq(fx_waits_find(objects), a.cell);
	cr_assert_null(fx_waits_find(objects + 8));
	fx_wait_begin(&b, objects, 900, 1); /* a signal handler, inside the first */
	cr_assert_eq(a.cell, b.cell);
	fx_wait_end(&b);
	cr_assert(fx_waits_find(objects));
	fx_wait_end(&a);
	cr_assert_not(fx_is_awaited(objects));
	cr_assert_null(fx_waits_find(objects));
}

/* One left by longjmp is found to be over by the next that does not lie below it. */
Test(waits, left_behind)
{
	struct fx_wait a, b;

	fx_wait_begin(&a, objects, 1000, 1);
	fx_wait_begin(&b, objects + 8, 1000, 1);
	cr_assert_null(fx_waits_find(objects));
	fx_wait_end(&b);
	cr_assert_not(fx_is_awaited(objects));
	cr_assert_not(fx_is_awaited(objects + 8));

	fx_wait_begin(&a, objects, 1000, 1);
	fx_wait_abandon();
	cr_assert_not(fx_is_awaited(objects));
	fx_wait_end(&a);
	cr_assert_not(fx_is_awaited(objects));
}

/* One who looked before the wait began is known all the same. */
Test(waits, released_just_before)
{
	struct fx_wait w;

	cr_assert_not(fx_releases(objects, 7));
	fx_wait_begin(&w, objects, 1000, 1);
	cr_assert(fx_releases(objects, 8), "he leaves a token");
	cr_assert_eq(fx_released_last(objects), 7);
	cr_assert_eq(fx_released_last(objects + 8), 0);
	fx_wait_end(&w);
}

Test(waits, nothing_to_wait_for)
{
	struct fx_wait w;

	fx_wait_begin(&w, NULL, 1000, 1);
	cr_assert_null(w.cell);
	fx_wait_end(&w);
}

Test(waits, no_token_outlives_its_wait)
{
	struct fx_wait w;

	fx_wait_begin(&w, objects, 1000, 1);
	add(&w, 7, 100, false);
	fx_wait_end(&w);
	fx_wait_begin(&w, objects, 1000, 1);
	cr_assert_eq(take(&w, 0), 0);
	fx_wait_end(&w);
}

Test(waits, oldest_first_once_and_none_of_before)
{
	struct fx_wait w;

	fx_wait_begin(&w, objects, 1000, 1);
	add(&w, 8, 200, false);
	add(&w, 7, 100, false);
	add(&w, 9, 300, false);
	cr_assert_eq(take(&w, 101), 8);
	cr_assert_eq(take(&w, 0), 7);
	cr_assert_eq(take(&w, 301), 0);
	cr_assert_eq(take(&w, 300), 9);
	cr_assert_eq(take(&w, 0), 0);
	fx_wait_end(&w);
}

/* A broadcast wakes all; each arrow begins at a time of its own. */
Test(waits, one_for_many)
{
	struct fx_source s;
	uint64_t last = 0;
	struct fx_wait w;

	fx_wait_begin(&w, objects, 1000, 1);
	add(&w, 7, 100, true);
	for (int i = 0; i < 500; i++) {
		cr_assert(fx_token_take(w.cell, 0, &s));
		cr_assert_eq(s.tid, 7);
		cr_assert_eq(s.name, 3);
		cr_assert_gt(s.time, last);
		last = s.time;
	}
	for (int i = 0; i < 1000; i++) {
		cr_assert(fx_token_take(w.cell, 0, &s));
		cr_assert_eq(s.tid, 7);
		cr_assert_eq(s.name, 3);
	}
	fx_wait_end(&w);
}

Test(waits, without_room_the_oldest_goes)
{
	struct fx_wait w;

	fx_wait_begin(&w, objects, 1000, 1);
	for (uint32_t i = 1; i <= FX_TOKENS + 1; i++)
		add(&w, i, i, false);
	for (uint32_t i = 2; i <= FX_TOKENS + 1; i++)
		cr_assert_eq(take(&w, 0), i);
	cr_assert_eq(take(&w, 0), 0);
	fx_wait_end(&w);
}

/* Threads wait for few objects, all the time; no cell is left, no token comes to another object. */
#define THREADS 8u
#define ROUNDS	20000u

static void *wait_often(void *number)
{
	for (uintptr_t i = 0; i < ROUNDS; i++) {
		uintptr_t object = (i + (uintptr_t)number) % 5;
		struct fx_source s = source((uint32_t)object + 1, i + 1);
		struct fx_wait_cell *cell;
		struct fx_wait w;

		fx_wait_begin(&w, objects + object * 8, 1000, 1);
		cr_assert(w.cell);
		cell = fx_waits_find(objects + object * 8);
		cr_assert(cell);
		fx_token_add(cell, &s, i % 3 == 0);
		s.tid = 0;
		if (fx_token_take(w.cell, 0, &s))
			cr_assert_eq(s.tid, object + 1, "a token of another object");
		fx_wait_end(&w);
	}
	return NULL;
}

Test(waits, threads)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, wait_often, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < 5; i++) {
		cr_assert_not(fx_is_awaited(objects + i * 8));
		cr_assert_null(fx_waits_find(objects + i * 8));
	}
}

Test(waits, more_objects_than_cells)
{
	static struct fx_wait w[20000];
	static char many[20000 * 8];
	unsigned without = 0;

	for (unsigned i = 0; i < 20000; i++) {
		fx_wait_begin(&w[i], many + i * 8, 1000000 - i, 1);
		without += !w[i].cell;
	}
	cr_assert_gt(without, 0);
	for (unsigned i = 20000; i-- > 0;)
		fx_wait_end(&w[i]);
	for (unsigned i = 0; i < FX_WAIT_HEADS; i++)
		cr_assert_eq(fx_wait_heads[i].waiting, 0);
}
