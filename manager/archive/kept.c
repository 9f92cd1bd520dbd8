/* SPDX-License-Identifier: MIT */
#include "manager/archive/kept.h"

#include <stdlib.h>

#include "format/validate.h"

/* Arrows whose begin was left out, as far as they are remembered: the end of any further one stays. */
#define FLOWS_MAX 65536u

void fx_kept_begin(struct fx_stream *s, uint64_t ticks)
{
	uint64_t end;

	if (!s->shared->last_ns)
		return;
	end = fx_timebase_ns(&s->shared->timebase, ticks);
	s->floor = end > s->shared->last_ns ? end - s->shared->last_ns : 0;
}

/* When it was over, in ticks; 0: it is no event. */
static uint64_t event_end_of(const uint64_t *words, size_t size)
{
	if (FXT_GET(words[0], RECORD_TYPE) != FXT_RECORD_EVENT)
		return 0;
	return FXT_GET(words[0], EVENT_TYPE) == FXT_EVENT_DURATION_COMPLETE ? words[size - 1]
									    : words[1];
}

static uint64_t first_event_end(const uint64_t *words, size_t count)
{
	while (count) {
		int64_t size = fx_record_check(words, count);
		uint64_t end = 0;

		/* Of virtual threads times say nothing of when they were written. */
		if (size > 0 && FXT_GET(words[0], EVENT_THREAD) != FXT_THREAD_INLINE)
			end = event_end_of(words, (size_t)size);

		if (size <= 0 || end)
			return end;
		words += size;
		count -= (size_t)size;
	}
	return 0;
}

void fx_kept_note(struct fx_stream *s, struct fx_stream_chunk *c, const uint64_t *words,
		  size_t count)
{
	struct fx_stream_thread *t = c->thread;

	if (!t || t->kept_from)
		return;
	t->kept_from = fx_stream_ns(s, first_event_end(words, count));
	if (!t->kept_whole && t->kept_from > s->kept_from)
		s->kept_from = t->kept_from;
}

/* --- What lies before -------------------------------------------------------------------------- */

static struct fx_kept_flow *flow_find(const struct fx_stream *s, uint64_t id)
{
	struct fx_kept_flow *flow;

	HASH_FIND(hh, s->flows_out, &id, sizeof(id), flow);
	return flow;
}

/* The begin of an arrow lies before. Without memory its end stays. */
static void flow_leave_out(struct fx_stream *s, uint64_t id)
{
	struct fx_kept_flow *flow;

	if (flow_find(s, id) || HASH_COUNT(s->flows_out) >= FLOWS_MAX)
		return;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return;
	flow->id = id;
	HASH_ADD(hh, s->flows_out, id, sizeof(flow->id), flow);
	if (flow->lost)
		free(flow);
}

/* Whether the arrow's begin lies before; with its end, nothing more comes of it. */
static bool flow_is_out(struct fx_stream *s, uint64_t id, bool is_end)
{
	struct fx_kept_flow *flow = flow_find(s, id);

	if (flow && is_end) {
		HASH_DEL(s->flows_out, flow);
		free(flow);
	}
	return flow != NULL;
}

static bool event_is_out(struct fx_rewriting *w, bool before)
{
	uint64_t id = w->words[w->size - 1];

	switch (FXT_GET(w->words[0], EVENT_TYPE)) {
	case FXT_EVENT_INSTANT:
	case FXT_EVENT_COUNTER:
	case FXT_EVENT_DURATION_COMPLETE:
		return before;
	case FXT_EVENT_FLOW_BEGIN:
		if (before)
			flow_leave_out(w->s, id);
		return before;
	case FXT_EVENT_FLOW_STEP:
		return flow_is_out(w->s, id, false);
	case FXT_EVENT_FLOW_END:
		return flow_is_out(w->s, id, true);
	}
	return false;
}

bool fx_kept_leaves_out(struct fx_rewriting *w)
{
	struct fx_stream *s = w->s;
	bool is_log = FXT_GET(w->words[0], RECORD_TYPE) == FXT_RECORD_LOG, out;
	uint64_t end;

	if (!s->floor || !w->chunk)
		return false;
	end = is_log ? w->words[1] : event_end_of(w->words, w->size);
	out = fx_stream_ns(s, end) < s->floor;
	if (!is_log)
		out = event_is_out(w, out);
	s->counts.older += out;
	return out;
}

uint64_t fx_kept_since(const struct fx_stream *s)
{
	return s->kept_from ? s->kept_from : s->first_end;
}
