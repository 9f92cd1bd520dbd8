/* SPDX-License-Identifier: MIT */
/* Arguments of open calls: found by their frames, whatever has become of others. */
#include "engine/provider/stash.h"

#include <criterion/criterion.h>

#include "tests/engine/fake_manager.h"

static struct fm_manager manager;
static struct fx_thread *t;

static void stash_begin(void)
{
	fm_start(&manager, &(struct fm_config){.size = 1u << 20, .stash = true});
	t = fx_thread_on(FX_CAT_FUNCTION);
	cr_assert_not_null(t);
}

TestSuite(stash, .init = stash_begin);

/* An open call at a stack address, with one argument word. */
static struct fx_open opened(uint64_t sp, uint64_t word)
{
	struct fx_frame *f = t->top;
	uint64_t *words, now;

	cr_assert(fx_frame_take(t, f, 0x1000, sp, 0));
	words = fx_stash_open(t, f);
	cr_assert_not_null(words);
	words[0] = word;
	fx_stash_close(t, 1, 1);
	now = fx_thread_now(t);
	fx_store_release(&f->start, now);
	fx_stash_begin(t, f, now);
	return (struct fx_open){f, now};
}

static void expect_word(struct fx_open o, uint64_t word)
{
	struct fx_argument_words found = fx_stash_find(t, o);

	cr_assert_not_null(found.words);
	cr_expect_eq(found.size, 1);
	cr_expect_eq(found.words[0], word);
}

Test(stash, inside_one_another)
{
	struct fx_open a = opened(0x9000, 1), b = opened(0x8000, 2), c = opened(0x7000, 3);

	expect_word(c, 3);
	expect_word(a, 1);
	expect_word(b, 2);
	fx_frame_pop(t, c.frame);
	fx_frame_pop(t, b.frame);
	/* What takes their frames is another call. */
	b = opened(0x8800, 4);
	expect_word(b, 4);
	expect_word(a, 1);
	fx_frame_pop(t, b.frame);
	fx_frame_pop(t, a.frame);
	cr_expect_eq(fx_stash_find(t, a = (struct fx_open){a.frame, a.start + 1}).size, 0);
}

Test(stash, calls_without)
{
	struct fx_open a = opened(0x9000, 1);
	struct fx_frame *plain = fx_frame_push(t, 0x2000, 0x8000, 0);

	cr_expect_eq(fx_stash_find(t, (struct fx_open){plain, plain->start}).size, 0);
	expect_word(a, 1);
	fx_frame_pop(t, plain);
	expect_word(a, 1);
}

Test(stash, room)
{
	struct fx_frame *f;
	unsigned count = 0;

	/* Each takes its words alone, once they are written. */
	for (uint64_t sp = 0x100000; count < 400; sp -= 0x100, count++)
		opened(sp, count);
	f = t->top;
	cr_assert(fx_frame_take(t, f, 0x1000, 0x1000, 0));
	for (; count < FX_FRAMES - 2 && fx_stash_open(t, f); count++) {
		fx_stash_close(t, FX_STASH_ARGS, 14);
		fx_store_release(&f->start, fx_thread_now(t));
		f = t->top;
		cr_assert(fx_frame_take(t, f, 0x1000, 0x1000 - count, 0));
	}
	cr_expect_lt(count, FX_FRAMES - 2, "there is an end to it");
}

/* A handler that comes before the entry is there uses its place, and is gone when that is filled. */
Test(stash, handler_in_between)
{
	struct fx_open a = opened(0x9000, 1), inner;
	struct fx_frame *f = t->top;
	uint64_t *words;

	cr_assert(fx_frame_take(t, f, 0x1000, 0x8000, 0));
	inner = opened(0x7000, 9);
	expect_word(inner, 9);
	fx_frame_pop(t, inner.frame);
	words = fx_stash_open(t, f);
	cr_assert_not_null(words);
	words[0] = 2;
	inner = opened(0x6000, 8);
	expect_word(inner, 8);
	fx_frame_pop(t, inner.frame);
	cr_expect_eq(words[0], 2);
	expect_word(a, 1);
}

Test(stash, none)
{
	struct fm_manager other;
	struct fx_frame *f;

	fm_start(&other, &(struct fm_config){.size = 1u << 20});
	t = fx_thread_on(FX_CAT_FUNCTION);
	f = t->top;
	cr_assert(fx_frame_take(t, f, 0x1000, 0x8000, 0));
	cr_expect_null(fx_stash_open(t, f));
	cr_expect_eq(fx_stash_find(t, (struct fx_open){f, 1}).size, 0);
}

/* --- In the place of a frame ------------------------------------------------------------------ */

static struct fx_open placed_call(uint64_t sp, uint64_t word)
{
	struct fx_frame *f = t->top;
	struct fx_stash_place *p = fx_stash_place(t, f);
	uint64_t now;

	cr_assert(fx_frame_take(t, f, 0x1000, sp, 0));
	p->start = 0;
	p->header = 4 | 4 << 4 | 1 << 20;
	p->args[0] = word;
	now = fx_thread_now(t);
	fx_store_release(&p->start, now);
	fx_store_release(&f->start, now);
	return (struct fx_open){f, now};
}

Test(stash, places)
{
	struct fx_open a = placed_call(0x9000, 1), b = opened(0x8000, 2),
		       c = placed_call(0x7000, 3);

	expect_word(a, 1);
	expect_word(b, 2);
	expect_word(c, 3);
	fx_frame_pop(t, c.frame);
	/* What takes its frame is another call. */
	c = opened(0x7800, 4);
	expect_word(c, 4);
	expect_word(a, 1);
}

/* What another thread's, or a broken one's, header says of more words than there are is not believed. */
Test(stash, place_too_large)
{
	struct fx_open a = placed_call(0x9000, 1);

	fx_stash_place(t, a.frame)->header = 4 | 0xfff << 4 | 1 << 20;
	cr_expect_eq(fx_stash_find(t, a).size, 0);
}
