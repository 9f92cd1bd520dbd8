/* SPDX-License-Identifier: MIT */
#include "manager/archive/marks.h"

#include <stdlib.h>
#include <string.h>

#include "manager/archive/own.h"

#define DROPPED_NAME "records dropped"

static uint64_t marks_to_ns(struct fx_stream *s, uint64_t ticks)
{
	return fx_timebase_ns(&s->shared->timebase, ticks);
}

/* --- Losses ---------------------------------------------------------------------------------- */

/* `length`: of the time from the first to the last of them. */
static void dropped_instant(struct fx_stream *s, struct fx_stream_thread *t, enum fx_cause cause,
			    uint64_t count, uint64_t ns, uint64_t length)
{
	struct fxt_record record = fx_stream_event(s, t, FXT_EVENT_INSTANT, ns);

	record.event.name = fx_own_text(DROPPED_NAME);
	record.nargs = 4;
	record.args[0] = fx_own_uint64("count", count);
	record.args[1] = fx_own_uint64("length_ns", length);
	record.args[2] = fx_own_string("cause", fx_loss_word(cause));
	record.args[3] = fx_own_string("cure", s->shared->cures[cause]);
	fx_archive_record(&s->shared->archive, &record);
}

/* The process's losses so far, as a counter. */
static void dropped_counter(struct fx_stream *s, struct fx_stream_thread *t, uint64_t ns)
{
	struct fxt_record record;

	/* Threads tell of their losses in no order; the sum of them never falls. */
	if (ns < s->dropped_at)
		ns = s->dropped_at;
	s->dropped_at = ns;
	record = fx_stream_event(s, t, FXT_EVENT_COUNTER, ns);
	record.event.name = fx_own_text(DROPPED_NAME);
	record.nargs = 1;
	record.args[0] = fx_own_uint64("count", s->dropped_before + s->counts.dropped);
	fx_archive_record(&s->shared->archive, &record);
}

static void marks_count_loss(struct fx_stream *s, enum fx_cause cause, uint64_t count)
{
	fx_loss_add(&s->counts.dropped, count);
	fx_loss_add(&s->counts.lost[cause], count);
}

/* Writes down that `count` more records of a thread were lost between two times in ticks. */
static void mark_loss(struct fx_stream *s, struct fx_stream_thread *t, enum fx_cause cause,
		      uint64_t count, uint64_t first, uint64_t last)
{
	uint64_t from = marks_to_ns(s, first), to = marks_to_ns(s, last);

	if (cause == FX_CAUSE_FULL)
		fx_archive_provider_event(&s->shared->archive, s->id);
	if (!t || from > INT64_MAX || to > INT64_MAX) {
		marks_count_loss(s, cause, count);
		return;
	}
	dropped_counter(s, t, from);
	marks_count_loss(s, cause, count);
	dropped_instant(s, t, cause, count, from, to < from ? 0 : to - from);
	dropped_counter(s, t, to < from ? from : to);
}

/*
 * Whether a thread can have lost so many more: hardly one in each nanosecond of the session. A provider that says so
 * of one of its threads is not believed in any more of what it has lost.
 */
static bool is_plausible(struct fx_stream *s, uint64_t count)
{
	uint64_t now = fx_boottime_ns(), began = s->shared->timebase.first.ns;

	if (!s->liar && count > (now > began ? now - began : 0)) {
		s->liar = true;
		s->counts.lost[FX_CAUSE_INVALID]++;
	}
	return !s->liar;
}

void fx_marks_clock(struct fx_stream *s, enum fx_timebase_finding found, int64_t by, uint64_t ns)
{
	bool jumped = found == FX_TIMEBASE_JUMP;
	struct fx_stream_thread *t = fx_stream_thread(s, s->first_tid);
	struct fxt_record record;

	if (!t || ns > INT64_MAX)
		return;
	record = fx_stream_event(s, t, FXT_EVENT_INSTANT, ns);
	record.event.name = fx_own_text(jumped ? "clock jumps" : "clock changes its rate");
	record.nargs = 1;
	record.args[0] = fx_own_int64(jumped ? "by_ns" : "by_ppm", by);
	fx_archive_record(&s->shared->archive, &record);
}

static struct fx_stream_slot *slot_get(struct fx_stream *s, uint32_t index)
{
	if (index >= FX_THREADS_MAX)
		return NULL;
	if (index >= s->slot_count) {
		uint32_t count = s->slot_count ? s->slot_count : 8;
		struct fx_stream_slot *slots;

		while (count <= index)
			count *= 2;
		slots = realloc(s->slots, count * sizeof(*slots));
		if (!slots)
			return NULL;
		memset(slots + s->slot_count, 0, (count - s->slot_count) * sizeof(*slots));
		s->slots = slots;
		s->slot_count = count;
	}
	return &s->slots[index];
}

static void slot_own(struct fx_stream *s, struct fx_stream_slot *slot, struct fx_stream_thread *t)
{
	struct fx_stream_thread *before = slot->owner;

	slot->owner = t;
	if (t)
		fx_stream_thread_hold(s, t);
	if (before)
		fx_stream_thread_release(s, before);
}

/* More ticks than a nanosecond has. */
#define MARK_DISTANCE 8u

/*
 * Where the mark of the newest losses stands, in ticks: where their row began, or, if that was told, at
 * the newest one. No two marks of a thread stand at one time, for viewers would nest them; and what
 * the facts say may be older than the count, which the thread raises first.
 */
static uint64_t losses_begin(const struct fx_stream_slot *slot, uint64_t first, uint64_t last)
{
	uint64_t at = last;

	if (first > slot->marked)
		at = first;
	return at > slot->marked ? at : slot->marked + MARK_DISTANCE;
}

/* Losses of a gap that are not written down yet: at most `*left` of them. */
static void mark_gap(struct fx_stream *s, struct fx_stream_slot *slot,
		     const struct fx_thread_facts *facts, uint64_t first, uint64_t last,
		     uint64_t *left)
{
	for (unsigned i = 0; i < FX_LOSSES && *left; i++) {
		uint64_t count;

		if (facts->lost[i] <= slot->lost[i] || !is_plausible(s, facts->lost[i]))
			continue;
		count = facts->lost[i] - slot->lost[i];
		if (count > *left)
			count = *left;
		slot->marked = losses_begin(slot, first, last);
		mark_loss(s, slot->owner, i, count, slot->marked, last);
		slot->lost[i] += count;
		*left -= count;
	}
}

/* Writing has gone on, and may have stopped again: the losses are those of two gaps. */
static void mark_losses(struct fx_stream *s, struct fx_stream_slot *slot,
			const struct fx_thread_facts *facts)
{
	uint64_t known = 0, left = UINT64_MAX;

	for (unsigned i = 0; i < FX_LOSSES; i++)
		fx_loss_add(&known, slot->lost[i]);
	if (facts->gap_total > slot->gap_total) {
		uint64_t before = facts->gap_total > known ? facts->gap_total - known : 0;

		slot->gap_total = facts->gap_total;
		mark_gap(s, slot, facts, facts->gap_first, facts->gap_last, &before);
	}
	mark_gap(s, slot, facts, facts->dropped_first, facts->dropped_last, &left);
}

void fx_marks_thread(struct fx_stream *s, uint32_t index, const struct fx_thread_facts *facts)
{
	struct fx_stream_slot *slot = slot_get(s, index);
	struct fx_stream_thread *t;

	if (!slot) {
		fx_stream_lose(s, -ENOMEM);
		return;
	}
	t = fx_stream_thread(s, facts->tid);
	slot_own(s, slot, t);
	if (t && facts->name[0])
		fx_stream_thread_rename(s, t, facts->name, sizeof(facts->name));
	mark_losses(s, slot, facts);
	if (facts->too_deep > slot->too_deep && is_plausible(s, facts->too_deep)) {
		fx_loss_add(&s->counts.lost[FX_CAUSE_DEEP], facts->too_deep - slot->too_deep);
		slot->too_deep = facts->too_deep;
	}
	if (facts->too_short > slot->too_short && is_plausible(s, facts->too_short)) {
		fx_loss_add(&s->counts.brief, facts->too_short - slot->too_short);
		slot->too_short = facts->too_short;
	}
}

/* --- The end --------------------------------------------------------------------------------- */

/* How many can hardly be more at one time. */
#define UNSLOTTED_THREADS (1u << 22)

/* Any thread that stands in the archive: the process's own if it does. */
static struct fx_stream_thread *some_thread(struct fx_stream *s)
{
	return fx_stream_thread(s, s->first_tid);
}

static void heap_counter(struct fx_stream *s, struct fx_stream_thread *t, uint64_t ns,
			 int64_t bytes, int64_t blocks)
{
	struct fxt_record record = fx_stream_event(s, t, FXT_EVENT_COUNTER, ns);

	record.event.category = fx_own_text("heap");
	record.event.name = fx_own_text("heap");
	record.nargs = 2;
	record.args[0] = fx_own_int64("bytes", bytes);
	record.args[1] = fx_own_int64("blocks", blocks);
	fx_archive_record(&s->shared->archive, &record);
}

/* Of threads without a slot nobody knows which they were. */
static void mark_unslotted(struct fx_stream *s, const struct fx_stream_end *end)
{
	for (unsigned i = 0; i < FX_LOSSES; i++) {
		uint64_t count = end->unslotted[i];

		if (count && is_plausible(s, count / UNSLOTTED_THREADS))
			mark_loss(s, some_thread(s), i, count, end->ticks, end->ticks);
	}
}

/* What the manager has counted itself, or a process without saying when: the archive has it in its end. */
static void mark_uncounted(struct fx_stream *s, uint64_t ns)
{
	static const enum fx_cause causes[] = {
	    FX_CAUSE_DEEP,    FX_CAUSE_INVALID, FX_CAUSE_CROSSING, FX_CAUSE_OUTLASTING,
	    FX_CAUSE_VIRTUAL, FX_CAUSE_UNBEGUN, FX_CAUSE_UNHELD};
	struct fx_stream_thread *t = some_thread(s);

	for (unsigned i = 0; t && i < FX_ARRAY_LEN(causes); i++) {
		enum fx_cause cause = causes[i];

		if (s->counts.lost[cause] && !(cause == FX_CAUSE_DEEP && s->shared->shallow))
			dropped_instant(s, t, cause, s->counts.lost[cause], ns, 0);
	}
}

/* What came after that is lost, and nobody knows how much it was. */
static void mark_given_up(struct fx_stream *s, uint64_t ticks)
{
	uint64_t ns = marks_to_ns(s, ticks);
	struct fx_stream_thread *t = some_thread(s);
	struct fxt_record record;

	fx_loss_add(&s->counts.lost[FX_CAUSE_GIVEN_UP], 1);
	if (!t || ns > INT64_MAX)
		return;
	record = fx_stream_event(s, t, FXT_EVENT_INSTANT, ns);
	record.event.name = fx_own_text("tracing ends");
	record.nargs = 2;
	record.args[0] = fx_own_string("cause", fx_loss_word(FX_CAUSE_GIVEN_UP));
	record.args[1] = fx_own_string("cure", s->shared->cures[FX_CAUSE_GIVEN_UP]);
	fx_archive_record(&s->shared->archive, &record);
}

void fx_marks_last(struct fx_stream *s, const struct fx_stream_end *end)
{
	uint64_t ns = marks_to_ns(s, end->ticks);
	struct fx_stream_thread *t;

	if (end->broken)
		s->counts.lost[FX_CAUSE_INVALID]++;
	if (end->starved)
		fx_stream_lose(s, -ENOMEM);
	if (end->absent)
		s->counts.lost[end->limited ? FX_CAUSE_LIMITED : FX_CAUSE_EARLY]++;
	if (end->unfollowed && is_plausible(s, end->unfollowed))
		fx_loss_add(&s->counts.lost[FX_CAUSE_UNFOLLOWED], end->unfollowed);
	if (end->given_up)
		mark_given_up(s, end->given_up);
	if (ns > INT64_MAX)
		return;
	mark_unslotted(s, end);
	mark_uncounted(s, ns);
	/* Of a process that has never allocated anything there is nothing to tell. */
	if (!end->heap_bytes && !end->heap_blocks && !s->has_heap)
		return;
	t = some_thread(s);
	if (t)
		heap_counter(s, t, ns, end->heap_bytes, end->heap_blocks);
}
