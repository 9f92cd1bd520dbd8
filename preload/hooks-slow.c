/* SPDX-License-Identifier: MIT */
/*
 * The hooks' slow halves, which can do all that there is: calls left without exit, calls inlined into
 * others, calls nested too deep, pairs of records, threads that have not recorded yet, functions without a
 * name, new chunks, slow clocks.
 */
#include "base/fault.h"
#include "engine/frame.h"
#include "engine/function.h"
#include "engine/record.h"
#include "preload/hooks-internal.h"

/* Bytes from a function's address to its hook's return address, at most. */
#define PROLOGUE_MAX 4096u

/* Frames of one stack frame: its function's, and those of functions inlined into it. */
fx_hot bool is_of(const struct fx_frame *f, uint64_t sp, uint64_t key)
{
	return fx_frame_sp(f) == sp && (uint32_t)f->key == (uint32_t)key;
}

/*
 * Whether the hook at the place in `key` is at the beginning of `function` itself, rather than in a copy
 * of it that was inlined into `outer`. Of the two addresses the one that is nearer below the place is
 * the function that the place belongs to.
 */
static bool is_entry(uint64_t function, uint64_t key, const struct fx_frame *outer)
{
	uint32_t place = (uint32_t)(key >> 32);
	uint32_t offset = place - (uint32_t)function;

	if (outer->id == function)
		return key == outer->key;
	return offset < PROLOGUE_MAX && offset < place - (uint32_t)outer->id;
}

/*
 * Closes what a new call shows to be over, when it does not lie below the newest open one: calls left
 * without exit, unless it is inlined into the newest.
 */
static __attribute__((noinline)) void frames_settle(struct fx_thread *t, uint64_t function,
						    uint64_t sp, uint64_t key)
{
	struct fx_frame *outer, *f;

	if (fx_frame_sp(t->top - 1) < sp)
		fx_frame_unwind(t, sp - 1);
	if (fx_frame_sp(t->top - 1) != sp)
		return;
	for (outer = t->top; is_of(outer - 1, sp, key); outer--)
		;
	if (outer == t->top || is_entry(function, key, outer)) {
		fx_frame_unwind(t, sp);
		return;
	}
	/* An inlined call that is made again was left before. */
	for (f = outer; f < t->top; f++) {
		if (f->key == key)
			fx_frame_unwind_above(t, f - 1);
	}
}

/*
 * A call that finds no frame. Its exit is known by its stack address: it lies below that of the first
 * call that was left out. (A caller that takes stack space after a jump back into it may go below that
 * too; its exit is then taken for one of theirs.)
 */
static fx_cold void leave_out(struct fx_thread *t, uint64_t sp)
{
	if (!t->deep || sp > t->deep_sp) {
		t->deep = 0;
		t->deep_sp = sp;
	}
	t->deep++;
	fx_frame_too_deep(t);
}

/* Whether the exit at `sp` is that of a call that was left out. */
static fx_cold bool was_left_out(struct fx_thread *t, uint64_t sp, bool tail)
{
	if (t->top == t->limit && (tail ? sp <= fx_frame_sp(t->top - 1) : sp <= t->deep_sp)) {
		t->deep--;
		return true;
	}
	t->deep = 0;
	return false;
}

fx_hot struct fx_frame *function_push(struct fx_thread *t, uint64_t function, uint64_t sp,
				      uint64_t key)
{
	struct fx_frame *f;

	if (fx_unlikely(t->top[-1].sp <= (sp | FX_FRAME_SILENT)))
		frames_settle(t, function, sp, key);
	f = t->top;
	if (fx_unlikely(f >= t->limit)) {
		leave_out(t, sp);
		return NULL;
	}
	fx_frame_take(t, f, function, sp, key);
	return f;
}

/* The frame of the call that ends; calls left without exit lie above it, and are closed. NULL: its entry
 * was not recorded. */
static fx_cold struct fx_frame *frame_search(struct fx_thread *t, uint64_t function, uint64_t sp,
					     void *site, bool tail)
{
	if (t->deep && was_left_out(t, sp, tail))
		return NULL;
	for (struct fx_frame *f = t->top - 1; f->id; f--) {
		/* A frame without start was left before it was filled. */
		if (f->start && fx_hooks_match(f, function, sp, site, tail)) {
			fx_frame_unwind_above(t, f);
			return f;
		}
	}
	return NULL;
}

static fx_cold void pairs_enter(uint64_t function, uint64_t sp, uint64_t key)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PAIRS);
	struct fx_frame *f = t ? function_push(t, function, sp, key) : NULL;
	uint64_t now;

	if (!f)
		return;
	now = fx_thread_now(t);
	if (!fx_pairs_begin(t, function, now))
		f->sp |= FX_FRAME_SILENT;
	fx_store_release(&f->start, now);
}

static fx_cold void pairs_exit(uint64_t function, uint64_t sp, void *site, bool tail)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PAIRS | FX_LOOK_EXIT);
	struct fx_frame *f = t ? frame_search(t, function, sp, site, tail) : NULL;

	if (!f)
		return;
	if (!(f->sp & FX_FRAME_SILENT))
		fx_pairs_end(t, function, fx_thread_now(t));
	fx_frame_pop(t, f);
}

void fx_hooks_enter(uint64_t function, uint64_t sp, uint64_t key)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_FUNCTION);
	struct fx_frame *f;

	if (fx_unlikely(!t)) {
		if (fx_unlikely(fx_load_relaxed(&fx_control()->state) & FX_CAT_PAIRS))
			pairs_enter(function, sp, key);
		return;
	}
	f = function_push(t, function, sp, key);
	if (fx_likely(f != NULL))
		fx_store_release(&f->start,
				 fx_thread_now(t)); /* pairs with the frame walk in drain.c */
}

void fx_hooks_leave(uint64_t function, uint64_t sp, void *site, bool tail)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_FUNCTION | FX_LOOK_EXIT);
	uint64_t start, end;
	struct fx_frame *f;

	if (fx_unlikely(!t)) {
		if (fx_unlikely(fx_load_relaxed(&fx_control()->state) & FX_CAT_PAIRS))
			pairs_exit(function, sp, site, tail);
		return;
	}
	f = t->top - 1;
	if (fx_unlikely(t->deep || !fx_hooks_match(f, function, sp, site, tail))) {
		f = frame_search(t, function, sp, site, tail);
		if (!f)
			return;
	}
	start = f->start;
	end = fx_thread_now(t); /* after what was closed on the way */
	if (fx_likely(end - start >= t->min_duration))
		fx_function_complete(t, function, start, end);
	else
		t->slot->too_short++;
	fx_frame_pop(t, f);
}

void fx_hooks_pop(struct fx_thread *t, struct fx_frame *f)
{
	fx_frame_pop(t, f);
}
