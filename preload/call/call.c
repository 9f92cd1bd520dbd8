/* SPDX-License-Identifier: MIT */
#include "preload/call/call.h"

#include "engine/provider/backtrace.h"
#include "preload/host/unwind.h"

_Static_assert(FX_UNWIND_MAX == FX_BACKTRACE_MAX, "frames of a stack");

fx_cold void fx_call_drop(struct fx_thread *t, struct fx_frame *frame, uint64_t start)
{
	if (frame->start == start)
		fx_frame_pop(t, frame);
}

static struct fx_backtrace take_stack(const struct fx_call *call, unsigned words)
{
	uint64_t frames[FX_UNWIND_MAX];

	if (call->end - call->start < call->thread->stack_duration)
		return (struct fx_backtrace){0};
	return fx_backtrace_string(call->thread, frames, fx_unwind(frames), words);
}

fx_cold bool fx_call_end_with_stack(struct fx_call *call, unsigned words)
{
	struct fx_thread *t = call->thread;
	struct fx_backtrace stack = {0};
	uint32_t ref;

	if (fx_call_is_on(call) && fx_call_frame_stands(call)) {
		if (words + FX_WORDS_string <= FX_CALL_WORDS_MAX)
			stack = take_stack(call, words + FX_WORDS_string);
		call->record = fx_record_reserve_for(t, words + (stack.string != 0),
						     fx_call_claim(call), &call->reservation);
	}
	if (!call->record) {
		fx_call_drop(t, call->frame, call->start);
		return false;
	}
	call->next = call->record + 2;
	ref = fx_backtrace_ref(t, &stack, &call->reservation);
	if (ref)
		fx_arg_string(call, FX_STR_stack, ref);
	return true;
}

struct fx_fd_ref fx_compact_look(int fd, uint32_t category)
{
	return fx_fd_look(fd, category);
}

bool fx_compact_begin(struct fx_call *call, uint32_t category, uint64_t header, uint64_t sp,
		      uint64_t key)
{
	return fx_call_begin(call, category, header, sp, key);
}

bool fx_compact_end(struct fx_call *call, unsigned words, int error)
{
	return fx_call_end(call, words, error);
}

void fx_compact_write(struct fx_call *call, uint64_t header)
{
	fx_call_write(call, header);
}
