/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "archives/merge-internal.h"

/* Ids of the arrows that are drawn here: those of tracers have other numbers in their upper bits. */
#define MERGE_ARROW (UINT64_C(0x3ffffe) << 41)

static bool merge_is_in_order(struct fx_merge *m, const struct fx_stream_end *from,
			      const struct fx_message *out, const struct fx_stream_end *to,
			      const struct fx_message *in)
{
	return fx_clockmap_to(&m->aligned[from->owner].map, out->ns) <=
	       fx_clockmap_to(&m->aligned[to->owner].map, in->ns);
}

/* The end of an arrow at a call that has just been written. */
static int merge_arrow(struct fx_merge *m, size_t at, const struct fx_copy_way *way,
		       enum fxt_event_type type, uint64_t number)
{
	static const char text[] = "message";
	struct fxt_record record = {.kind = FXT_KIND_EVENT, .provider = &m->provider};
	const struct fxt_event *call = &m->sources[at].next->event;
	struct fx_copy_way changed = *way;
	int r;

	changed.changed = true;
	m->provider = *m->sources[at].next->provider;
	m->provider.ticks_per_second = FX_MERGE_NS_PER_SECOND;
	record.event.type = type;
	record.event.thread = call->thread;
	fx_merge_thread(&m->apart[at], &record.event.thread);
	record.event.timestamp =
	    fx_merge_time(m, at, type == FXT_EVENT_FLOW_BEGIN ? call->timestamp : call->end_time);
	record.event.category.data = record.event.name.data = text;
	record.event.category.length = record.event.name.length = sizeof(text) - 1;
	record.event.category.ref = record.event.name.ref = FXT_STRING_INLINE | (sizeof(text) - 1);
	record.event.id = MERGE_ARROW | number;
	m->counts.arrows += type == FXT_EVENT_FLOW_END;
	r = fx_copy_record(m->copy, &record, &changed);
	return r < 0 ? r : 0;
}

/* Of each call at the other end whose last byte this one has sent. */
static int merge_sent(struct fx_merge *m, size_t at, const struct fx_copy_way *way,
		      const struct fx_stream_end *end, const struct fx_message *call,
		      uint64_t bytes)
{
	const fx_message_list *received = &end->other->calls[FX_DIRECTION_RECEIVED];
	const struct fx_message *in = fx_messages_reach(received, call->position - bytes + 1);
	int r = 0;

	for (; in && in < received->items + received->count && r == 0; in++) {
		if (in->position > call->position)
			break;
		if (fx_messages_reach(&end->calls[FX_DIRECTION_SENT], in->position)->position ==
			call->position &&
		    merge_is_in_order(m, end, call, end->other, in))
			r = merge_arrow(m, at, way, FXT_EVENT_FLOW_BEGIN,
					end->other->base + (uint64_t)(in - received->items));
	}
	return r;
}

static int merge_received(struct fx_merge *m, size_t at, const struct fx_copy_way *way,
			  const struct fx_stream_end *end, const struct fx_message *call)
{
	const fx_message_list *received = &end->calls[FX_DIRECTION_RECEIVED];
	const struct fx_message *in = fx_messages_reach(received, call->position);
	const struct fx_message *out =
	    fx_messages_reach(&end->other->calls[FX_DIRECTION_SENT], call->position);

	if (!in || !out || in->position != call->position ||
	    !merge_is_in_order(m, end->other, out, end, in))
		return 0;
	return merge_arrow(m, at, way, FXT_EVENT_FLOW_END,
			   end->base + (uint64_t)(in - received->items));
}

int fx_merge_messages(struct fx_merge *m, size_t at, const struct fx_copy_way *way)
{
	const struct fx_stream_end *end;
	struct fx_stream_call call;
	struct fx_message message;

	if (!m->aligned[at].facts.messages.ends || !fx_stream_call_read(m->sources[at].next, &call))
		return 0;
	end = fx_messages_find(&m->aligned[at].facts.messages, call.key);
	if (!end || !end->other)
		return 0;
	message = (struct fx_message){.position = call.position, .ns = call.ns};
	if (call.direction == FX_DIRECTION_RECEIVED)
		return merge_received(m, at, way, end, &message);
	return call.bytes > call.position ? 0 : merge_sent(m, at, way, end, &message, call.bytes);
}
