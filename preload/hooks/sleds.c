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

bool fx_sled_leave(uint64_t function, uint64_t sp)
{
	uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: as in hooks.c */
	bool unnamed = false;
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
	return fx_hooks_is_usual(fx_self, state) &&
	       fx_hooks_leave_usually(fx_self, function, sp, NULL, false, &unnamed);
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
