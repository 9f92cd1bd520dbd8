/* SPDX-License-Identifier: MIT */
#include "preload/hooks/no-vectors.h"

FX_NO_VECTORS_BEGIN

#include "preload/hooks/sleds.h"

#if defined(__x86_64__)

#include "preload/hooks/hooks-internal.h"

struct fx_frame *fx_sled_enter(uint64_t function, uint64_t site, uint64_t sp, uint64_t place)
{
	uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: as in hooks.c */
	struct fx_frame *used = FX_SLED_SLOWLY;
	uint64_t known, choice;

	if (!fx_hooks_are_on(state))
		return NULL;
	if (fx_unlikely(!(state & FX_CAT_FUNCTION))) {
		choice = fx_choice_of(function, state);
		if (fx_hooks_enter_is_out(state, choice))
			return NULL;
		if (!fx_hooks_enter_is_chosen(state, choice, sp))
			return FX_SLED_SLOWLY;
	}
	if (fx_likely(fx_hooks_enter_usually(state, function, sp, fx_hooks_key(site, place),
					     (uint32_t)place, &used, &known)))
		return NULL;
	return used;
}

/* What comes above a call whose record is written is the slow half's, which finds by it that it is (closing writes records, by code that
 * may use vectors). */
fx_hot bool sled_covered(struct fx_thread *t, struct fx_frame *f)
{
	if (t->top > f + 1)
		f->sp |= FX_FRAME_SILENT;
	fx_record_over(t, 0);
	return t->top <= f;
}

fx_hot bool sled_leave_newest(uint32_t unusual, uint64_t function, uint64_t sp)
{
	struct fx_thread *t = fx_self;
	struct fx_frame *f = t->top - 1;
	struct fx_hooks_ending ending;

	switch (fx_hooks_leave_newest(t, unusual, function, sp, NULL, false, &ending)) {
	case FX_LEFT:
		return true;
	case FX_LEFT_COVERED:
		return sled_covered(t, f);
	default:
		return false;
	}
}

bool fx_sled_leave(uint64_t function, uint64_t sp)
{
	uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: as in hooks.c */
	uint64_t choice;

	if (!fx_hooks_are_on(state))
		return true;
	if (fx_unlikely(!(state & FX_CAT_FUNCTION))) {
		choice = fx_choice_of(function, state);
		if (fx_hooks_leave_is_out(state, function, choice))
			return true;
		if (!fx_hooks_leave_is_chosen(state, choice))
			return false;
	}
	if (!fx_hooks_is_usual(fx_self, state))
		return false;
	if (fx_likely(fx_hooks_ends_are(fx_self, 0)))
		return sled_leave_newest(0, function, sp);
	return fx_hooks_ends_are(fx_self, FX_UNUSUAL_SHORT) &&
	       sled_leave_newest(FX_UNUSUAL_SHORT, function, sp);
}

void fx_sled_enter_slowly(uint64_t function, uint64_t site, uint64_t sp, uint64_t place,
			  struct fx_frame *used)
{
	const uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: as above */
	const uint64_t key = fx_hooks_key(site, place);

	if ((state & FX_CAT_CHOSEN) && fx_choice_of(function, state) == FX_HOOKS_COUNTED_OUT &&
	    !fx_hooks_enter_is_counted(state))
		return;
	if (used == FX_SLED_SLOWLY)
		fx_hooks_enter(function, site, sp, key);
	else
		fx_hooks_enter_again(function, site, sp, key, used);
}

void fx_sled_leave_slowly(uint64_t function, uint64_t sp)
{
	fx_hooks_leave(function, sp, NULL, false);
}

#endif

FX_NO_VECTORS_END
