/* SPDX-License-Identifier: MIT */
/*
 * The open-call stack of a thread, in shared memory: whatever ends the process, the manager sees
 * what was open and since when.
 *
 * A frame is identified by a stack address, never by counting: frames that longjmp, an exception,
 * pthread_exit or a cancelled wait has left behind are closed by whoever finds them. A wrapper's stack address
 * is its caller's stack pointer, below which nothing goes on; for functions see preload/host/caller.h.
 */
#ifndef FX_ENGINE_FRAME_H
#define FX_ENGINE_FRAME_H

#include "base/fault.h"
#include "engine/provider/engine.h"

/* The caller's stack pointer before its call instruction: the canonical frame address. (Clang takes it for the frame
 * pointer on aarch64.) */
#if defined(__clang__) && defined(__aarch64__)
#define FX_CFA() ((uint64_t)__builtin_sponentry())
#else
#define FX_CFA() ((uint64_t)__builtin_dwarf_cfa())
#endif

/* The stack address of a wrapper: below its caller's, which the caller's own frame may carry. */
#define FX_WRAPPER_SP() (FX_CFA() - 8)

/* The stack address of a frame without its mark. */
fx_hot uint64_t fx_frame_sp(const struct fx_frame *f)
{
	return f->sp & ~FX_FRAME_SILENT;
}

/* (These three are in unwound.c, which knows how records are written.) Closes every frame whose stack address is `sp` or below; none if this is a signal handler on a
 * stack of its own, which tells nothing of the thread's. */
fx_cold void fx_frame_unwind(struct fx_thread *t, uint64_t sp);

/* Closes the frames above `f`. */
fx_cold void fx_frame_unwind_above(struct fx_thread *t, struct fx_frame *f);

/* Counts a call that finds FX_FRAMES or max_depth calls open. */
fx_cold void fx_frame_too_deep(struct fx_thread *t);

/* Takes `f`, the next free frame, and fills it but for its start: the caller's next step, which publishes it. A
 * handler between two lines uses the frames above this one. */
fx_hot void fx_frame_take(struct fx_thread *t, struct fx_frame *f, uint64_t id, uint64_t sp,
			  uint64_t key)
{
	t->top = f + 1;
	FX_FAULT(frame_reserved);
	fx_barrier();
	f->id = id;
	f->sp = sp;
	f->key = key;
}

/*
 * Opens a call that begins at `now`, a reading of fx_now(), or later if calls are closed first. `id`:
 * function address or Duration Complete header of 3 words. NULL: too many are open; counted, nothing to
 * pop. 11 instructions, two tests.
 */
fx_hot struct fx_frame *fx_frame_push_at(struct fx_thread *t, uint64_t id, uint64_t sp,
					 uint64_t key, uint64_t now)
{
	struct fx_frame *f;

	if (fx_unlikely(t->top[-1].sp <= (sp | FX_FRAME_SILENT)))
		fx_frame_unwind(t, sp);
	f = t->top;
	if (fx_unlikely(f >= t->limit)) {
		fx_frame_too_deep(t);
		return NULL;
	}
	fx_frame_take(t, f, id, sp, key);
	/* Later than what was closed. The store pairs with the frame walk in drain.c. */
	fx_store_release(&f->start, fx_thread_time(t, now));
	FX_FAULT(frame_pushed);
	return f;
}

fx_hot struct fx_frame *fx_frame_push(struct fx_thread *t, uint64_t id, uint64_t sp, uint64_t key)
{
	return fx_frame_push_at(t, id, sp, key, fx_now());
}

/* Takes the newest frame off: as fx_frame_pop(). */
fx_hot void fx_frame_pop_newest(struct fx_thread *t, struct fx_frame *f)
{
	FX_FAULT(frame_pop);
	fx_store_release(&f->start, 0); /* after the record; pairs with the frame walk in drain.c */
	FX_FAULT(frame_popped);
	fx_barrier();
	t->top = f;
}

/* Takes `f` off, after its record was written: between the two a reader sees both and keeps the
 * record. Nothing happens if it was closed by someone else. */
fx_hot void fx_frame_pop(struct fx_thread *t, struct fx_frame *f)
{
	if (fx_unlikely(t->top != f + 1)) {
		fx_frame_unwind_above(t, f);
		if (t->top != f + 1)
			return;
	}
	fx_frame_pop_newest(t, f);
}

#endif
