/* SPDX-License-Identifier: MIT */
/*
 * The shape of every generated wrapper: what happens around a call of the real function.
 *
 *	if (!fx_category_on(category bit) ||
 *	    !fx_call_begin(&call, category bit, header, sp, first argument))
 *		return real(...);
 *	ret = real(...);
 *	if (fx_call_end(&call, most words of the record, error number or 0)) {
 *		fx_arg_KIND(&call, name, value); ...
 *		fx_result_KIND(&call, ret);
 *		fx_call_write(&call, header);
 *	}
 *
 * While the real function runs, the call is an open frame, so that a process killed inside it shows
 * it. A thread that is cancelled there unwinds through the wrapper; the frame it leaves behind is
 * closed by the next event. Nothing here sets errno: no libc function that could is called.
 */
#ifndef FX_PRELOAD_CALL_H
#define FX_PRELOAD_CALL_H

#include <errno.h>

#include "base/fault.h"
#include "engine/provider/frame.h"
#include "engine/provider/record.h"
#include "preload/show/args.h"
#include "preload/call/flow.h"
#include "preload/call/words.h"
#include "preload/strings.h"

/* What is recorded when it waits, or always: see sync.c. */
#define FX_CAT_SYNC (FX_CAT_PTHREAD | FX_CAT_PTHREAD_ALL)

/* What is recorded when it works on its buffer, or always: see stdio.h. */
#define FX_CAT_STREAM (FX_CAT_STDIO | FX_CAT_STDIO_ALL)

/* The category in which the calls of another are recorded that have no reason to be. */
#define FX_EVERY_STREAM FX_CAT_STDIO_ALL
#define FX_EVERY_LIBC	0

/* Header, start and end; the arguments have their own FX_WORDS_KIND. A record has to fit the smallest
 * chunk, behind its Thread Record. */
#define FX_CALL_WORDS	  3
#define FX_CALL_WORDS_MAX (FX_CHUNK_MIN / 8 - 3)

/* What a wrapper asks first, in three instructions. Nothing of the traced way is inlined behind it, so
 * that the wrapper goes on to the real function by a jump. */
fx_hot bool fx_category_on(uint32_t category)
{
	/* relaxed: only says whether it is worth to look closer */
	return fx_load_relaxed(&fx_control()->state) & (category | FX_STATE_STOPPING);
}

/*
 * The category's bit stays in the call: whether it is still on decides what happens at the end. The clock is
 * read before anything else that takes long: a system call begins when all before it is done. It is not
 * looked at for nothing: strict seccomp forbids that.
 */
fx_hot bool fx_call_begin(struct fx_call *call, uint32_t category, uint64_t header, uint64_t sp,
			  uint64_t key)
{
	/* relaxed: as in fx_thread_on() */
	uint64_t state = fx_load_relaxed(&fx_control()->state), now;
	struct fx_thread *t;

	if (fx_unlikely(!fx_state_has(state, category)))
		return false;
	now = fx_now();
	t = fx_thread_in(state, category);
	if (fx_unlikely(!t))
		return false;
	call->category = category;
	call->thread = t;
	call->frame = fx_frame_push_at(t, header, sp, key, now);
	if (fx_unlikely(!call->frame))
		return false;
	call->start = call->frame->start;
	return true;
}

/* The same for wrappers that are written by hand: they have not asked before. A process that has given up
 * looking at the clock (strict seccomp) records nothing, and must not look. */
fx_hot bool fx_call_try(struct fx_call *call, uint32_t category, uint64_t header, uint64_t sp,
			uint64_t key)
{
	return fx_category_on(category) && fx_call_begin(call, category, header, sp, key);
}

/* Nobody has closed the frame meanwhile: not a new start of tracing, not a handler that ran on another
 * stack and took this one's frames for calls left behind. Then the call has its record already. */
fx_hot bool fx_call_frame_stands(const struct fx_call *call)
{
	return call->frame->start == call->start;
}

/*
 * Whether the category is still being traced, by the same thread. Less than fx_thread_on() asks: a
 * thread's state is 0 as soon as it is not the one that began the call (a forked child, a thread
 * without a slot), and a record more for a manager that has died meanwhile harms nobody.
 */
fx_hot bool fx_call_is_on(const struct fx_call *call)
{
	/* relaxed: equal to the thread's, which was loaded with acquire when it was adopted */
	uint64_t state = fx_load_relaxed(&fx_control()->state);

	if (fx_likely(state == call->thread->state))
		return state & call->category;
	return fx_thread_on(call->category) == call->thread;
}

/* Whether a call is recorded for no reason of its own: `every` is the category for that. */
fx_hot bool fx_call_is_wanted(const struct fx_call *call, uint32_t every)
{
	return call->thread->adopted & every;
}

/* Slow half of fx_call_end(): there will be no record. */
fx_cold void fx_call_drop(struct fx_thread *t, struct fx_frame *frame, uint64_t start);

/* The same when calls of the category carry their stack: it is walked before the record's room is taken. */
fx_cold bool fx_call_end_with_stack(struct fx_call *call, unsigned words);

/* The real function has returned: what was left open inside it (a cancelled or jumped-over call) ends before it
 * does. */
fx_hot void fx_call_stop(struct fx_call *call)
{
	struct fx_thread *t = call->thread;

	if (fx_unlikely(t->top != call->frame + 1) && fx_call_frame_stands(call))
		fx_frame_unwind_above(t, call->frame, fx_frame_sp(call->frame));
	call->end = fx_thread_now(t);
}

/* What its record claims: see engine/provider/unwound.c. */
fx_hot struct fx_claim fx_call_claim(const struct fx_call *call)
{
	return (struct fx_claim){.time = call->start, .at = 1};
}

/* The real function has returned. True: `words` words of the buffer are the call's, until fx_call_write(). False: it
 * will have no record, and its frame is closed. */
fx_hot bool fx_call_end(struct fx_call *call, unsigned words, int error)
{
	struct fx_thread *t = call->thread;
	struct fx_reservation r = {0};

	fx_call_stop(call);
	call->error = error;
	call->nargs = 0;
	call->record = NULL;
	if (fx_unlikely(t->stacks & call->category)) {
		struct fx_call copy =
		    *call; /* so that *call, whose address goes nowhere, is registers */
		bool recorded = fx_call_end_with_stack(&copy, words);

		*call = copy;
		return recorded;
	}
	if (fx_likely(fx_call_is_on(call) && fx_call_frame_stands(call)))
		call->record = fx_record_reserve_for(t, words, fx_call_claim(call), &r);
	if (fx_unlikely(!call->record)) {
		fx_call_drop(t, call->frame, call->start);
		return false;
	}
	call->reservation = r;
	call->next = call->record + 2;
	return true;
}

/* Number of words and arguments, which the header of the open frame does not have. They fit their fields:
 * see FX_CALL_WORDS_MAX. */
fx_hot uint64_t fx_header_with(uint64_t header, uint64_t words, uint64_t nargs)
{
	return (header & ~FXT_PUT(RECORD_SIZE, UINT64_MAX)) | words << FXT_RECORD_SIZE_LSB |
	       nargs << FXT_EVENT_NARGS_LSB;
}

/* Behind the last argument: what stands after it is the end time. Returns the record's header. */
fx_hot uint64_t fx_call_finish(struct fx_call *call, uint64_t header)
{
	FX_FAULT(call_half);
	*call->next++ = call->end;
	return fx_header_with(header, (uint64_t)(call->next - call->record), call->nargs);
}

fx_hot void fx_call_publish(struct fx_call *call, uint64_t header)
{
	struct fx_thread *t = call->thread;

	fx_record_shrink(t, call->next, &call->reservation);
	fx_record_publish(call->record, header);
	if (fx_likely(fx_call_frame_stands(call)))
		fx_frame_done(t, call->frame, call->reservation.level);
	else
		fx_record_over(t, call->reservation.level);
}

/* Finishes the record, whose arguments stand, and closes the frame. */
fx_hot void fx_call_write(struct fx_call *call, uint64_t header)
{
	fx_call_publish(call, fx_call_finish(call, header));
}

/*
 * A shorter way for calls that are made often, behind fx_call_stop(). It is open to those whose record has as many
 * words as it has arguments, and to which nothing special happens; others go by fx_call_end(). The compiler knows
 * all places and counts.
 */
fx_hot bool fx_quick_end(struct fx_call *call, unsigned words)
{
	struct fx_thread *t = call->thread;
	/* relaxed: as in fx_call_is_on() */
	uint64_t state = fx_load_relaxed(&fx_control()->state);

	if (fx_unlikely(state != t->state || !(state & call->category) ||
			(t->stacks & call->category) || !fx_call_frame_stands(call)))
		return false;
	call->nargs = 0;
	return fx_likely(fx_record_reserve_easily(t, words, fx_call_claim(call), &call->record));
}

/* What fx_call_end() needs, in a call of its own: that of the short way, whose address goes nowhere, is registers. */
fx_hot struct fx_call fx_quick_leave(const struct fx_call *call)
{
	return (struct fx_call){.thread = call->thread,
				.frame = call->frame,
				.start = call->start,
				.category = call->category};
}

fx_hot void fx_quick_word(struct fx_call *call, uint64_t word)
{
	call->record[2 + call->nargs++] = word;
}

fx_hot void fx_quick_write(struct fx_call *call, uint64_t header)
{
	struct fx_thread *t = call->thread;
	const unsigned words = FX_CALL_WORDS + call->nargs;

	FX_FAULT(call_half);
	call->record[words - 1] = call->end;
	fx_record_publish(call->record, fx_header_with(header, words, call->nargs));
	if (fx_likely(fx_call_frame_stands(call)))
		fx_frame_done(t, call->frame, 0);
	else
		fx_record_over(t, 0);
}

/*
 * fx_call_write() for a call that waited for what `from` did with an object, shown as `arg`. Viewers draw an arrow from the
 * slice that began first, which is this one; so the flow ends in an instant of its own, the last thing inside the
 * call. Without a source, or with oneself, there is no arrow. FX_ARROW_WORDS come on top of the call's.
 */
fx_hot void fx_call_write_arrow(struct fx_call *call, uint64_t header, const struct fx_source *from,
				unsigned arg, const volatile void *object)
{
	const struct fx_flow_end to = {.category = (unsigned)FXT_GET(header, EVENT_CATEGORY),
				       .name = (unsigned)FXT_GET(header, EVENT_NAME),
				       .arg = arg,
				       .object = object,
				       .tells = true};

	header = fx_call_finish(call, header);
	/* not before the start: see fx_thread_now() */
	if (from->tid && from->tid != call->thread->tid)
		call->next = fx_arrow_put(call->next, call->thread, from, &to, FX_STR_wakes,
					  call->end - fx_engine.tick_step);
	fx_call_publish(call, header);
}

/* Header of a Duration Complete record without arguments, from strings by name. */
#define FX_CALL_HEADER(category, name)                                                             \
	FX_EVENT_HEADER(FX_EVENT_COMPLETE, 3, 0, FX_STR_##category, FX_STR_##name)

/* The error number of a call, by its RESULT. */
#define FX_ERROR_sys(ret)     (fx_unlikely((ret) == (__typeof__(ret))-1) ? errno : 0)
#define FX_ERROR_status(ret)  FX_ERROR_sys(ret)
#define FX_ERROR_mode(ret)    0
#define FX_ERROR_ptr(ret)     ((ret) ? 0 : errno)
#define FX_ERROR_map(ret)     ((intptr_t)(ret) == -1 ? errno : 0)
#define FX_ERROR_handler(ret) FX_ERROR_map(ret)
#define FX_ERROR_text(ret)    FX_ERROR_ptr(ret)
#define FX_ERROR_object(ret)  0
#define FX_ERROR_eai(ret)     (ret)
#define FX_ERROR_errnum(ret)  (ret)
#define FX_ERROR_value(ret)   0

#define FX_RESULT_WORDS	     (FX_WORDS_eai > 3 ? FX_WORDS_eai : 3)
#define FX_RESULT_TEXT_WORDS FX_WORDS_text

fx_hot void fx_result_sys(struct fx_call *call, int64_t ret)
{
	fx_arg_long(call, FX_STR_ret, ret);
	if (fx_unlikely(call->error))
		fx_arg_errno(call, FX_STR_errno, call->error);
}

fx_hot void fx_result_status(struct fx_call *call, int ret)
{
	fx_result_sys(call, ret);
	fx_arg_wait_status(call, FX_STR_exited, &ret, 1);
}

fx_hot void fx_result_mode(struct fx_call *call, mode_t ret)
{
	fx_arg_mode(call, FX_STR_ret, ret);
}

fx_hot void fx_result_errnum(struct fx_call *call, int ret)
{
	if (fx_unlikely(ret))
		fx_arg_errno(call, FX_STR_errno, ret);
}

fx_hot void fx_result_value(struct fx_call *call, int64_t ret)
{
	fx_arg_long(call, FX_STR_ret, ret);
}

fx_hot void fx_result_ptr(struct fx_call *call, const void *ret)
{
	fx_arg_ptr(call, FX_STR_ret, ret);
	if (fx_unlikely(call->error))
		fx_arg_errno(call, FX_STR_errno, call->error);
}

fx_hot void fx_result_map(struct fx_call *call, const void *ret)
{
	fx_result_ptr(call, ret);
}

fx_hot void fx_result_object(struct fx_call *call, const void *ret)
{
	fx_arg_ptr(call, FX_STR_ret, ret);
}

fx_hot void fx_result_handler(struct fx_call *call, fx_signal_handler ret)
{
	if (fx_unlikely(call->error))
		fx_arg_errno(call, FX_STR_errno, call->error);
	else
		fx_arg_handler(call, FX_STR_ret, ret);
}

fx_hot void fx_result_text(struct fx_call *call, const char *ret)
{
	if (fx_likely(ret != NULL))
		fx_arg_readable_text(call, FX_STR_ret, ret);
	else
		fx_arg_errno(call, FX_STR_errno, call->error);
}

fx_hot void fx_result_eai(struct fx_call *call, int ret)
{
	if (fx_unlikely(ret))
		fx_arg_eai(call, FX_STR_ret, (unsigned)ret);
}

/* The same, not inlined, for functions that are many and seldom called. */
struct fx_fd_ref fx_compact_look(int fd, uint32_t category);
bool fx_compact_begin(struct fx_call *call, uint32_t category, uint64_t header, uint64_t sp,
		      uint64_t key);
bool fx_compact_end(struct fx_call *call, unsigned words, int error);
void fx_compact_write(struct fx_call *call, uint64_t header);

#endif
