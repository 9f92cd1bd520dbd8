/* SPDX-License-Identifier: MIT */
#include "preload/hooks/choices.h"

#include "preload/host/caller.h"

uint64_t fx_choices[1u << FX_CHOICES_LOG2] FX_LARGE;

/* What was remembered may be otherwise now. (NEWS comes again: what was before the last change must not.) */
static void choices_forget(void)
{
	for (uint32_t i = 0; i < 1u << FX_CHOICES_LOG2; i++) {
		if (fx_load_relaxed(&fx_choices[i]))
			fx_store_relaxed(&fx_choices[i], 0);
	}
}

void fx_choices_look(void)
{
	if (!fx_recipes_look())
		return;
	/* relaxed: what it leads to is code */
	fx_store_relaxed(&fx_caller_leaves_out, fx_recipes_leave_out);
	fx_callers_renew();
	if (fx_load_relaxed(&fx_control()->state) & FX_CAT_CHOSEN)
		choices_forget();
}

bool fx_choice_is_out(const struct fx_thread *t, uint64_t function)
{
	bool out;

	if (fx_likely(!(t->state & FX_CAT_CHOSEN)))
		return false;
	out = fx_recipes_leave_out(function);
	fx_store_relaxed(&fx_choices[fx_choice_slot(function)],
			 fx_choice_word(function, t->state) ^ (out ? FX_CHOICE_OUT : 0));
	return out;
}
