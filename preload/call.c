/* SPDX-License-Identifier: MIT */
#include "preload/call.h"

void fx_call_write_flow(struct fx_call *call, uint64_t header, uint64_t flow)
{
	struct fx_thread *t = call->thread;

	if (fx_likely(fx_thread_on(call->category) == t && fx_call_frame_stands(call))) {
		unsigned count;

		*call->next++ = call->end;
		call->words[1] = call->start;
		count = (unsigned)(call->next - call->words);
		header = fx_header_with(header, count, call->nargs);
		if (flow) {
			call->next[0] = FX_HEADER_FLOW_END(header);
			call->next[1] = call->end;
			call->next[2] = flow;
			count += FX_FLOW_WORDS;
		}
		fx_words_write(t, call->words, count, header);
	}
	if (fx_likely(fx_call_frame_stands(call)))
		fx_frame_pop(t, call->frame);
}
