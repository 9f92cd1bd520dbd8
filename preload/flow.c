/* SPDX-License-Identifier: MIT */
#include "preload/flow.h"

#include "preload/call.h"
#include "preload/handoff.h"

#define INSTANT_WORDS 2
#define FLOW_WORDS    3

static uint64_t flow_header(enum fx_event_type type, unsigned category, unsigned name)
{
	return FX_EVENT_HEADER(type, FLOW_WORDS, 0, category, name);
}

static bool instant_with_flow(struct fx_thread *t, enum fx_event_type type, unsigned category,
			      unsigned name, uint64_t id)
{
	uint64_t now = fx_thread_now(t);
	const uint64_t words[INSTANT_WORDS + FLOW_WORDS] = {
	    0, now, flow_header(type, category, name), now, id};

	return fx_words_write(t, words, id ? INSTANT_WORDS + FLOW_WORDS : INSTANT_WORDS,
			      FX_EVENT_HEADER(FX_EVENT_INSTANT, INSTANT_WORDS, 0, category, name));
}

uint64_t fx_flow_out(struct fx_thread *t, unsigned category, unsigned name)
{
	uint64_t id = fx_flow_id_new(t);

	return instant_with_flow(t, FX_EVENT_FLOW_BEGIN, category, name, id) ? id : 0;
}

void fx_flow_in(struct fx_thread *t, unsigned category, unsigned name, uint64_t id)
{
	instant_with_flow(t, FX_EVENT_FLOW_END, category, name, id);
}

fx_cold void fx_flow_release(struct fx_thread *t, unsigned name, unsigned arg, const void *address,
			     unsigned count)
{
	uint64_t words[3 + FX_WORDS_ptr + FX_RELEASE_MAX * FLOW_WORDS];
	struct fx_call slice = {.record = words, .next = words + 2};
	uint64_t start = fx_thread_now(t), ids[FX_RELEASE_MAX];
	unsigned slice_words;

	words[1] = start;
	fx_arg_ptr(&slice, arg, address);
	*slice.next++ = fx_thread_now(t);
	slice_words = (unsigned)(slice.next - words);
	for (unsigned i = 0; i < count; i++) {
		ids[i] = fx_flow_id_new(t);
		*slice.next++ = flow_header(FX_EVENT_FLOW_BEGIN, FX_STR_pthread, name);
		*slice.next++ = start;
		*slice.next++ = ids[i];
	}
	if (!fx_words_write(
		t, words, (unsigned)(slice.next - words),
		FX_EVENT_HEADER(FX_EVENT_COMPLETE, slice_words, slice.nargs, FX_STR_pthread, name)))
		return;
	for (unsigned i = 0; i < count; i++)
		fx_handoff_put((uint64_t)(uintptr_t)address, ids[i], start);
}
