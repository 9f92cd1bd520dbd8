/* SPDX-License-Identifier: MIT */
/*
 * The hooks of -finstrument-functions: what happens nearly always. Whatever else there is goes to the slow
 * halves (hooks-slow.c) before anything has been done, and by a jump; so no register is saved here.
 *
 * A pair costs two counter readings, an open call of 32 bytes and a record of 24: 51 instructions in,
 * 84 out (gcc 12, x86-64). Stopped: 5 and 5.
 */
#include "preload/hooks/hooks.h"

#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "preload/host/caller.h"
#include "preload/hooks/hooks-internal.h"

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

/* Whether calls are recorded, in either way. */
fx_hot bool calls_are_on(uint64_t state)
{
	return state & (FX_CAT_FUNCTION | FX_CAT_PAIRS | FX_STATE_STOPPING);
}

/* Calls have Complete records, `t` is this thread's state, it has recorded since tracing began, the manager lives, and a look at the
 * clock is one instruction. */
fx_hot bool is_usual(const struct fx_thread *t, uint64_t state)
{
	/* owner: as in fx_thread_in() */
	return (state & FX_CAT_FUNCTION) && fx_own_is_known() && t->state == state &&
	       !(fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED) &&
	       fx_engine.clock_kind == FX_CLOCK_COUNTER;
}

/* False: nothing has happened. */
fx_hot bool enter_usually(uint64_t state, uint64_t function, uint64_t sp, uint64_t key,
			  uint32_t place)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f;

	if (fx_unlikely(!is_usual(t, state)))
		return false;
	f = t->top;
	if (fx_unlikely(!fx_caller_is_known(&f[-1], key, place, sp) || f >= t->limit))
		return false;
	fx_frame_take(t, f, function, sp, key);
	/* pairs with the frame walk in drain.c */
	fx_store_release(&f->start, fx_thread_time(t, fx_counter()));
	return true;
}

/* Writes the record, or counts the call as too short. False: nothing has happened. */
fx_hot bool complete_usually(struct fx_thread *t, uint64_t function, uint64_t start, uint64_t end)
{
	/* relaxed: as in fx_function_complete() */
	uint64_t s = fx_load_relaxed(&fx_engine.wiped->functions[fx_string_hash(function)]), *p;
	struct fx_reservation r = {.level = 0};

	if (fx_unlikely(end - start < t->min_duration)) {
		t->slot->too_short++;
		return true;
	}
	if (fx_unlikely(s >> FX_ADDRESS_SHIFT != function))
		return false;
	if (fx_unlikely(!fx_record_reserve_easily(t, 3, &p)))
		return false;
	p[1] = start;
	FX_FAULT(record_half);
	p[2] = end;
	fx_record_commit(t, p, fx_function_header | s << 48, &r);
	return true;
}

/* The newest call ends here and has its record: returns its frame, which is still open. NULL: nothing has happened. */
fx_hot struct fx_frame *leave_usually(struct fx_thread *t, uint64_t state, uint64_t function,
				      uint64_t sp, void *site, bool tail)
{
	struct fx_frame *f;

	if (fx_unlikely(!is_usual(t, state)))
		return NULL;
	f = t->top - 1;
	if (fx_unlikely(t->deep || !fx_hooks_match(f, function, sp, site, tail)))
		return NULL;
	if (fx_unlikely(!complete_usually(t, function, f->start, fx_thread_time(t, fx_counter()))))
		return NULL;
	return f;
}

fx_export void __cyg_profile_func_enter(void *function, void *site)
{
	/* relaxed: equal to the thread's, which was loaded with acquire when it was adopted; or else the slow half
	 * looks again */
	uint64_t state = fx_load_relaxed(&fx_control()->state);
	void *place;
	uint64_t key;

	if (!calls_are_on(state))
		return;
	place = __builtin_return_address(0);
	key = call_key((uint64_t)site, place);
	if (fx_unlikely(!enter_usually(state, (uint64_t)function, FX_CFA(), key,
				       (uint32_t)(uintptr_t)place)))
		fx_hooks_enter((uint64_t)function, (uint64_t)site, FX_CFA(), key);
}

fx_export void __cyg_profile_func_exit(void *function, void *site)
{
	uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: as above */
	struct fx_thread *t;
	struct fx_frame *f;
	bool tail;

	if (!calls_are_on(state))
		return;
	t = fx_self; /* not before: see fx_engine_guest_comes() */
	tail = is_tail(site, __builtin_return_address(0));
	f = leave_usually(t, state, (uint64_t)function, FX_CFA(), site, tail);
	if (fx_unlikely(!f)) {
		fx_hooks_leave((uint64_t)function, FX_CFA(), site, tail);
		return;
	}
	if (fx_unlikely(t->top != f + 1)) {
		fx_hooks_pop(t, f);
		return;
	}
	fx_frame_pop_newest(t, f);
}
