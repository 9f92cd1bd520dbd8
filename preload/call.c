/* SPDX-License-Identifier: MIT */
#include "preload/call.h"

fx_cold void fx_call_drop(struct fx_thread *t, struct fx_frame *frame, uint64_t start)
{
	if (frame->start == start)
		fx_frame_pop(t, frame);
}
