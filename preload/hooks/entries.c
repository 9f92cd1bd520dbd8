/* SPDX-License-Identifier: MIT */
/* The usual half. Functions get arguments in vectors, which are not saved before it. */
#include "preload/hooks/no-vectors.h"

FX_NO_VECTORS_BEGIN

#include "preload/hooks/entries.h"

#include "engine/provider/function.h"
#include "engine/provider/record.h"
#include "preload/hooks/choices.h"

bool fx_entry_record(uint64_t place)
{
	uint64_t state = fx_load_relaxed(&fx_control()->state); /* relaxed: see fx_thread_usual() */
	struct fx_thread *t;
	uint64_t s, choice, *p;

	if (fx_unlikely(!fx_load_relaxed(&fx_entry_next.mcount)))
		return false;
	if (!(state & FX_CAT_FUNCTIONS))
		return true;
	if (state & FX_CAT_CHOSEN) {
		choice = fx_choice_of(place, state);
		if (choice)
			return choice == FX_CHOICE_OUT ||
			       choice == (FX_CHOICE_OUT | FX_CHOICE_COUNTED);
	}
	t = fx_thread_usual();
	if (fx_unlikely(!t))
		return false;
	/* relaxed: a slot is one word; the record that it names was published before it */
	s = fx_load_relaxed(fx_string_slot(place));
	if (fx_unlikely(s >> FX_ADDRESS_SHIFT != place) ||
	    fx_unlikely(!fx_record_reserve_easily(t, 2, (struct fx_claim){0}, &p)))
		return false;
	p[1] = fx_thread_time(t, fx_counter());
	fx_record_publish(p, FX_HEADER_RETYPE(fx_function_header, FX_EVENT_INSTANT) | s << 48);
	fx_record_over(t, 0);
	return true;
}

FX_NO_VECTORS_END
