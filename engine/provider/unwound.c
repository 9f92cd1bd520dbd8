/* SPDX-License-Identifier: MIT */
/* Calls that were left without their exit (longjmp, exceptions): closed, and their records written. */
#include "engine/provider/chunk.h"
#include "engine/provider/frame.h"
#include "engine/provider/function.h"
#include "engine/provider/record.h"

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
		else if (t->adopted & FX_CAT_PAIRS)
			fx_pairs_end(t, f->id, now);
		else
			fx_function_complete(t, f->id, f->start, now);
		t->slot->unwound++;
	}
	fx_store_release(&f->start, 0); /* pairs with the frame walk in drain.c */
	fx_barrier();
	t->top = f;
}

/* Duration Complete events; the bits of FX_EVENT_HEADER. */
static bool is_complete(uint64_t header)
{
	return (header & 0xf) == 4 && (header >> 16 & 0xf) == FX_EVENT_COMPLETE;
}

/* No two calls of a thread begin at the same time. */
static void frame_silence(struct fx_thread *t, struct fx_frame *lowest, uint64_t start)
{
	for (struct fx_frame *f = lowest; f < t->top; f++) {
		if (f->start == start)
			f->sp |= FX_FRAME_SILENT;
	}
}

/*
 * A handler may jump away between a call's record and the end of its frame. Frames from `lowest` on whose
 * record stands in a chunk that the thread holds get no second one.
 */
static void frames_look_up(struct fx_thread *t, struct fx_frame *lowest)
{
	for (unsigned i = 0; i < FX_LEVELS; i++) {
		const struct fx_cursor *c = &t->cursor[i];

		unsigned words;

		for (const uint64_t *p = c->chunk; p && p + 1 < c->pos; p += words) {
			uint64_t header = p[0], start = p[1];

			words = header >> 4 & 0xfff;
			/* Given back for the thread, it may be another's by now. */
			if (!words || !fx_chunk_is_held(t, c))
				break;
			if (is_complete(header) && start >= lowest->start)
				frame_silence(t, lowest, start);
		}
	}
}

fx_cold void fx_frame_unwind(struct fx_thread *t, uint64_t sp)
{
	struct fx_frame *lowest = t->top;
	uint64_t now;

	if (!fx_stack_was_left(fx_frame_sp(t->top - 1), sp))
		return;
	while (fx_frame_sp(lowest - 1) <= sp)
		lowest--;
	frames_look_up(t, lowest);
	now = fx_thread_now(t);
	while (fx_frame_sp(t->top - 1) <= sp)
		frame_close(t, t->top - 1, now);
}

fx_cold void fx_frame_unwind_above(struct fx_thread *t, struct fx_frame *f)
{
	uint64_t now;

	if (t->top > f + 1)
		frames_look_up(t, f + 1);
	now = fx_thread_now(t);
	while (t->top > f + 1)
		frame_close(t, t->top - 1, now);
}

fx_cold void fx_frame_too_deep(struct fx_thread *t)
{
	t->slot->too_deep++;
}
