/* SPDX-License-Identifier: MIT */
/*
 * The open-call stack of a thread, in shared memory: whatever ends the process, the manager sees
 * what was open and since when.
 *
 * A frame is identified by a stack address, never by counting: frames that longjmp, an exception,
 * pthread_exit or a cancelled wait has left behind are closed by the next call that finds them. A wrapper's stack address
 * is its caller's stack pointer, below which nothing goes on; for functions see preload/host/caller.h.
 */
#ifndef FX_ENGINE_FRAME_H
#define FX_ENGINE_FRAME_H

#include "base/fault.h"
#include "engine/provider/engine.h"
#include "engine/provider/record.h"

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

/*
 * The key of a duration that the program has opened itself (preload/events/): its stack address is that of a variable, which
 * lies in its function's stack frame in any order with those of others, and above the address of the function's own call.
 */
#define FX_SCOPE_KEY UINT64_C(0x5c09e0fa5c09e0fa)

/* An open call, by its frame and its start: another one may stand there by now. */
struct fx_open {
	struct fx_frame *frame; /* NULL: none */
	uint64_t start;
};

/* Nobody has closed it, and so written its record, meanwhile. */
fx_hot bool fx_open_stands(struct fx_open o)
{
	fx_barrier(); /* it is the thread's own, but loaded anew */
	return o.frame->start == o.start;
}

/* --- Calls that were left: unwound.c, which has the table of what may interrupt what --------- */

/* Closes every frame whose stack address is `sp` or below; none if this is a signal handler on a stack of its own,
 * which tells nothing of the thread's. */
fx_cold void fx_frame_unwind(struct fx_thread *t, uint64_t sp);

/* Closes the frames above `f`. Nothing goes on at the stack address `sp` or below but the caller. */
fx_cold void fx_frame_unwind_above(struct fx_thread *t, struct fx_frame *f, uint64_t sp);

/* Counts a call that finds FX_FRAMES or max_depth calls open. */
fx_cold void fx_frame_too_deep(struct fx_thread *t);

/* fx_frame_take() has failed: the top is as if it had not been tried. */
fx_cold void fx_frame_take_back(struct fx_thread *t, struct fx_frame *f);

/* fx_frame_done() when `f` is not the newest. */
fx_cold void fx_frame_done_slow(struct fx_thread *t, struct fx_frame *f, uint32_t level);

/* Writes the Complete record of an open call, without arguments, and takes it off. False: the record is lost, and
 * counted; the call is still open. True, too, if somebody else has closed it. */
fx_cold bool fx_frame_record(struct fx_thread *t, struct fx_open o, uint64_t header, uint64_t end);

/* --- One after the other --------------------------------------------------------------------- */

/*
 * Takes `f`, the next free frame, and fills it but for its start: the caller's next step, which publishes it. False: a
 * handler has used that frame in between; see fx_frame_take_back().
 *
 * The stack address stands before the frame is below the top: from it a handler knows that the call is not over. A
 * handler before that uses this frame, and leaves another address; one behind it uses the frames above.
 */
fx_hot bool fx_frame_take(struct fx_thread *t, struct fx_frame *f, uint64_t id, uint64_t sp,
			  uint64_t key)
{
	fx_store_relaxed(&f->sp, sp);
	fx_barrier();
	t->top = f + 1;
	FX_FAULT(frame_reserved);
	fx_barrier();
	if (fx_unlikely(f->sp != sp)) /* the thread's own; loaded anew behind the barrier */
		return false;
	f->id = id;
	f->key = key;
	return true;
}

/*
 * Opens a call that begins at `now`, a reading of fx_now(), or later if calls are closed first. `id`:
 * function address or Duration Complete header of 3 words. NULL: too many are open; counted, nothing to
 * pop. 13 instructions, three tests.
 */
fx_hot struct fx_frame *fx_frame_push_at(struct fx_thread *t, uint64_t id, uint64_t sp,
					 uint64_t key, uint64_t now)
{
	struct fx_frame *f;

	for (;;) {
		if (fx_unlikely(t->top[-1].sp <= (sp | FX_FRAME_SILENT)))
			fx_frame_unwind(t, sp);
		f = t->top;
		if (fx_unlikely(f >= t->limit)) {
			fx_frame_too_deep(t);
			return NULL;
		}
		if (fx_likely(fx_frame_take(t, f, id, sp, key)))
			break;
		fx_frame_take_back(t, f);
	}
	/* Later than what was closed. The store pairs with the frame walk in reader/slots.c. */
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
	fx_store_release(&f->start,
			 0); /* after the record; pairs with the frame walk in reader/slots.c */
	FX_FAULT(frame_popped);
	fx_barrier();
	t->top = f;
}

/* Takes `f` off, which has no record. Nothing happens if it was closed by someone else. */
fx_hot void fx_frame_pop(struct fx_thread *t, struct fx_frame *f)
{
	if (fx_unlikely(t->top != f + 1)) {
		fx_frame_unwind_above(t, f, fx_frame_sp(f));
		if (t->top != f + 1)
			return;
	}
	fx_frame_pop_newest(t, f);
}

/* Takes `f` off, the newest, whose record is published in `level`: between the two a reader sees both and keeps the record. The
 * level is free only then: so code that finds the call open knows where to look for its record. */
fx_hot void fx_frame_done_newest(struct fx_thread *t, struct fx_frame *f, uint32_t level)
{
	fx_frame_pop_newest(t, f);
	fx_barrier();
	FX_FAULT(frame_over);
	fx_record_over(t, level);
}

/* The same of one that handlers may have left others above. */
fx_hot void fx_frame_done(struct fx_thread *t, struct fx_frame *f, uint32_t level)
{
	if (fx_likely(t->top == f + 1))
		fx_frame_done_newest(t, f, level);
	else
		fx_frame_done_slow(t, f, level);
}

/* Publishes the record of `f`, in whose place the claim stands, and takes the call off. */
fx_hot void fx_frame_commit(struct fx_thread *t, struct fx_frame *f, uint64_t *p, uint64_t header,
			    const struct fx_reservation *r)
{
	fx_record_publish(p, header);
	fx_frame_done(t, f, r->level);
}

#endif
