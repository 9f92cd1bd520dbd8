/* SPDX-License-Identifier: MIT */
/*
 * The hooks of -finstrument-functions: what happens nearly always. Whatever else there is goes to the slow
 * halves (hooks-slow.c) before anything has been done, and by a jump; so no register is saved here.
 *
 * A pair costs two counter readings, an open call of 32 bytes and a record of 24: 52 instructions in,
 * 71 out, 77 by a jump (gcc 12, x86-64; tests/preload/steps.sh counts them, no-operations among them). Stopped: 5 and 5.
 */
#include "preload/hooks/hooks.h"

#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "preload/host/caller.h"
#include "preload/hooks/choices.h"
#include "preload/hooks/hooks-internal.h"

/* Jumped to from where it would be in the way. */
#define APART __attribute__((noinline))

/*
 * The hook was reached by a jump: it is the last thing that the function does, its stack space is gone,
 * and it returns to the function's own call site. Then the stack address here is the caller's.
 */
fx_hot bool is_tail(void *site, void *place)
{
	return site == place;
}

/* A call of a chosen function, whose arguments are wanted. */
#if defined(__x86_64__)
static APART void enter_registers(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
				  const struct fx_quick *quick, uint64_t now)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = NULL;

	if (fx_likely(fx_hooks_quick_take(t, sp, key, quick, &f)))
		fx_hooks_begin_registers(quick, fx_stash_place(t, f), f, now);
	else if (f)
		fx_hooks_enter_again(function, site, sp, key, f);
	else
		fx_hooks_enter(function, site, sp, key);
}

fx_hot void enter_by(const struct fx_quick *quick, uint64_t function, uint64_t site, uint64_t sp,
		     uint64_t key, uint64_t now)
{
	if (fx_likely(quick->form == FX_QUICK_REGISTERS))
		enter_registers(function, site, sp, key, quick, now);
	else if (quick->form == FX_QUICK_FRAME)
		fx_hooks_enter_frame(function, site, sp, key, quick, now);
	else if (quick->form == FX_QUICK_PLAIN)
		fx_hooks_enter_plain(function, site, sp, key, quick, now);
	else
		fx_hooks_enter_quick(function, site, sp, key, quick, now);
}

static APART void enter_beside(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
			       uint64_t now)
{
	const struct fx_quick *quick =
	    fx_quick_find_beside(function, (uint32_t)(key >> 32), fx_self->state);

	if (quick)
		enter_by(quick, function, site, sp, key, now);
	else
		fx_hooks_enter(function, site, sp, key);
}

static APART void enter_apart(uint64_t function, uint64_t site, uint64_t sp, uint64_t key)
{
	uint64_t now = fx_thread_time(fx_self, fx_counter());
	const struct fx_quick *quick =
	    fx_quick_find_first(function, (uint32_t)(key >> 32), fx_self->state);

	if (fx_likely(quick != NULL))
		enter_by(quick, function, site, sp, key, now);
	else
		enter_beside(function, site, sp, key, now);
}
#else
static APART void enter_apart(uint64_t function, uint64_t site, uint64_t sp, uint64_t key)
{
	fx_hooks_enter(function, site, sp, key);
}
#endif

/* A call that is open has its times, and there is no room at hand for its record. */
static fx_cold void leave_roomless(struct fx_frame *f, uint64_t start, uint64_t end)
{
	struct fx_thread *t = fx_self;
	const struct fx_open o = {f, start};

	fx_function_complete(t, o, f->id, end);
	if (fx_open_stands(o)) /* it is lost */
		fx_frame_pop(t, f);
}

#if defined(__x86_64__)
/* The end of one, when its record is to be written by more than is at hand. */
static APART void leave_unplaced(uint64_t function, uint64_t sp, void *site, void *place,
				 struct fx_hooks_ending e)
{
	bool tail = is_tail(site, place);
	const struct fx_quick *quick =
	    fx_quick_find(function, tail ? 0 : (uint32_t)(uintptr_t)place, fx_self->state);

	if (fx_likely(quick && quick->count))
		fx_hooks_leave_quick(e.start, sp, site, tail, quick, e.end);
	else if (fx_unlikely(!quick || !fx_hooks_leave_with(quick, (struct fx_argument_words){0},
							    e.start, e.end)))
		fx_hooks_leave(function, sp, site, tail);
}

/* Writes the record of a call whose place on the stash has all that is wanted of it, and takes it off. */
fx_hot void leave_placed(struct fx_frame *f, const struct fx_stash_place *e, uint64_t header,
			 struct fx_hooks_ending end)
{
	struct fx_thread *t = fx_self;
	struct fx_claim claim = {.time = end.start, .at = 1};
	uint64_t words = header >> 4 & 0xfff, *p, *to;

	if (fx_unlikely(!fx_record_reserve_at_hand(t, (unsigned)words, claim, &p))) {
		leave_roomless(f, end.start, end.end);
		return;
	}
	if (fx_unlikely(!fx_open_stands((struct fx_open){f, claim.time}))) {
		fx_record_disclaim(t, p, claim, 0);
		return;
	}
	FX_FAULT(record_half);
	/* Two by two: the second may be where the end belongs. */
	if (fx_likely(words > 3)) {
		fx_store_relaxed(&p[2], e->args[0]);
		fx_store_relaxed(&p[3], e->args[1]);
	}
	if (fx_unlikely(words > 5)) {
		const uint64_t *from = e->args + 2;

		for (to = p + 4; to < p + words - 1; from += 2, to += 2) {
			fx_store_relaxed(&to[0], from[0]);
			fx_store_relaxed(&to[1], from[1]);
		}
	}
	p[words - 1] = end.end;
	fx_record_publish(p, header);
	fx_frame_done(t, f, 0);
}
#endif

/* Its function's name is not known: perhaps since something is wanted of it, which then stands in the call's place. */
#if defined(__x86_64__)
static APART void leave_apart(uint64_t function, uint64_t sp, void *site, void *place)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = t->top - 1;
	const struct fx_stash_place *stashed = fx_stash_place(t, f);
	struct fx_hooks_ending ending = {0};

	if (fx_unlikely(fx_hooks_leave_is_short(t, f, &ending))) {
		fx_frame_done(t, f, 0);
		return;
	}
	FX_FAULT(exit_apart);
	/* (Its frame is looked at again behind the claim.) */
	if (fx_likely(t->places && stashed->start == ending.start &&
		      (stashed->header & FX_QUICK_COMPLETE)))
		leave_placed(f, stashed, stashed->header, ending);
	else
		leave_unplaced(function, sp, site, place, ending);
}
#else
static APART void leave_apart(uint64_t function, uint64_t sp, void *site, void *place)
{
	FX_FAULT(exit_apart);
	fx_hooks_leave(function, sp, site, is_tail(site, place));
}
#endif

/* The newest call ends. (Little is looked at behind the clock, so that no register is saved.) */
fx_hot void leave_newest(struct fx_thread *t, uint32_t unusual, uint64_t function, uint64_t sp,
			 void *site, void *place)
{
	struct fx_hooks_ending ending;

	switch (
	    fx_hooks_leave_newest(t, unusual, function, sp, site, is_tail(site, place), &ending)) {
	case FX_LEFT:
		return;
	case FX_LEFT_NOT:
		fx_hooks_leave(function, sp, site, is_tail(site, place));
		return;
	case FX_LEFT_UNNAMED:
		leave_apart(function, sp, site, place);
		return;
	case FX_LEFT_ROOMLESS:
		leave_roomless(ending.frame, ending.start, ending.end);
		return;
	case FX_LEFT_COVERED:
		fx_frame_done_slow(t, ending.frame, 0);
	}
}

/* All is as usual, but that ends are not: where calls may be too short, there is no more to it. */
static APART void leave_unusually(uint64_t function, uint64_t sp, void *site, void *place)
{
	if (fx_likely(fx_hooks_ends_are(fx_self, FX_UNUSUAL_SHORT)))
		leave_newest(fx_self, FX_UNUSUAL_SHORT, function, sp, site, place);
	else
		fx_hooks_leave(function, sp, site, is_tail(site, place));
}

fx_hot void leave_call(bool is_usual, uint64_t function, uint64_t sp, void *site, void *place)
{
	if (fx_unlikely(!is_usual))
		fx_hooks_leave(function, sp, site, is_tail(site, place));
	else if (fx_unlikely(!fx_hooks_ends_are(fx_self, 0)))
		leave_unusually(function, sp, site, place);
	else
		leave_newest(fx_self, 0, function, sp, site, place);
}

/* One is left: whether that call is recorded. */
fx_hot bool leave_is_counted(uint64_t state, uint64_t function, uint64_t sp, void *site, bool tail)
{
	const struct fx_thread *t = fx_self;

	return fx_hooks_is_usual(t, state) && fx_hooks_match(t->top - 1, function, sp, site, tail);
}

/* In other states than that in which all calls have Complete records; `choice': of a function that is not just left out, or of
 * which nobody knows that as yet. */
static APART void enter_otherwise(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
				  uint64_t state, uint64_t choice)
{
	struct fx_frame *used = NULL;
	uint64_t known = 0;

	if (choice == FX_HOOKS_COUNTED_OUT && fx_likely(!fx_hooks_enter_is_counted(state)))
		return;
	if (fx_likely(fx_hooks_enter_is_chosen(state, choice, sp)) &&
	    fx_likely(fx_hooks_enter_usually(state, function, sp, key, (uint32_t)(key >> 32), &used,
					     &known)))
		return;
	if (known == FX_CALLER_APART)
		enter_apart(function, site, sp, key);
	else if (fx_unlikely(used != NULL))
		fx_hooks_enter_again(function, site, sp, key, used);
	else
		fx_hooks_enter(function, site, sp, key);
}

static APART void leave_otherwise(uint64_t function, uint64_t sp, void *site, void *place,
				  uint64_t state, uint64_t choice)
{
	if (choice == FX_HOOKS_COUNTED_OUT &&
	    fx_likely(!leave_is_counted(state, function, sp, site, is_tail(site, place))))
		return;
	leave_call(fx_likely(fx_hooks_leave_is_chosen(state, choice)) &&
		       fx_likely(fx_hooks_is_usual(fx_self, state)),
		   function, sp, site, place);
}

fx_export void __cyg_profile_func_enter(void *function, void *site)
{
	/* relaxed: equal to the thread's, which was loaded with acquire when it was adopted; or else the slow half
	 * looks again */
	uint64_t state = fx_load_relaxed(&fx_control()->state);
	struct fx_frame *used = NULL;
	uint64_t key, choice;
	uint64_t known = 0;
	void *place;

	if (!fx_hooks_are_on(state))
		return;
	if (fx_unlikely(!(state & FX_CAT_FUNCTION))) {
		choice = fx_choice_of((uint64_t)function, state);
		/* Of one that is left out nothing is done but to see that. */
		if (!fx_hooks_enter_is_out(state, choice))
			enter_otherwise(
			    (uint64_t)function, (uint64_t)site, FX_CFA(),
			    fx_hooks_key((uint64_t)site, (uint64_t)__builtin_return_address(0)),
			    state, choice);
		return;
	}
	place = __builtin_return_address(0);
	key = fx_hooks_key((uint64_t)site, (uint64_t)place);
	if (fx_likely(fx_hooks_enter_usually(state, (uint64_t)function, FX_CFA(), key,
					     (uint32_t)(uintptr_t)place, &used, &known)))
		return;
	if (known == FX_CALLER_APART)
		enter_apart((uint64_t)function, (uint64_t)site, FX_CFA(), key);
	else if (fx_unlikely(used != NULL))
		fx_hooks_enter_again((uint64_t)function, (uint64_t)site, FX_CFA(), key, used);
	else
		fx_hooks_enter((uint64_t)function, (uint64_t)site, FX_CFA(), key);
}

fx_export void __cyg_profile_func_exit(void *function, void *site)
{
	uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: as above */
	uint64_t choice;

	if (!fx_hooks_are_on(state))
		return;
	if (fx_unlikely(!(state & FX_CAT_FUNCTION))) {
		choice = fx_choice_of((uint64_t)function, state);
		if (!fx_hooks_leave_is_out(state, (uint64_t)function, choice))
			leave_otherwise((uint64_t)function, FX_CFA(), site,
					__builtin_return_address(0), state, choice);
		return;
	}
	/* (The thread's own is not read before: see fx_engine_guest_comes().) */
	leave_call(fx_likely(fx_hooks_is_usual(fx_self, state)), (uint64_t)function, FX_CFA(), site,
		   __builtin_return_address(0));
}

const struct fxtrace_calls __fxtrace_calls __attribute__((visibility("default"))) = {
    .enter = __cyg_profile_func_enter,
    .leave = __cyg_profile_func_exit,
};
