/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "report/callprint.h"
#include "report/replay.h"

struct follow {
	struct fx_timeline names; /* of processes and threads alone: it has no events */
	const struct fx_replay_order *order;
	struct fx_callprint print;
	bool begun;
};

/* --- Threads ---------------------------------------------------------------------------------- */

static const struct fx_text *follow_text(struct follow *follow, const struct fxt_string *string)
{
	uint32_t id = fx_texts_add(follow->names.strings, string->data, string->length);

	return id ? fx_texts_get(follow->names.strings, id) : NULL;
}

static int follow_object(struct follow *follow, const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(record, "process");
	const struct fx_text *name;

	if (object->name.length == 0)
		return 0;
	name = follow_text(follow, &object->name);
	if (!name)
		return -ENOMEM;
	if (object->type == FXT_OBJECT_PROCESS) {
		struct fx_process *process = fx_timeline_process(&follow->names, object->koid);

		if (!process)
			return -ENOMEM;
		process->name = name;
	} else if (object->type == FXT_OBJECT_THREAD && owner && owner->type == FXT_ARG_KOID) {
		struct fx_thread *thread =
		    fx_timeline_thread(&follow->names, owner->koid, object->koid);

		if (!thread)
			return -ENOMEM;
		thread->name = name;
	}
	return 0;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* Which events are printed. */
static bool follow_prints(const struct follow *follow, const struct fxt_event *event)
{
	switch (event->type) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
	case FXT_EVENT_DURATION_COMPLETE:
		return true;
	case FXT_EVENT_INSTANT:
		return follow->order->instants || fx_callprint_is_loss(event);
	case FXT_EVENT_COUNTER:
		return follow->order->counters;
	default:
		return false;
	}
}

/* Patterns match whole texts, which are terminated only when they are the table's. */
static bool follow_matches(struct follow *follow, const struct fx_patterns *patterns,
			   const struct fxt_string *string)
{
	const struct fx_text *text;

	if (patterns->count == 0)
		return true;
	if (string->length == 0)
		return fx_patterns_match(patterns, "");
	text = follow_text(follow, string);
	return text && fx_patterns_match(patterns, text->data);
}

static void follow_line(struct follow *follow, const struct fxt_record *record,
			const struct fx_thread *thread)
{
	const struct fxt_event *event = &record->event;
	uint64_t ticks_per_second = record->provider->ticks_per_second;
	uint64_t ts = fxt_ticks_to_ns(event->timestamp, ticks_per_second), end = ts;
	struct fx_line *line = &follow->print.line;
	struct fx_callwho who;

	if (event->type == FXT_EVENT_DURATION_COMPLETE)
		end = fxt_ticks_to_ns(event->end_time, ticks_per_second);
	if (!follow->begun)
		follow->print.first = follow->print.last = ts;
	follow->begun = true;
	fx_callprint_who(&follow->print, thread, &who);
	fx_callprint_line(&follow->print, end, &who, 0);
	if (event->type == FXT_EVENT_DURATION_END)
		fx_line_string(line, "} ");
	else if (event->type == FXT_EVENT_INSTANT)
		fx_line_string(line, "* ");
	else if (event->type == FXT_EVENT_COUNTER)
		fx_line_string(line, "# ");
	fx_callprint_call(&follow->print, &event->name, record, NULL);
	if (event->type == FXT_EVENT_DURATION_COMPLETE && end >= ts)
		fx_callprint_result(&follow->print, record, NULL, end - ts);
	fx_line_string(line, event->type == FXT_EVENT_DURATION_BEGIN ? " {" : "");
	fx_line_end(line);
}

static int follow_event(struct follow *follow, const struct fxt_record *record)
{
	const struct fxt_event *event = &record->event;
	const struct fx_filter *filter = &follow->order->filter;
	struct fx_thread *thread;

	if (!follow_prints(follow, event))
		return 0;
	thread = fx_timeline_thread(&follow->names, event->thread.pid, event->thread.tid);
	if (!thread)
		return -ENOMEM;
	if (fx_filter_thread(filter, thread) &&
	    (fx_callprint_is_loss(event) ||
	     (follow_matches(follow, &filter->categories, &event->category) &&
	      follow_matches(follow, &filter->names, &event->name))))
		follow_line(follow, record, thread);
	return 0;
}

static int follow_all(struct follow *follow, struct fxt_reader *reader)
{
	const struct fxt_record *record;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = 0;
		if (record->kind == FXT_KIND_KERNEL_OBJECT)
			r = follow_object(follow, record);
		else if (record->kind == FXT_KIND_EVENT)
			r = follow_event(follow, record);
		if (r < 0 || ferror(follow->order->out))
			return r;
	}
	return r;
}

int fx_follow(struct fxt_reader *reader, const struct fx_replay_order *order)
{
	struct follow follow = {
	    .order = order,
	    .print = {.line = {.out = order->out, .eager = true},
		      .color = order->color,
		      .deltas = order->deltas},
	};
	int r = -ENOMEM;

	fx_runs_pool_init(&follow.names.pool);
	follow.names.strings = fx_texts_new();
	if (follow.names.strings)
		r = follow_all(&follow, reader);
	fx_timeline_close(&follow.names);
	return r;
}
