/* SPDX-License-Identifier: MIT */
#include "preload/hooks/entries.h"

#include "base/atomic.h"
#include "engine/provider/function.h"
#include "preload/hooks/choices.h"
#include "preload/host/cfi.h"
#include "preload/host/found.h"
#include "preload/host/lookup.h"
#include "preload/host/real.h"

struct fx_entry_next fx_entry_next;

/* Where libc has none, and as long as it cannot be looked for. */
static void entry_next_nothing(void)
{
}

/* (Threads that look at the same time find the same.) */
static void entry_find_next(void)
{
	void *mcount, *fentry;

	if (fx_load_relaxed(&fx_entry_next.mcount) || !fx_real_init())
		return;
	mcount = fx_lookup("_mcount", "");
	fentry = fx_lookup("__fentry__", "");
	/* relaxed, both: what they lead to is code, and a way that finds NULL goes nowhere */
	fx_store_relaxed(&fx_entry_next.fentry, fentry ? fentry : (void *)entry_next_nothing);
	fx_store_relaxed(&fx_entry_next.mcount, mcount ? mcount : (void *)entry_next_nothing);
}

/* The first address of the function that `place' lies in, by its unwind table; `place' if it has none. */
static uint64_t entry_function(uint64_t place)
{
	struct fx_cfi_code code;
	struct fx_found found;

	if (!fx_found_at(place, &found) || !found.tables ||
	    !fx_cfi_find_code(found.tables, place - 1, &code))
		return place;
	return code.start;
}

void fx_entry_record_slowly(uint64_t place)
{
	struct fx_thread *t;
	uint64_t function;

	entry_find_next();
	t = fx_thread_on(FX_CAT_FUNCTIONS);
	if (!t)
		return;
	function = entry_function(place);
	if (fx_choice_is_out_at(t, place, function))
		return;
	fx_function_instant(t, place, function, fx_thread_now(t));
}
