/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>

#include "convert/stepper.h"
#include "report/show.h"
#include "why/past-internal.h"

/* Waits that are remembered. */
enum { WAITS_MAX = 4000000 };

/* --- The list of waits ------------------------------------------------------------------------ */

/* Forgets the shorter waits, of all threads, until half of them are gone. */
static void past_forget(struct fx_why_past *past)
{
	size_t threads = past->timeline->threads.count;

	while (past->waits.count > WAITS_MAX / 2) {
		size_t kept = 0;

		past->shortest = past->shortest ? past->shortest * 2 : 1000;
		for (size_t t = 0; t < threads; t++) {
			struct fx_why_life *life = &past->lives[t];
			size_t first = life->first, last = first + life->count;

			if (life->count == 0)
				continue;
			life->first = kept;
			for (size_t i = first; i < last; i++) {
				const struct fx_why_wait *wait = &past->waits.items[i];

				if (wait->end - wait->begin >= past->shortest)
					past->waits.items[kept++] = *wait;
			}
			life->count = kept - life->first;
		}
		past->forgotten += past->waits.count - kept;
		past->waits.count = kept;
	}
}

void fx_past_keep_wait(struct fx_past_collector *collector)
{
	struct fx_why_past *past = collector->past;
	const struct fx_why_wait *wait = &collector->wait;

	collector->found = 0;
	if (!collector->has_wait)
		return;
	collector->has_wait = false;
	if (wait->end - wait->begin < past->shortest) {
		past->forgotten++;
		return;
	}
	if (past->waits.count == WAITS_MAX)
		past_forget(past);
	if (fx_vector_reserve(&past->waits, 1) < 0) {
		collector->exporter.error = -ENOMEM;
		return;
	}
	if (collector->life->count++ == 0)
		collector->life->first = past->waits.count;
	past->waits.items[past->waits.count++] = *wait;
	if (wait->kind == FX_WAIT_POLL)
		collector->found = collector->file;
}

/* --- What a wait is ---------------------------------------------------------------------------- */

/* A call that has waited for something until its time was up. */
static bool past_timed_out(const struct fx_event *event, enum fx_wait_kind kind)
{
	const struct fxt_string *error = fx_event_string(event, "errno");
	int64_t ret;

	if (!error)
		error = fx_event_string(event, "ret");
	if (error && fxt_string_equals(error, "ETIMEDOUT"))
		return true;
	if (kind == FX_WAIT_SIGNAL)
		return error && fxt_string_equals(error, "EAGAIN");
	if (!fx_event_integer(event, "ret", &ret))
		return false;
	return kind == FX_WAIT_POLL ? ret == 0 : ret == ETIMEDOUT && kind != FX_WAIT_PEER;
}

/* The manager ends what was open at a death or a stop, and says so. */
static bool past_is_unfinished(const struct fx_event *event)
{
	const struct fxt_arg *arg = fx_event_arg(event, "unfinished");

	return event->end == UINT64_MAX || (event->flags & FX_ENTRY_UNFINISHED) ||
	       (arg && arg->type == FXT_ARG_BOOL && arg->boolean);
}

/* The function around the calls that are open. */
static uint32_t past_caller(const struct fx_past_collector *collector)
{
	for (size_t i = collector->open.count; i-- > 0;) {
		uint8_t kind = collector->open.items[i].kind;

		if (kind == FX_CALL_FUNCTION || kind == FX_CALL_OTHER)
			return collector->open.items[i].name;
	}
	return 0;
}

/* No thread has let go on one that waits still: it is for the thread that had the lock as the wait began. */
static uint32_t past_holder(const struct fx_past_collector *collector, const struct fx_event *event)
{
	const struct fx_thread *thread;
	int64_t tid;

	if (!past_is_unfinished(event) || !fx_event_integer(event, "holder", &tid))
		return FX_WHY_NOBODY;
	thread = fx_timeline_find_thread(collector->exporter.timeline,
					 collector->thread->process->pid, (uint64_t)tid);
	return thread ? thread->number : FX_WHY_NOBODY;
}

/* The one descriptor that a poll has found, or that a call is about. */
static uint32_t past_file(const struct fx_event *event, enum fx_wait_kind kind)
{
	const struct fxt_string *file = fx_event_string(event, "file");
	int64_t count;

	if (!file ||
	    (kind == FX_WAIT_POLL && (!fx_event_integer(event, "ret", &count) || count != 1)))
		return 0;
	return file->serial;
}

void fx_past_begin_wait(struct fx_past_collector *collector, const struct fx_event *event,
			uint64_t end, enum fx_wait_kind kind)
{
	bool timed_out = past_timed_out(event, kind);

	fx_past_keep_wait(collector);
	if ((kind == FX_WAIT_LOCK || kind == FX_WAIT_CONDITION) && !past_is_unfinished(event) &&
	    fx_why_takes_see(&collector->past->takes, event, end) < 0)
		collector->exporter.error = -ENOMEM;
	collector->past->unfinished += past_is_unfinished(event);
	collector->has_wait = true;
	collector->file = past_file(event, kind);
	collector->wait = (struct fx_why_wait){
	    .begin = event->ts,
	    .end = end,
	    .word = event->word & FX_MAX_WORD,
	    .provider = event->provider & FX_MAX_PROVIDERS,
	    .kind = (uint8_t)(timed_out ? FX_WAIT_SLEEP : kind),
	    .timed_out = timed_out,
	    .from.thread = FX_WHY_NOBODY,
	    .caller = past_caller(collector),
	    .holder = past_holder(collector, event),
	};
}
