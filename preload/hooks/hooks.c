/* SPDX-License-Identifier: MIT */
/*
 * The hooks of -finstrument-functions: what happens nearly always. Whatever else there is goes to the slow
 * halves (hooks-slow.c) before anything has been done, and by a jump; so no register is saved here.
 *
 * A pair costs two counter readings, an open call of 32 bytes and a record of 24: 54 instructions in,
 * 87 out (gcc 12, x86-64; tests/preload/steps.sh counts them). Stopped: 5 and 5.
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
 * Where the call is: low half the call site, high half the place of the hook itself. A function that
 * was inlined into another has its parent's stack address and call site, but a hook of its own.
 */
fx_hot uint64_t call_key(uint64_t site, void *place)
{
	return (uint32_t)site | (uint64_t)(uintptr_t)place << 32;
}

/*
 * The hook was reached by a jump: it is the last thing that the function does, its stack space is gone,
 * and it returns to the function's own call site. Then the stack address here is the caller's.
 */
fx_hot bool is_tail(void *site, void *place)
{
	return site == place;
}

/* Whether calls are recorded, in any way. */
fx_hot bool calls_are_on(uint64_t state)
{
	return state & (FX_CAT_FUNCTIONS | FX_STATE_STOPPING);
}

/* `t` is this thread's state, it has recorded since tracing began, and the manager lives. */
fx_hot bool is_usual(const struct fx_thread *t, uint64_t state)
{
	/* owner: as in fx_thread_in() */
	return fx_own_is_known() && t->state == state &&
	       !(fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED);
}

/* False: nothing has happened, but for a frame that a handler has used in between, *ret_used: it is to be taken back.
 * *ret_known: what is known of the caller, if all else is as usual. */
fx_hot bool enter_usually(uint64_t state, uint64_t function, uint64_t sp, uint64_t key,
			  uint32_t place, struct fx_frame **ret_used, uint64_t *ret_known)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f;
	uint64_t known;

	if (fx_unlikely(!is_usual(t, state)))
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
struct ending {
	uint64_t start, end;
};

/* Whether the newest call, which `function' ends here, is too short to be recorded: it is counted, and taken off. Else *ret says when it was. */
fx_hot bool leave_is_short(struct fx_thread *t, struct fx_frame *f, struct ending *ret)
{
	ret->start = fx_load_relaxed(&f->start);
	ret->end = fx_thread_time(t, fx_counter());
	if (fx_likely(ret->end - ret->start >= t->min_duration))
		return false;
	t->slot->too_short++;
	fx_frame_done(t, f, 0);
	return true;
}

/* Writes its record, with the name of slot `s', and takes it off. False: nothing has happened. */
fx_hot bool leave_named(struct fx_thread *t, struct fx_frame *f, uint64_t s, struct ending ending)
{
	struct fx_claim claim = {.time = ending.start, .at = 1};
	uint64_t *p;

	if (fx_unlikely(!fx_record_reserve_at_hand(t, 3, claim, &p)))
		return false;
	if (fx_unlikely(!fx_open_stands((struct fx_open){f, claim.time}))) {
		fx_record_disclaim(t, p, claim, 0);
		return true;
	}
	FX_FAULT(record_half);
	p[2] = ending.end;
	fx_record_publish(p, fx_function_header | s << 48);
	fx_frame_done(t, f, 0);
	return true;
}

/* The newest call ends here: writes its record, or counts it as too short, and takes it off. False: nothing has
 * happened; *ret_unnamed: all is as usual but that the function's name is not known, as of all of which something is wanted. The
 * steps are those of unwound.c. */
fx_hot bool leave_usually(struct fx_thread *t, uint64_t function, uint64_t sp, void *site,
			  bool tail, bool *ret_unnamed)
{
	struct fx_frame *f = t->top - 1;
	struct ending ending = {0};
	uint64_t s;

	if (fx_unlikely((t->unusual | t->busy[0]) != 0))
		return false;
	if (fx_unlikely(!fx_hooks_match(f, function, sp, site, tail)))
		return false;
	/* relaxed: a slot is one word; the record that it names was published before it. (Before the clock is read: so there is
	 * less to do between this reading and the next call's.) */
	s = fx_load_relaxed(&fx_engine.wiped->functions[fx_string_hash(function)]);
	if (fx_unlikely(s >> FX_ADDRESS_SHIFT != function)) {
		*ret_unnamed = true;
		return false;
	}
	return leave_is_short(t, f, &ending) || leave_named(t, f, s, ending);
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

#if defined(__x86_64__)
/* The end of one, when its record is to be written by more than is at hand. */
static APART void leave_unplaced(uint64_t function, uint64_t sp, void *site, void *place,
				 struct ending e)
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

/* The chunk at hand is full, so its record is written as any other's. */
static fx_cold void leave_placed_anew(struct fx_open o, uint64_t end)
{
	struct fx_thread *t = fx_self;

	fx_function_complete(t, o, o.frame->id, end);
	if (fx_open_stands(o)) /* it is lost */
		fx_frame_pop(t, o.frame);
}

/* Writes the record of a call whose place on the stash has all that is wanted of it, and takes it off. */
fx_hot void leave_placed(struct fx_frame *f, const struct fx_stash_place *e, uint64_t header,
			 struct ending end)
{
	struct fx_thread *t = fx_self;
	struct fx_claim claim = {.time = end.start, .at = 1};
	uint64_t words = header >> 4 & 0xfff, *p, *to;

	if (fx_unlikely(!fx_record_reserve_at_hand(t, (unsigned)words, claim, &p))) {
		leave_placed_anew((struct fx_open){f, end.start}, end.end);
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
	struct ending ending = {0};

	if (fx_unlikely(leave_is_short(t, f, &ending)))
		return;
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

#define COUNTED_OUT (FX_CHOICE_OUT | FX_CHOICE_COUNTED)

/* A function that is left out and counted is entered: whether it is just counted. (Whether the manager lives is asked where one is not.) */
fx_hot bool enter_is_counted_out(uint64_t state)
{
	struct fx_thread *t = fx_self;

	return fx_own_is_known() && t->state == state && fx_choice_skips(t);
}

/* One is left: the newest call that is recorded is none of it. */
fx_hot bool leave_is_counted_out(uint64_t state, uint64_t function)
{
	const struct fx_thread *t = fx_self;

	return fx_own_is_known() && t->state == state && t->top[-1].id != function;
}

/* The same in full. A function that is left out and counted is entered: whether that is to be recorded. */
fx_hot bool enter_is_counted(uint64_t state)
{
	struct fx_thread *t = fx_self;

	return is_usual(t, state) && fx_choice_is_due(t);
}

/* One is left: whether that call is recorded. */
fx_hot bool leave_is_counted(uint64_t state, uint64_t function, uint64_t sp, void *site, bool tail)
{
	const struct fx_thread *t = fx_self;

	return is_usual(t, state) && fx_hooks_match(t->top - 1, function, sp, site, tail);
}

/* A call of a scoped function begins: whether it is just left out. */
fx_hot bool enter_is_outside(uint64_t state)
{
	const struct fx_thread *t = fx_self;

	return fx_own_is_known() && t->state == state && !fx_scope_is_within(t);
}

/* One ends: the same. The newest call may be one of it, recorded before this state. */
fx_hot bool leave_is_outside(uint64_t state, uint64_t function)
{
	return enter_is_outside(state) && fx_self->top[-1].id != function;
}

/* A call of any other begins, which opens a scope. */
fx_hot bool enter_opens(uint64_t state, uint64_t sp)
{
	struct fx_thread *t = fx_self;

	if (fx_unlikely(!is_usual(t, state)))
		return false;
	fx_scope_enter(t, t->top, sp);
	return true;
}

/* In other states than that in which all calls have Complete records; `choice': of a function that is not just left out, or of
 * which nobody knows that as yet. */
static APART void enter_otherwise(uint64_t function, uint64_t site, uint64_t sp, uint64_t key,
				  uint64_t state, uint64_t choice)
{
	struct fx_frame *used = NULL;
	uint64_t known = 0;

	if (choice == COUNTED_OUT && fx_likely(!enter_is_counted(state)))
		return;
	if (fx_likely((state & FX_CAT_CHOSEN) &&
		      (choice == FX_CHOICE_SCOPED || (choice == 0 && enter_opens(state, sp)))) &&
	    fx_likely(
		enter_usually(state, function, sp, key, (uint32_t)(key >> 32), &used, &known)))
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
	bool tail = is_tail(site, place);
	bool unnamed = false;

	if (choice == COUNTED_OUT && fx_likely(!leave_is_counted(state, function, sp, site, tail)))
		return;
	if (fx_likely((state & FX_CAT_CHOSEN) && (choice == 0 || choice == FX_CHOICE_SCOPED)) &&
	    fx_likely(is_usual(fx_self, state)) &&
	    fx_likely(leave_usually(fx_self, function, sp, site, tail, &unnamed)))
		return;
	if (unnamed)
		leave_apart(function, sp, site, place);
	else
		fx_hooks_leave(function, sp, site, tail);
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

	if (!calls_are_on(state))
		return;
	if (fx_unlikely(!(state & FX_CAT_FUNCTION))) {
		choice = fx_choice_of((uint64_t)function, state);
		/* Of one that is left out nothing is done but to see that. */
		if (choice == FX_CHOICE_SCOPED && fx_likely(enter_is_outside(state)))
			return;
		if (choice == COUNTED_OUT && fx_likely(enter_is_counted_out(state)))
			return;
		if (fx_unlikely(choice != FX_CHOICE_OUT))
			enter_otherwise((uint64_t)function, (uint64_t)site, FX_CFA(),
					call_key((uint64_t)site, __builtin_return_address(0)),
					state, choice);
		return;
	}
	place = __builtin_return_address(0);
	key = call_key((uint64_t)site, place);
	if (fx_likely(enter_usually(state, (uint64_t)function, FX_CFA(), key,
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
	bool unnamed = false;
	struct fx_thread *t;
	uint64_t choice;
	void *place;
	bool tail;

	if (!calls_are_on(state))
		return;
	if (fx_unlikely(!(state & FX_CAT_FUNCTION))) {
		choice = fx_choice_of((uint64_t)function, state);
		if (choice == FX_CHOICE_SCOPED &&
		    fx_likely(leave_is_outside(state, (uint64_t)function)))
			return;
		if (choice == COUNTED_OUT &&
		    fx_likely(leave_is_counted_out(state, (uint64_t)function)))
			return;
		if (fx_unlikely(choice != FX_CHOICE_OUT))
			leave_otherwise((uint64_t)function, FX_CFA(), site,
					__builtin_return_address(0), state, choice);
		return;
	}
	place = __builtin_return_address(0);
	tail = is_tail(site, place);
	t = fx_self; /* if it is one; not read before: see fx_engine_guest_comes() */
	if (fx_likely(is_usual(t, state)) &&
	    fx_likely(leave_usually(t, (uint64_t)function, FX_CFA(), site, tail, &unnamed)))
		return;
	if (unnamed)
		leave_apart((uint64_t)function, FX_CFA(), site, place);
	else
		fx_hooks_leave((uint64_t)function, FX_CFA(), site, tail);
}

const struct fxtrace_calls __fxtrace_calls __attribute__((visibility("default"))) = {
    .enter = __cyg_profile_func_enter,
    .leave = __cyg_profile_func_exit,
};
