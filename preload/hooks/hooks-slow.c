/* SPDX-License-Identifier: MIT */
/*
 * The hooks' slow halves, which can do all that there is: calls left without exit, calls inlined into
 * others, calls nested too deep, pairs of records, threads that have not recorded yet, functions without a
 * name, new chunks, slow clocks.
 */
#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "engine/provider/stash.h"
#include "preload/host/caller.h"
#include "preload/hooks/choices.h"
#include "preload/hooks/follow.h"
#include "preload/hooks/hooks-internal.h"
#include "preload/hooks/kept.h"
#include "preload/hooks/quick.h"
#include "preload/hooks/recipes.h"
#include "preload/strings.h"

/* Called by the assembly of kept.c. */
void fx_hooks_enter_kept(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			 const struct fx_kept *kept) __attribute__((used, visibility("hidden")));
void fx_hooks_enter_again_kept(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			       struct fx_frame *used, const struct fx_kept *kept)
    __attribute__((used, visibility("hidden")));
void fx_hooks_leave_kept(uint64_t function, uint64_t sp, void *site, bool tail,
			 const struct fx_kept *kept) __attribute__((used, visibility("hidden")));

/* The hook's return address. */
static uint64_t hook_place(uint64_t sp, const struct fx_kept *kept)
{
#if defined(__x86_64__)
	(void)kept;
	return *(const uint64_t *)(uintptr_t)(sp - 8); /* where its call has left it */
#else
	(void)sp;
	return kept->registers[30];
#endif
}

/* Where calls begin to be left out, the timeline says so. */
static void show_too_deep(struct fx_thread *t)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, 2, &r);

	if (!p)
		return;
	p[1] = fx_thread_now(t);
	fx_record_commit(
	    t, p, FX_EVENT_HEADER(FX_EVENT_INSTANT, 2, 0, FX_STR_function, FX_STR_too_deep), &r);
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
		show_too_deep(t);
	}
	fx_thread_deepen(t, t->deep + 1);
	fx_frame_too_deep(t);
}

/* Whether the exit at `sp` is that of a call that was left out. */
static fx_cold bool was_left_out(struct fx_thread *t, uint64_t sp, bool tail)
{
	if (t->top == t->limit && (tail ? sp <= fx_frame_sp(t->top - 1) : sp <= t->deep_sp)) {
		fx_thread_deepen(t, t->deep - 1);
		return true;
	}
	fx_thread_deepen(t, 0);
	return false;
}

/* `silent`: FX_FRAME_SILENT, or 0. */
static struct fx_frame *function_push(struct fx_thread *t, const struct fx_new_call *e,
				      uint64_t silent)
{
	struct fx_frame *f;

	for (;;) {
		if (fx_caller_look(&t->top[-1], e->key, (uint32_t)(e->key >> 32), e->sp) !=
		    e->apart)
			fx_caller_settle(t, e);
		f = t->top;
		if (fx_unlikely(e->choice == FX_CHOICE_SCOPED && !fx_scope_is_within(t)))
			return NULL;
		if (fx_unlikely(f >= t->limit)) {
			leave_out(t, e->sp);
			return NULL;
		}
		if (fx_unlikely((t->state & FX_CAT_CHOSEN) && !e->choice))
			fx_scope_enter(t, f, e->sp);
		if (fx_likely(fx_frame_take(t, f, e->function, e->sp | silent, e->key)))
			return f;
		fx_frame_take_back(t, f);
	}
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
			fx_frame_unwind_above(t, f, sp);
			return f;
		}
	}
	return NULL;
}

static fx_cold void pairs_enter(const struct fx_new_call *e)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PAIRS);
	struct fx_frame *f = t ? function_push(t, e, FX_FRAME_SILENT) : NULL;
	uint64_t now;

	if (!f)
		return;
	now = fx_thread_now(t);
	fx_store_release(&f->start, now); /* pairs with the frame walk in reader/slots.c */
	FX_FAULT(frame_pushed);
	fx_pairs_begin(t, (struct fx_open){f, now}, e->function, now);
}

static fx_cold void pairs_exit(uint64_t function, uint64_t sp, void *site, bool tail)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PAIRS | FX_LOOK_EXIT);
	struct fx_frame *f = t ? frame_search(t, function, sp, site, tail) : NULL;

	struct fx_open o;

	if (!f)
		return;
	o = (struct fx_open){f, fx_load_relaxed(&f->start)};
	if (!(f->sp & FX_FRAME_SILENT))
		fx_pairs_end(t, o, function, fx_thread_now(t));
	if (fx_open_stands(o))
		fx_frame_pop(t, f);
}

/* The arguments of a call that has a frame and has not begun. */
static void arguments_stash(struct fx_thread *t, const struct fx_frame *f,
			    const struct fx_recipes_of *of, const struct fx_new_call *e,
			    const struct fx_kept *kept)
{
	const struct fx_recipe *recipe = fx_recipe_for(of, e->place, FX_RECIPE_ARGS);
	struct fx_followed to = {.room = FX_STASH_ARGS, .most = FX_FOLLOW_ARGS};

	if (!recipe)
		return;
	to.words = fx_stash_open(t, f);
	if (!to.words)
		return;
	fx_follow(t, of, recipe, kept, &to);
	fx_stash_close(t, to.size, to.count);
	fx_quick_learn(t, of, e->function, (uint32_t)e->place, recipe, true);
}

/* Of a function that is left out, a call that stands for many. */
static void counted_stash(struct fx_thread *t, const struct fx_frame *f)
{
	uint64_t *words = fx_stash_open(t, f);

	if (!words)
		return;
	words[0] = FX_ARG_UINT32 | 1ull << 4 | (uint64_t)FX_STR_calls << 16 |
		   (uint64_t)FX_SUPPRESSED_PERIOD << 32;
	fx_stash_close(t, 1, 1);
}

/* A function is left out, but this call of it may be recorded all the same. */
static bool is_counted(struct fx_thread *t)
{
	bool due = t->skips & FX_SKIPS_DUE;

	t->skips &= ~FX_SKIPS_DUE;
	return due;
}

static void enter_slowly(struct fx_new_call *e, const struct fx_kept *kept)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_FUNCTION | FX_CAT_CHOSEN);
	struct fx_recipes_of of = {0};
	bool counted = false;
	struct fx_frame *f;
	uint64_t now;

	if (fx_unlikely(!t)) {
		if (fx_unlikely(fx_load_relaxed(&fx_control()->state) & FX_CAT_PAIRS))
			pairs_enter(e);
		return;
	}
	e->choice = fx_choice_ask(t, e->function);
	if (e->choice & FX_CHOICE_OUT) {
		counted = is_counted(t);
		if (!counted)
			return;
	} else {
		fx_recipes_find(e->function, &of);
	}
	if (fx_unlikely(of.function && (of.function->flags & FX_RECIPE_ARGS)))
		e->apart = FX_CALLER_APART;
	f = function_push(t, e, 0);
	if (fx_likely(f != NULL)) {
		if (fx_unlikely(counted))
			counted_stash(t, f);
		else if (fx_unlikely(e->apart))
			arguments_stash(t, f, &of, e, kept);
		now = fx_thread_now(t);
		fx_store_release(&f->start, now); /* pairs with the frame walk in reader/slots.c */
		if (fx_unlikely(e->apart || counted))
			fx_stash_begin(t, f, now);
	}
	FX_FAULT(frame_pushed);
}

static struct fx_new_call entry_of(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
				   const struct fx_kept *kept)
{
	return (struct fx_new_call){
	    .function = function,
	    .site = site,
	    .sp = sp,
	    .frame_pointer = kept->registers[FX_KEPT_FRAME],
	    .place = hook_place(sp, kept),
	    .key = key,
	};
}

void fx_hooks_enter_kept(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			 const struct fx_kept *kept)
{
	struct fx_new_call e = entry_of(function, site, sp, key, kept);

	enter_slowly(&e, kept);
}

void fx_hooks_enter_again_kept(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			       struct fx_frame *used, const struct fx_kept *kept)
{
	struct fx_new_call e = entry_of(function, site, sp, key, kept);

	fx_frame_take_back(fx_self, used);
	enter_slowly(&e, kept);
}

/* Writes the record of a call that ends, with what it returns if that is wanted. `tail': its stack space is gone, and so is
 * what the recipe says. */
static void leave_recording(struct fx_thread *t, struct fx_open o, uint64_t function, uint64_t sp,
			    bool tail, uint64_t end, const struct fx_kept *kept)
{
	uint64_t words[FX_STASH_RESULT];
	struct fx_followed to = {.words = words,
				 .room = FX_STASH_RESULT,
				 .most = FX_FOLLOW_ALL - fx_stash_find(t, o).count};
	const struct fx_recipe *recipe = NULL;
	struct fx_recipes_of of;

	fx_recipes_find(function, &of);
	if (fx_unlikely(of.function != NULL))
		recipe = fx_recipe_for(&of, tail ? 0 : hook_place(sp, kept), FX_RECIPE_RESULT);
	if (fx_unlikely(recipe != NULL))
		fx_follow(t, &of, recipe, kept, &to);
	fx_function_complete_with(t, o, function, end,
				  (struct fx_argument_words){words, to.size, to.count});
	/* Of an exit by a jump all places are one. */
	if (fx_unlikely(of.function != NULL) && !(tail && recipe))
		fx_quick_learn(t, &of, function, tail ? 0 : (uint32_t)hook_place(sp, kept), recipe,
			       false);
}

/* A function that is left out: if the newest call is one of it that is recorded, as it was before the program knew, or stands for
 * many, it ends. */
static void leave_counted(struct fx_thread *t, uint64_t function, uint64_t sp, void *site,
			  bool tail)
{
	struct fx_frame *f = t->top - 1;
	struct fx_open o;

	if (t->deep || !fx_hooks_match(f, function, sp, site, tail))
		return;
	o = (struct fx_open){f, fx_load_relaxed(&f->start)};
	if (!o.start)
		return; /* a handler has closed it just now */
	fx_function_complete_with(t, o, function, fx_thread_now(t), (struct fx_argument_words){0});
	if (fx_open_stands(o))
		fx_frame_pop(t, f);
}

void fx_hooks_leave_kept(uint64_t function, uint64_t sp, void *site, bool tail,
			 const struct fx_kept *kept)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_FUNCTION | FX_CAT_CHOSEN | FX_LOOK_EXIT);
	struct fx_frame *f;
	struct fx_open o;
	uint64_t end;

	if (fx_unlikely(!t)) {
		if (fx_unlikely(fx_load_relaxed(&fx_control()->state) & FX_CAT_PAIRS))
			pairs_exit(function, sp, site, tail);
		return;
	}
	if (fx_choice_ask(t, function) & FX_CHOICE_OUT) {
		leave_counted(t, function, sp, site, tail);
		return;
	}
	f = t->top - 1;
	if (fx_unlikely(t->deep || !fx_hooks_match(f, function, sp, site, tail))) {
		f = frame_search(t, function, sp, site, tail);
		if (!f)
			return;
	}
	o = (struct fx_open){f, fx_load_relaxed(&f->start)};
	if (fx_unlikely(!o.start))
		return;		/* a handler has closed it just now */
	end = fx_thread_now(t); /* after what was closed on the way */
	/* One that is silent is recorded, or counted, already: see fx_hooks_take_off(). */
	if (fx_likely(!(f->sp & FX_FRAME_SILENT))) {
		if (fx_likely(end - o.start >= t->min_duration))
			leave_recording(t, o, function, sp, tail, end, kept);
		else
			t->slot->too_short++;
	}
	if (fx_open_stands(o))
		fx_frame_pop(t, f);
}
