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

static bool frame_is_scope(const struct fx_frame *f)
{
	return f->id && !(f->id >> 48) && fx_recipes_choose(f->id) != FX_RECIPES_SCOPED;
}

/* In which of the open calls of the thread that adopts a state others are recorded. */
static void scope_look(struct fx_thread *t)
{
	struct fx_frame *f = &t->slot->frames[1];

	while (f < t->top && !frame_is_scope(f))
		f++;
	if (f >= t->top)
		f = t->slot->frames + FX_FRAMES; /* nothing lies in that */
	else
		t->scope_sp = f->sp;
	t->scope = f;
}

void fx_choices_look(void)
{
	if (fx_recipes_look()) {
		/* relaxed: what it leads to is code */
		fx_store_relaxed(&fx_caller_leaves_out, fx_recipes_leave_out);
		fx_callers_renew();
		if (fx_load_relaxed(&fx_control()->state) & FX_CAT_CHOSEN)
			choices_forget();
	}
	scope_look(fx_self);
}

static uint64_t choice_ask(const struct fx_thread *t, uint64_t place, uint64_t function)
{
	static const uint64_t marks[] = {
	    [FX_RECIPES_IN] = 0,
	    [FX_RECIPES_OUT] = FX_CHOICE_OUT,
	    [FX_RECIPES_COUNTED] = FX_CHOICE_OUT | FX_CHOICE_COUNTED,
	    [FX_RECIPES_SCOPED] = FX_CHOICE_SCOPED,
	};
	uint64_t mark;

	if (fx_likely(!(t->state & FX_CAT_CHOSEN)))
		return 0;
	mark = marks[fx_recipes_choose(function)];
	/* Instants lie in no calls. */
	if (place != function && mark == FX_CHOICE_SCOPED)
		mark = 0;
	fx_store_relaxed(&fx_choices[fx_choice_slot(place)],
			 fx_choice_word(place, t->state) ^ mark);
	return mark;
}

uint64_t fx_choice_ask(const struct fx_thread *t, uint64_t function)
{
	return choice_ask(t, function, function);
}

bool fx_choice_is_out_at(const struct fx_thread *t, uint64_t place, uint64_t function)
{
	return choice_ask(t, place, function) & FX_CHOICE_OUT;
}

_Static_assert(FX_SUPPRESSED_PERIOD * 3 / 2 <= FX_SKIPS_CALLS, "as many as may be drawn");

/* The next of the sequence, from 0 to a period less one; its period is that of its 20 bits. */
static uint32_t draw(uint32_t *sequence)
{
	*sequence =
	    (*sequence * UINT32_C(1664525) + UINT32_C(1013904223)) & (UINT32_MAX >> FX_SKIPS_DRAWN);
	return (*sequence >> 6) % FX_SUPPRESSED_PERIOD;
}

/* From half a period to one and a half, evenly: what a program does in turns is met at all of its steps. The first of a
 * thread's is one of a period's, any of them. */
bool fx_choice_draw(struct fx_thread *t)
{
	uint32_t sequence = t->skips >> FX_SKIPS_DRAWN, calls = t->skips & FX_SKIPS_CALLS;
	bool due;

	if (!calls) {
		sequence = t->tid;
		draw(&sequence);
		calls = draw(&sequence) + 1;
	}
	due = calls == 1;
	calls = due ? FX_SUPPRESSED_PERIOD / 2 + draw(&sequence) : calls - 1;
	t->skips = sequence << FX_SKIPS_DRAWN | (due ? FX_SKIPS_DUE : 0) | calls;
	return due;
}
