/* SPDX-License-Identifier: MIT */
#include "engine/frame.h"

#include "engine/function.h"
#include "engine/record.h"

/* An address is below 2^48; a header has its name reference there. */
static bool is_function(const struct fx_frame *f)
{
	return !(f->id >> 48);
}

/* The call ended some time ago, unseen; its record ends now, inside its caller. */
static void frame_close(struct fx_thread *t, struct fx_frame *f, uint64_t now)
{
	if (f->start && !(f->sp & FX_FRAME_SILENT)) {
		if (!is_function(f))
			fx_record_complete(t, f->id, f->start, now);
		else if (t->state & FX_CAT_PAIRS)
			fx_pairs_end(t, f->id, now);
		else
			fx_function_complete(t, f->id, f->start, now);
		t->slot->unwound++;
	}
	fx_store_release(&f->start, 0); /* pairs with the frame walk in drain.c */
	fx_barrier();
	t->top = f;
}

fx_cold void fx_frame_unwind(struct fx_thread *t, uint64_t sp)
{
	uint64_t now;

	if (!fx_stack_was_left(fx_frame_sp(t->top - 1), sp))
		return;
	now = fx_thread_now(t);
	while (fx_frame_sp(t->top - 1) <= sp)
		frame_close(t, t->top - 1, now);
}

fx_cold void fx_frame_unwind_above(struct fx_thread *t, struct fx_frame *f)
{
	uint64_t now = fx_thread_now(t);

	while (t->top > f + 1)
		frame_close(t, t->top - 1, now);
}

fx_cold void fx_frame_too_deep(struct fx_thread *t)
{
	t->slot->too_deep++;
}
