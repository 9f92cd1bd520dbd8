/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include <criterion/criterion.h>

#include "preload/call/tables.h"
#include "preload/call/waits.h"

TestSuite(waits, .init = fx_tables_make);

static char objects[4096];

/* Stack addresses above any real one: who visits stands below. */
#define SP(n) (UINT64_MAX - 2000000 + (n))

static struct fx_source source(uint32_t tid, uint64_t time)
{
	return (struct fx_source){.tid = tid, .name = 3, .time = time};
}

static bool is_awaited(const void *object)
{
	struct fx_wait visit;

	if (!fx_is_awaited(object) || !fx_visit_begin(&visit, object))
		return false;
	fx_wait_end(&visit);
	return true;
}

/* A release that was over at `ended`, in ticks. */
static void add_at(const void *object, uint32_t tid, bool many, uint64_t ended)
{
	struct fx_source s = source(tid, tid);
	struct fx_wait visit;
	struct fx_left left;

	cr_assert(fx_visit_begin(&visit, object));
	left = fx_token_add(&visit, &s, many, UINT64_MAX);
	cr_assert(left.token);
	fx_left_done(&left, ended);
	fx_wait_end(&visit);
}

static void add(const void *object, uint32_t tid, bool many)
{
	add_at(object, tid, many, 0);
}

static uint32_t take(const struct fx_wait *w)
{
	struct fx_source s = {.tid = 0};

	return fx_token_take(w, &s) ? s.tid : 0;
}

Test(waits, seen_while_they_last)
{
	struct fx_wait a, b;

	cr_assert_not(fx_is_awaited(objects));
	fx_wait_begin(&a, objects, SP(1000));
	cr_assert(is_awaited(objects));
	cr_assert_not(is_awaited(objects + 8));
	fx_wait_begin(&b, objects, SP(900)); /* a signal handler, inside the first */
	cr_assert_eq(a.cell, b.cell);
	fx_wait_end(&b);
	cr_assert(is_awaited(objects));
	cr_assert_eq(fx_wait_cell(&a), a.cell);
	fx_wait_end(&a);
	cr_assert_not(fx_is_awaited(objects));
	cr_assert_not(is_awaited(objects));
}

/* One left by longjmp is found to be over by the next that does not lie below it. */
Test(waits, left_behind)
{
	struct fx_wait a, b;

	fx_wait_begin(&a, objects, SP(1000));
	fx_wait_begin(&b, objects + 8, SP(1000));
	cr_assert_not(is_awaited(objects));
	cr_assert_null(fx_wait_cell(&a), "no token of others comes to it");
	fx_wait_end(&b);
	cr_assert_not(fx_is_awaited(objects));
	cr_assert_not(fx_is_awaited(objects + 8));

	fx_wait_begin(&a, objects, SP(1000));
	fx_wait_abandon();
	cr_assert_not(fx_is_awaited(objects));
	fx_wait_end(&a);
	cr_assert_not(fx_is_awaited(objects));
}

/* Who looked before the wait began is known all the same. */
Test(waits, held_alone_and_released_just_before)
{
	struct fx_wait w;

	cr_assert_not(fx_releases(objects, 7));
	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(fx_wait_noted(&w, objects, true), 7);
	cr_assert_eq(fx_wait_noted(&w, objects + 8, true), 0);
	cr_assert(fx_releases(objects, 8), "he leaves a token");
	cr_assert_eq(fx_wait_noted(&w, objects, true), 8, "and a note beside it");
	fx_wait_end(&w);
}

/* What was over before the wait is not what ended it. */
Test(waits, under_way_or_over)
{
	struct fx_wait w;
	uint64_t first = fx_note_begin(fx_wait_head(objects), objects, 7), second;

	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(fx_wait_noted(&w, objects, false), 7);
	fx_note_end(fx_wait_head(objects), first);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 7);
	fx_wait_end(&w);

	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(fx_wait_noted(&w, objects, false), 0);
	second = fx_note_begin(fx_wait_head(objects), objects, 7);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 7);
	fx_note_end(fx_wait_head(objects), second);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 7);
	fx_wait_end(&w);
}

/* A token that went with its cell has a note beside it, for who finds the object free; and for nobody else. */
Test(waits, free_since_a_token_that_is_gone)
{
	struct fx_wait_head *h = fx_wait_head(objects);
	struct fx_wait early, w;
	uint64_t slow;

	fx_note_end(h, fx_note_begin(h, objects, 6));
	fx_wait_begin(&early, objects, SP(1000));
	fx_note_beside(objects, 7);
	add(objects, 7, false);
	fx_wait_end(&early);
	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(take(&w), 0);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 0, "it was over");
	fx_wait_found_free(&w);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 7);
	fx_wait_end(&w);

	fx_wait_begin(&w, objects, SP(1000));
	fx_note_beside(objects, 8);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 0, "that has a token");
	fx_wait_end(&w);

	slow = fx_note_begin(h, objects, 9);
	fx_note_beside(objects, 8);
	fx_wait_begin(&w, objects, SP(1000));
	fx_note_end(h, slow);
	fx_note_beside(objects, 8);
	cr_assert_eq(fx_wait_noted(&w, objects, false), 9, "it has no token");
	fx_wait_end(&w);
}

/* Someone whose releases are not seen: no arrow rather than a wrong one. */
Test(waits, released_by_a_stranger)
{
	struct fx_source s = source(9, 9);
	struct fx_wait w;

	cr_assert_not(fx_releases(objects, 7));
	fx_release_unknown(objects);
	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(fx_wait_noted(&w, objects, true), 0);
	fx_token_set(&w.cell->tokens[0], &s, false);
	fx_release_unknown(objects);
	cr_assert(fx_token_get(&w.cell->tokens[0], 0, &s));
	cr_assert_eq(s.tid, 0);
	fx_wait_end(&w);
}

Test(waits, nothing_to_wait_for)
{
	struct fx_wait w;

	fx_wait_begin(&w, NULL, 1000);
	cr_assert_null(w.cell);
	fx_wait_end(&w);
}

Test(waits, no_token_outlives_its_wait)
{
	struct fx_wait w;

	fx_wait_begin(&w, objects, SP(1000));
	for (uint32_t i = 1; i <= 10; i++)
		add(objects, i, false);
	fx_wait_end(&w);
	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(take(&w), 0);
	for (unsigned i = 0; i < FX_TOKENS; i++)
		cr_assert_eq(fx_token_tid(&w.cell->tokens[i]), 0);
	fx_wait_end(&w);
}

Test(waits, oldest_first_once_and_none_of_before)
{
	struct fx_source late = source(3, 3);
	struct fx_wait early, w, visit;
	struct fx_left left;

	fx_wait_begin(&early, objects, SP(1000));
	add(objects, 7, false);
	fx_wait_begin(&w, objects, SP(900));
	cr_assert_eq(take(&w), 0, "that release was over as it began");
	add(objects, 8, false);
	add(objects, 9, false);
	cr_assert_eq(take(&w), 8);
	cr_assert_eq(take(&early), 7);
	fx_wait_end(&w);

	cr_assert(fx_visit_begin(&visit, objects));
	left = fx_token_add(&visit, &late, false, UINT64_MAX);
	fx_wait_begin(&w, objects, SP(800));
	fx_left_done(&left, 0);
	cr_assert_eq(take(&w), 3, "under way as it began");
	cr_assert_eq(take(&w), 0);
	fx_wait_end(&w);
	fx_wait_end(&visit);
	fx_wait_end(&early);
}

/* A release that goes on as the wait begins brings none with it that is over, though it is younger. */
Test(waits, over_while_another_goes_on)
{
	struct fx_source slow = source(3, 3);
	struct fx_wait early, w, visit;
	struct fx_left left;

	fx_wait_begin(&early, objects, SP(1000));
	cr_assert(fx_visit_begin(&visit, objects));
	left = fx_token_add(&visit, &slow, false, UINT64_MAX);
	add(objects, 7, false);
	fx_wait_begin(&w, objects, SP(900));
	fx_left_done(&left, 0);
	cr_assert_eq(take(&w), 3);
	cr_assert_eq(take(&w), 0, "that was over");
	cr_assert_eq(take(&early), 7);
	fx_wait_end(&w);
	fx_wait_end(&visit);
	fx_wait_end(&early);
}

/* What it found free, somebody has released just before. */
Test(waits, newest_if_found_free)
{
	struct fx_wait early, w;

	fx_wait_begin(&early, objects, SP(1000));
	add(objects, 7, false);
	add(objects, 8, false);
	fx_wait_begin(&w, objects, SP(900));
	fx_wait_found_free(&w);
	cr_assert_eq(take(&w), 8);
	cr_assert_eq(take(&early), 7);
	fx_wait_end(&w);
	fx_wait_end(&early);
}

/* Several may release at once: a token that was left over from long before its call says nothing of why it is free; nor to
 * those who come later. */
Test(waits, none_left_over_if_found_free)
{
	const uint64_t then = 1000000, soon = then + 10, late = then + 1000000;
	struct fx_wait early, w;

	fx_wait_begin(&early, objects, SP(1000));
	fx_note_holder(objects, 6);
	fx_wait_begin(&w, objects, SP(900));
	add_at(objects, 7, false, then);
	fx_wait_found_left(&w, late);
	cr_assert_eq(take(&w), 0);
	fx_wait_end(&w);

	fx_wait_begin(&w, objects, SP(900));
	add_at(objects, 8, false, then);
	fx_wait_found_left(&w, soon);
	cr_assert_eq(take(&w), 8, "it was over between the look at it and the call");
	fx_wait_end(&w);
	add_at(objects, 9, false, late);
	cr_assert_eq(take(&early), 9);
	fx_wait_end(&early);
}

/* A release that failed. */
Test(waits, taken_back)
{
	struct fx_source s = source(3, 3);
	struct fx_wait w, visit;
	struct fx_left left;

	fx_wait_begin(&w, objects, SP(1000));
	cr_assert(fx_visit_begin(&visit, objects));
	left = fx_token_add(&visit, &s, false, UINT64_MAX);
	fx_left_undo(&left);
	fx_wait_end(&visit);
	cr_assert_eq(take(&w), 0);
	fx_wait_end(&w);
}

/* A broadcast wakes all; each arrow begins at a time of its own. */
Test(waits, one_for_many)
{
	struct fx_source s;
	uint64_t last = 0;
	struct fx_wait w;

	fx_wait_begin(&w, objects, SP(1000));
	add(objects, 7, true);
	for (int i = 0; i < 4000; i++) {
		cr_assert(fx_token_take(&w, &s));
		cr_assert_eq(s.tid, 7);
		cr_assert_eq(s.name, 3);
		cr_assert_gt(s.time, last);
		last = s.time;
	}
	for (int i = 0; i < 1000; i++) {
		cr_assert(fx_token_take(&w, &s));
		cr_assert_eq(s.tid, 7);
		cr_assert_eq(s.name, 3);
	}
	fx_wait_end(&w);
}

/* As many as wait, and some, in the order in which they came. */
Test(waits, tokens_for_a_crowd)
{
	static struct fx_wait w[500];

	for (unsigned i = 0; i < 500; i++)
		fx_wait_begin(&w[i], objects, SP(10000 - i));
	for (uint32_t i = 1; i <= 500; i++)
		add(objects, i, false);
	for (uint32_t i = 1; i <= 500; i++)
		cr_assert_eq(take(&w[i - 1]), i);
	for (unsigned i = 500; i-- > 0;)
		fx_wait_end(&w[i]);
	cr_assert_not(fx_is_awaited(objects));
}

/* What nobody takes does not grow, and the newest stay. */
Test(waits, more_tokens_than_waiters)
{
	struct fx_wait w;
	uint32_t first, next;

	fx_wait_begin(&w, objects, SP(1000));
	for (uint32_t i = 1; i <= 100000; i++)
		add(objects, i, i % 2 == 0);
	first = take(&w);
	cr_assert_gt(first, 100000 - 100);
	cr_assert_lt(first, 100000 - 7);
	if (first % 2 == 1) {
		next = take(&w);
		cr_assert_eq(next, first + 1);
	}
	fx_wait_end(&w);
}

static uint32_t newest(const struct fx_wait *w)
{
	struct fx_source s = {.tid = 0};
	bool any;

	return fx_token_newest(w, 1, &s, &any) ? s.tid : 0;
}

/* A reader's release that goes on. */
static struct fx_token *place(const struct fx_wait *w, uint32_t tid, uint64_t *who)
{
	struct fx_source s = source(tid, tid * 100);
	struct fx_token *t = fx_token_place(w->cell, 1);

	cr_assert(t);
	*who = fx_token_set(t, &s, false);
	return t;
}

/* The newest whose release goes on; if all are over, the newest. */
Test(waits, the_last_of_several)
{
	struct fx_token *a, *b;
	uint64_t who_a, who;
	struct fx_wait w;

	fx_wait_begin(&w, objects, SP(1000));
	cr_assert_eq(newest(&w), 0);
	a = place(&w, 1, &who_a);
	b = place(&w, 2, &who);
	cr_assert_eq(newest(&w), 2);
	fx_token_done(w.cell, b, who);
	cr_assert_eq(newest(&w), 1);
	for (int i = 0; i < 20; i++) {
		b = place(&w, 3, &who);
		fx_token_done(w.cell, b, who);
	}
	cr_assert_eq(newest(&w), 1, "what goes on is never overwritten");
	fx_token_done(w.cell, a, who_a);
	cr_assert_eq(newest(&w), 3);
	fx_wait_end(&w);
}

/* A reader's release that was over as a writer began to wait is not what ended the wait, if another read then. */
Test(waits, over_before_the_wait)
{
	struct fx_wait early, w, later;
	struct fx_token *a, *b;
	uint64_t who_a, who_b;
	struct fx_source s;
	bool any;

	fx_wait_begin(&early, objects, SP(1000));
	a = place(&early, 1, &who_a);
	b = place(&early, 2, &who_b);
	fx_token_done(early.cell, a, who_a);
	fx_wait_begin(&w, objects, SP(900));
	cr_assert_eq(newest(&w), 2);
	fx_token_done(w.cell, b, who_b);
	cr_assert_eq(newest(&w), 2);
	fx_wait_begin(&later, objects, SP(800));
	cr_assert_not(fx_token_newest(&later, 1, &s, &any));
	cr_assert(any);
	fx_wait_found_free(&later);
	cr_assert_eq(newest(&later), 2);
	fx_wait_end(&later);
	fx_wait_end(&w);
	fx_wait_end(&early);
}

/* What readers release takes nothing from the note of who wrote last. */
Test(waits, written)
{
	struct fx_wait_head *h = fx_wait_head(objects);

	fx_store_relaxed(&h->writer, fx_note_written(objects, 7));
	fx_note_end(h, fx_note_begin(h, objects, 8));
	cr_assert_eq(fx_wait_written(objects), 7);
	cr_assert_eq(fx_wait_written(objects + 8), 0);
	fx_release_unknown(objects);
	cr_assert_eq(fx_wait_written(objects), 0);
}

/* A signal before a waiter stood in the row is for him only if none is that came later. */
Test(waits, in_a_row)
{
	struct fx_source s = source(7, 7), t = source(8, 8);
	struct fx_wait w, visit;

	for (int both = 0; both < 2; both++) {
		fx_wait_begin(&w, objects, SP(1000));
		w.place = 5;
		cr_assert(fx_visit_begin(&visit, objects));
		fx_token_add(&visit, &s, false, 5);
		if (both)
			fx_token_add(&visit, &t, false, 6);
		fx_wait_end(&visit);
		cr_assert_eq(take(&w), both ? 8 : 7);
		fx_wait_end(&w);
	}
}

/* A handler that jumps out of waits inside waits, or stands on a stack above them. */
Test(waits, handlers)
{
	struct fx_wait outer, inner, visit;

	fx_wait_begin(&outer, objects, SP(1000));
	fx_wait_begin(&inner, objects + 8, SP(900));
	fx_wait_begin(&outer, objects + 16, SP(1000));
	cr_assert_not(fx_is_awaited(objects), "left");
	cr_assert_not(fx_is_awaited(objects + 8), "left inside that");
	fx_wait_end(&outer);

	fx_wait_begin(&outer, objects, 1000); /* below any real stack */
	cr_assert(fx_visit_begin(&visit, objects));
	fx_wait_end(&visit);
	cr_assert(fx_wait_cell(&outer),
		  "who posts on a stack of his own ends no wait of his thread");
	fx_wait_end(&outer);
	cr_assert_not(fx_is_awaited(objects));
}

/* Threads wait for few objects, all the time; no cell is left, no token comes to another object. */
#define THREADS 8u
#define ROUNDS	20000u

static void *wait_often(void *number)
{
	for (uintptr_t i = 0; i < ROUNDS; i++) {
		uintptr_t object = (i + (uintptr_t)number) % 5;
		struct fx_source s = source((uint32_t)object + 1, i + 1);
		struct fx_wait w, visit;

		fx_wait_begin(&w, objects + object * 8, UINT64_MAX);
		cr_assert(w.cell);
		cr_assert(fx_visit_begin(&visit, objects + object * 8));
		cr_assert_eq(visit.cell, w.cell);
		fx_token_add(&visit, &s, i % 3 == 0, UINT64_MAX);
		fx_wait_end(&visit);
		s.tid = 0;
		if (fx_token_take(&w, &s))
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
		cr_assert_not(is_awaited(objects + i * 8));
	}
}

/* Two begin to wait for an object at the same time: they share a cell, or who releases would not see one of them. */
static unsigned turn[2];

static void *wait_together(void *number)
{
	uintptr_t mine = (uintptr_t)number;

	for (unsigned i = 1; i < 100000; i++) {
		const char *object = objects + i % 8 * 8;
		struct fx_wait w, visit;

		__atomic_store_n(&turn[mine], i, __ATOMIC_SEQ_CST);
		for (int k = 0; k < 20000 && __atomic_load_n(&turn[!mine], __ATOMIC_SEQ_CST) < i;
		     k++)
			;
		fx_wait_begin(&w, object, UINT64_MAX);
		cr_assert(fx_visit_begin(&visit, object));
		cr_assert_eq(visit.cell, w.cell, "a second cell of one object");
		fx_wait_end(&visit);
		fx_wait_end(&w);
	}
	return NULL;
}

Test(waits, together)
{
	pthread_t t[2];

	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, wait_together, (void *)i);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < 8; i++)
		cr_assert_not(fx_is_awaited(objects + i * 8));
}

Test(waits, more_objects_than_cells)
{
	static struct fx_wait w[30000];
	static char many[30000 * 8];
	unsigned without = 0;

	for (unsigned i = 0; i < 30000; i++) {
		fx_wait_begin(&w[i], many + i * 8, SP(1000000 - i));
		without += !w[i].cell;
		if (i == 4000)
			cr_assert_eq(without, 0);
	}
	cr_assert_gt(without, 0);
	for (unsigned i = 30000; i-- > 0;)
		fx_wait_end(&w[i]);
	for (unsigned i = 0; i < FX_WAIT_HEADS; i++)
		cr_assert_eq(fx_wait_heads[i].waiting, 0);
}
