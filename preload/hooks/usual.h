/* SPDX-License-Identifier: MIT */
/*
 * The usual way of a call's entry and exit, as far as it needs no register to be saved: for the hooks (hooks.c), and for what
 * is reached from sleds (sleds.c). What returns false has done nothing, unless something else is said; then it is the slow half's.
 */
#ifndef FX_PRELOAD_HOOKS_USUAL_H
#define FX_PRELOAD_HOOKS_USUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "preload/host/caller.h"
#include "preload/hooks/choices.h"

/*
 * Where the call is: low half the call site, high half the place of the hook itself. A function that
 * was inlined into another has its parent's stack address and call site, but a hook of its own.
 */
fx_hot uint64_t fx_hooks_key(uint64_t site, uint64_t place)
{
	return (uint32_t)site | place << 32;
}

/* Whether calls are recorded, in any way. */
fx_hot bool fx_hooks_are_on(uint64_t state)
{
	return state & (FX_CAT_FUNCTIONS | FX_STATE_STOPPING);
}

/* `t` is this thread's state, and it has recorded since tracing began. */
fx_hot bool fx_hooks_is_known(const struct fx_thread *t, uint64_t state)
{
	return fx_own_is_known() && t->state == state;
}

/* The same, and the manager lives. (Entries do not ask: an open call without a manager is nothing, and its end asks.) */
fx_hot bool fx_hooks_is_usual(const struct fx_thread *t, uint64_t state)
{
	return fx_hooks_is_known(t, state) && !fx_manager_is_gone();
}

/* False: nothing has happened, but for a frame that a handler has used in between, *ret_used: it is to be taken back.
 * *ret_known: what is known of the caller, if all else is as usual. */
fx_hot bool fx_hooks_enter_usually(uint64_t state, uint64_t function, uint64_t sp, uint64_t key,
				   uint32_t place, struct fx_frame **ret_used, uint64_t *ret_known)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f;
	uint64_t known;

	if (fx_unlikely(!fx_hooks_is_known(t, state)))
		return false;
	f = t->top;
	known = fx_caller_look(&f[-1], key, place, sp);
	if (fx_unlikely(known != 0)) {
		*ret_known = known;
		return false;
	}
	if (fx_unlikely(f >= t->usual_limit))
		return false;
	if (fx_unlikely(!fx_frame_take(t, f, function, sp, key))) {
		*ret_used = f;
		return false;
	}
	/* pairs with the frame walk in reader/slots.c */
	fx_store_release(&f->start, fx_thread_time(t, fx_counter()));
	FX_FAULT(frame_pushed);
	return true;
}

/* A call that ends, by its times; no end: none. Handlers may close it until its record is claimed. */
struct fx_hooks_ending {
	struct fx_frame *frame;
	uint64_t start, end;
};

fx_hot struct fx_hooks_ending fx_hooks_ending_now(struct fx_thread *t, struct fx_frame *f)
{
	return (struct fx_hooks_ending){.frame = f,
					.start = fx_load_relaxed(&f->start),
					.end = fx_thread_time(t, fx_counter())};
}

/* Whether the newest call, which ends here, is too short to be recorded: it is counted. *ret says when it was. */
fx_hot bool fx_hooks_leave_is_short(struct fx_thread *t, struct fx_frame *f,
				    struct fx_hooks_ending *ret)
{
	*ret = fx_hooks_ending_now(t, f);
	if (fx_likely(ret->end - ret->start >= t->min_duration))
		return false;
	t->slot->too_short++;
	return true;
}

/* How far an end has come. */
enum fx_hooks_left {
	FX_LEFT,
	FX_LEFT_NOT,	 /* nothing has happened; */
	FX_LEFT_UNNAMED, /* nor here, and all is as usual but that the function's name is not known, as of all of which something is wanted; */
	FX_LEFT_ROOMLESS, /* it has its times, but there is no room at hand for its record; */
	FX_LEFT_COVERED, /* its record is written, or not wanted; what a handler has left open above it is to be closed first */
};

/* Takes off the call whose record is written, or not wanted. */
fx_hot enum fx_hooks_left fx_hooks_take_off(struct fx_thread *t, struct fx_frame *f)
{
	if (fx_unlikely(t->top != f + 1))
		return FX_LEFT_COVERED;
	fx_frame_done_newest(t, f, 0);
	return FX_LEFT;
}

/* Writes its record, with the name of slot `s', and takes it off. */
fx_hot enum fx_hooks_left fx_hooks_leave_named(struct fx_thread *t, struct fx_frame *f, uint64_t s,
					       struct fx_hooks_ending ending)
{
	struct fx_claim claim = {.time = ending.start, .at = 1};
	uint64_t *p;

	if (fx_unlikely(!fx_record_reserve_at_hand(t, 3, claim, &p)))
		return FX_LEFT_ROOMLESS;
	if (fx_unlikely(!fx_open_stands((struct fx_open){f, claim.time}))) {
		fx_record_disclaim(t, p, claim, 0);
		return FX_LEFT;
	}
	FX_FAULT(record_half);
	p[2] = ending.end;
	fx_record_publish(p, fx_function_header | s << 48);
	return fx_hooks_take_off(t, f);
}

/*
 * Whether `f` is the call of `function` that ends here; `tail`: the exit hook was reached by a jump, so that `sp' is the stack address
 * of the one that it returns to.
 *
 *	entry			exit				sp
 *	in the function		in the function			the same; below, after alloca
 *	in the function		by a jump from there		above, and its call site is known
 *	in its caller, where	by a jump from the rest, which	the same: that of the caller; below, if there is
 *	its beginning stands	is a function of its own	more of it on the stack by then
 */
fx_hot bool fx_hooks_match(const struct fx_frame *f, uint64_t function, uint64_t sp, void *site,
			   bool tail)
{
	/* (The mark in the lowest bit changes nothing: `sp' is even.) */
	if (f->id != function)
		return false;
	return f->sp >= sp || (tail && (uint32_t)f->key == (uint32_t)(uintptr_t)site);
}

/* Whether ends go the usual way, or, of what is `unusual' here, that which has no more to it. */
fx_hot bool fx_hooks_ends_are(const struct fx_thread *t, uint32_t unusual)
{
	return ((t->unusual ^ unusual) | t->busy[0]) == 0;
}

/* The newest call ends here, and fx_hooks_ends_are(t, unusual): writes its record, or counts it as too short, and takes it off. *ret: when
 * it was. The steps are those of unwound.c. */
fx_hot enum fx_hooks_left fx_hooks_leave_newest(struct fx_thread *t, uint32_t unusual,
						uint64_t function, uint64_t sp, void *site,
						bool tail, struct fx_hooks_ending *ret)
{
	struct fx_frame *f = t->top - 1;
	uint64_t s;

	if (fx_unlikely(!fx_hooks_match(f, function, sp, site, tail)))
		return FX_LEFT_NOT;
	/* relaxed: a slot is one word; the record that it names was published before it. (Before the clock is read: so there is
	 * less to do between this reading and the next call's.) */
	s = fx_load_relaxed(fx_string_slot(function));
	if (fx_unlikely(s >> FX_ADDRESS_SHIFT != function))
		return FX_LEFT_UNNAMED;
	if (!(unusual & FX_UNUSUAL_SHORT))
		*ret = fx_hooks_ending_now(t, f);
	else if (fx_hooks_leave_is_short(t, f, ret))
		return fx_hooks_take_off(t, f);
	return fx_hooks_leave_named(t, f, s, *ret);
}

#define FX_HOOKS_COUNTED_OUT (FX_CHOICE_OUT | FX_CHOICE_COUNTED)

/* A function that is left out and counted is entered: whether it is just counted. (Whether the manager lives is asked where one is not.) */
fx_hot bool fx_hooks_enter_is_counted_out(uint64_t state)
{
	struct fx_thread *t = fx_self;

	return fx_own_is_known() && t->state == state && fx_choice_skips(t);
}

/* In full: whether that call is to be recorded. */
fx_hot bool fx_hooks_enter_is_counted(uint64_t state)
{
	struct fx_thread *t = fx_self;

	return fx_hooks_is_usual(t, state) && fx_choice_is_due(t);
}

/* One is left: the newest call that is recorded is none of it. */
fx_hot bool fx_hooks_leave_is_counted_out(uint64_t state, uint64_t function)
{
	const struct fx_thread *t = fx_self;

	return fx_own_is_known() && t->state == state && t->top[-1].id != function;
}

/* A call of a scoped function begins: whether it is just left out. */
fx_hot bool fx_hooks_enter_is_outside(uint64_t state)
{
	const struct fx_thread *t = fx_self;

	return fx_own_is_known() && t->state == state && !fx_scope_is_within(t);
}

/* One ends: the same. The newest call may be one of it, recorded before this state. */
fx_hot bool fx_hooks_leave_is_outside(uint64_t state, uint64_t function)
{
	return fx_hooks_enter_is_outside(state) && fx_self->top[-1].id != function;
}

/* A call of any other begins, which opens a scope. */
fx_hot bool fx_hooks_enter_opens(uint64_t state, uint64_t sp)
{
	struct fx_thread *t = fx_self;

	if (fx_unlikely(!fx_hooks_is_usual(t, state)))
		return false;
	fx_scope_enter(t, t->top, sp);
	return true;
}

/* Where some functions are left out: whether a call of one of `choice' begins, ends, of which there is nothing to do but to see that. */
fx_hot bool fx_hooks_enter_is_out(uint64_t state, uint64_t choice)
{
	if (fx_likely(choice == FX_CHOICE_OUT))
		return true;
	if (choice == FX_CHOICE_SCOPED)
		return fx_likely(fx_hooks_enter_is_outside(state));
	return choice == FX_HOOKS_COUNTED_OUT && fx_likely(fx_hooks_enter_is_counted_out(state));
}

fx_hot bool fx_hooks_leave_is_out(uint64_t state, uint64_t function, uint64_t choice)
{
	if (fx_likely(choice == FX_CHOICE_OUT))
		return true;
	if (choice == FX_CHOICE_SCOPED)
		return fx_likely(fx_hooks_leave_is_outside(state, function));
	return choice == FX_HOOKS_COUNTED_OUT &&
	       fx_likely(fx_hooks_leave_is_counted_out(state, function));
}

/* The same: whether it is recorded in the usual way. */
fx_hot bool fx_hooks_enter_is_chosen(uint64_t state, uint64_t choice, uint64_t sp)
{
	return (state & FX_CAT_CHOSEN) &&
	       (choice == FX_CHOICE_SCOPED || (choice == 0 && fx_hooks_enter_opens(state, sp)));
}

fx_hot bool fx_hooks_leave_is_chosen(uint64_t state, uint64_t choice)
{
	return (state & FX_CAT_CHOSEN) && (choice == 0 || choice == FX_CHOICE_SCOPED);
}

#endif
