/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "convert/utf8.h"
#include "report/section.h"
#include "report/show.h"
#include "why/past-internal.h"

static struct fx_past_collector *past_collector_of(struct fx_exporter *exporter)
{
	return (struct fx_past_collector *)exporter;
}

static void past_live(struct fx_past_collector *collector, uint64_t ts)
{
	struct fx_why_life *life = collector->life;

	if (ts < life->begin)
		life->begin = ts;
	if (ts > life->end)
		life->end = ts;
}

/* When what did not finish is taken to end. */
static uint64_t past_end_of(const struct fx_thread *thread, const struct fx_timeline *timeline,
			    uint64_t begin)
{
	uint64_t end = thread->process->end_ts;

	if (end < begin || end > timeline->last_ts)
		end = timeline->last_ts;
	return end < begin ? begin : end;
}

static uint8_t past_kind(struct fx_past_collector *collector, const struct fxt_string *category)
{
	uint32_t number = category->serial;
	size_t count = collector->kinds.count;

	if (number >= count) {
		size_t more = number + 1 - count;

		if (fx_vector_reserve(&collector->kinds, more) < 0) {
			collector->exporter.error = -ENOMEM;
			return FX_CALL_OTHER;
		}
		memset(collector->kinds.items + count, 0, more);
		collector->kinds.count += more;
	}
	if (collector->kinds.items[number] == 0)
		collector->kinds.items[number] = (uint8_t)(1 + fx_call_kind_of(category->data));
	return (uint8_t)(collector->kinds.items[number] - 1);
}

static void past_add_slice(struct fx_past_collector *collector, uint64_t begin, uint64_t end)
{
	struct fx_why_slice *slice = fx_runs_add(&collector->past->slices);

	if (slice)
		*slice = (struct fx_why_slice){begin, end, collector->thread->number};
	else
		collector->exporter.error = -ENOMEM;
}

static void past_slice_end(struct fx_exporter *exporter, const struct fx_thread *thread,
			   uint64_t ts)
{
	struct fx_past_collector *collector = past_collector_of(exporter);

	(void)thread;
	(void)ts;
	/* Empty only where memory has run out. */
	if (collector->open.count > 0)
		collector->open.count--;
}

static void past_slice_begin(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_past_collector *collector = past_collector_of(exporter);
	struct fx_open_call call = {
	    .thread = event->thread,
	    .name = event->name->serial,
	    .kind = past_kind(collector, event->category),
	};
	uint64_t end = event->end == UINT64_MAX
			   ? past_end_of(event->thread, exporter->timeline, event->ts)
			   : event->end;
	enum fx_wait_kind kind;

	collector->past->kinds |= 1u << call.kind;
	past_live(collector, event->ts);
	past_live(collector, end);
	if (collector->slice && fxt_string_equals(event->name, collector->slice))
		past_add_slice(collector, event->ts, end);
	if (!(collector->has_wait && event->ts < collector->wait.end)) {
		kind =
		    fx_waiting_of(&collector->waiting, exporter->timeline->strings, &call, event);
		if (kind != FX_WAIT_NONE && end > event->ts)
			fx_past_begin_wait(collector, event, end, kind);
	}
	fx_past_messages(collector, event);
	if ((call.kind == FX_CALL_SYSCALL || call.kind == FX_CALL_STDIO) &&
	    fx_why_parties_see(&collector->past->parties, event) < 0)
		exporter->error = -ENOMEM;
	if (fx_vector_reserve(&collector->open, 1) < 0)
		exporter->error = -ENOMEM;
	else
		collector->open.items[collector->open.count++] =
		    (struct fx_past_call){call.name, call.kind};
}

static void past_look_at_loss(struct fx_why_past *past, const struct fx_event *event)
{
	const struct fxt_string *cure = fx_event_string(event, "cure");
	int64_t count;

	if (!fxt_string_equals(event->name, "records dropped") ||
	    !fx_event_integer(event, "count", &count) || count < 0)
		return;
	past->lost += (uint64_t)count;
	if (cure && cure->length < sizeof(past->cure) &&
	    fx_utf8_is_clean(cure->data, cure->length)) {
		memcpy(past->cure, cure->data, cure->length);
		past->cure[cure->length] = 0;
	}
}

static void past_instant(struct fx_exporter *exporter, const struct fx_event *event)
{
	struct fx_past_collector *collector = past_collector_of(exporter);
	uint8_t kind = past_kind(collector, event->category);

	/* Of a loss the thread knows nothing. */
	if (fxt_string_equals(event->category, "fxtrace")) {
		past_look_at_loss(collector->past, event);
		return;
	}
	past_live(collector, event->ts);
	/* The manager tells of deaths, whatever is recorded. */
	if (!fxt_string_equals(event->name, "process exits"))
		collector->past->kinds |= 1u << kind;
	if (kind == FX_CALL_OTHER && !fxt_string_equals(event->category, "message"))
		return;
	if (kind == FX_CALL_PTHREAD && fxt_string_equals(event->name, "thread exits"))
		collector->life->exits = event->ts;
	for (size_t i = 0; i < event->link_count; i++) {
		if (event->links[i].role == FX_FLOW_FIRST)
			fx_past_arrow_begins(collector, event, event->links[i].chain);
		else
			fx_past_arrow_ends(collector, event, event->links[i].chain);
	}
}

static void past_counter(struct fx_exporter *exporter, const struct fx_event *event, uint64_t id)
{
	(void)exporter;
	(void)event;
	(void)id;
}

static void past_log(struct fx_exporter *exporter, const struct fx_event *event,
		     const struct fxt_string *message)
{
	(void)message;
	past_live(past_collector_of(exporter), event->ts);
}

const struct fx_exporter_ops fx_past_ops = {
    .slice_begin = past_slice_begin,
    .slice_end = past_slice_end,
    .instant = past_instant,
    .counter = past_counter,
    .log = past_log,
};
