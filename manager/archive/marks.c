/* SPDX-License-Identifier: MIT */
#include "manager/archive/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "format/encode.h"
#include "manager/archive/firsts.h"
#include "manager/archive/stashed.h"
#include "manager/archive/wording.h"

#define DROPPED_NAME "records dropped"

static struct fxt_string marks_text(const char *s)
{
	return fx_string_inline(s, strlen(s));
}

static struct fxt_arg arg_uint64(const char *name, uint64_t value)
{
	return (struct fxt_arg){.type = FXT_ARG_UINT64, .name = marks_text(name), .uint64 = value};
}

static struct fxt_arg marks_arg_text(const char *name, const char *value)
{
	return (struct fxt_arg){
	    .type = FXT_ARG_STRING, .name = marks_text(name), .string = marks_text(value)};
}

static struct fxt_arg arg_int64(const char *name, int64_t value)
{
	return (struct fxt_arg){.type = FXT_ARG_INT64, .name = marks_text(name), .int64 = value};
}

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

	record.event.name = marks_text(DROPPED_NAME);
	record.nargs = 4;
	record.args[0] = arg_uint64("count", count);
	record.args[1] = arg_uint64("length_ns", length);
	record.args[2] = marks_arg_text("cause", fx_loss_word(cause));
	record.args[3] = marks_arg_text("cure", s->shared->cures[cause]);
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
	record.event.name = marks_text(DROPPED_NAME);
	record.nargs = 1;
	record.args[0] = arg_uint64("count", s->dropped_before + s->counts.dropped);
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
	record.event.name = marks_text(jumped ? "clock jumps" : "clock changes its rate");
	record.nargs = 1;
	record.args[0] = arg_int64(jumped ? "by_ns" : "by_ppm", by);
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

/* --- Open calls ------------------------------------------------------------------------------ */

/* Smallest value that is a header word and not an address. */
#define HEADER_MIN (UINT64_C(1) << 48)

#define NAMES_MASK (FXT_PUT(EVENT_CATEGORY, ~0) | FXT_PUT(EVENT_NAME, ~0))

/* A call's record is written before its frame is taken off: between the two, the record counts. */
static bool is_recorded(const struct fx_stream_thread *t, const struct fx_frame *frame)
{
	for (unsigned i = 0; i < FX_RECENT; i++) {
		const struct fx_recent *recent = &t->recent[i];

		if (recent->start != frame->start)
			continue;
		if (frame->id >= HEADER_MIN && ((recent->header ^ frame->id) & NAMES_MASK) == 0)
			return true;
		if (frame->id < HEADER_MIN && recent->address == frame->id)
			return true;
	}
	return false;
}

/* A name that stands in the archive, or a text instead. */
static struct fxt_string known_or(struct fx_stream *s, uint64_t ref, const char *otherwise)
{
	int to = ref & FXT_STRING_INLINE ? -1 : fx_names_ref(&s->names, NULL, (uint32_t)ref);

	return to < 0 ? marks_text(otherwise) : fx_string_indexed((unsigned)to);
}

/* What an open call was: its category and name, as the archive has them. */
static void name_call(struct fx_stream *s, const struct fx_frame *frame,
		      char function[FX_MODULES_TEXT_MAX], struct fxt_event *ret)
{
	if (frame->id < HEADER_MIN) {
		size_t length = fx_modules_name(&s->modules, fx_modules_moment(&s->modules),
						frame->id, function);

		ret->category = marks_text("function");
		ret->name = fx_string_inline(function, length);
	} else {
		ret->category =
		    known_or(s, FXT_GET(frame->id, EVENT_CATEGORY), FX_MANAGER_CATEGORY);
		ret->name = known_or(s, FXT_GET(frame->id, EVENT_NAME), "(unknown)");
	}
}

/* Texts of a struct fx_stream_exec, as they go into the archive. */
struct exec_room {
	char texts[2][FX_ESCAPE_WIDTH * sizeof(((struct fx_stream_exec *)NULL)->texts[0])];
};

/* What it was to execute, if it is the call that was told of. `room` is for its texts. */
static void add_exec(const struct fx_stream_exec *exec, uint32_t tid, const struct fx_frame *frame,
		     struct exec_room *room, struct fxt_record *record)
{
	static const char *const names[] = {"path", "argv"};

	if (!exec || !exec->start || exec->start != frame->start || exec->tid != tid)
		return;
	for (unsigned i = 0; i < FX_ARRAY_LEN(names); i++) {
		size_t length = fx_escape(room->texts[i], sizeof(room->texts[i]), exec->texts[i],
					  exec->lengths[i], 0);

		if (length)
			record->args[record->nargs++] =
			    (struct fxt_arg){.type = FXT_ARG_STRING,
					     .name = marks_text(names[i]),
					     .string = fx_string_inline(room->texts[i], length)};
	}
}

/* The name of a call that is no function's; NULL: it is not known. */
static const char *call_name(const struct fx_stream *s, const struct fx_frame *frame)
{
	const struct fx_name *name = NULL;

	if (frame->id >= HEADER_MIN)
		name = fx_names_find(&s->names, NULL, (uint32_t)FXT_GET(frame->id, EVENT_NAME));
	return name && name->kind == FX_NAME_TEXT ? name->text : NULL;
}

/* What a call was called with first; false: that is not known. */
static bool first_of_call(const struct fx_stream *s, const struct fx_frame *frame,
			  struct fxt_arg *ret)
{
	const char *name = call_name(s, frame);

	return name && fx_first_arg(name, frame->key, ret);
}

/* Whether an argument of fx_first_arg(), whose name is one of C's strings, is the address of what is waited for. */
static bool is_object(const struct fxt_arg *arg)
{
	return arg->type == FXT_ARG_POINTER &&
	       fx_meaning_of_word(arg->name.data) == FX_MEANING_OBJECT;
}

/* Words that go with an open call into the archive. */
struct open_room {
	char object_word[40], object[FX_MODULES_TEXT_MAX], taken[FX_MODULES_TEXT_MAX];
};

static void add_first(struct fx_stream *s, const struct fx_frame *frame, struct open_room *room,
		      struct fxt_record *record)
{
	struct fxt_arg *first = &record->args[record->nargs];
	uint32_t moment = fx_modules_moment(&s->modules);

	if (!first_of_call(s, frame, first))
		return;
	record->nargs++;
	if (!is_object(first) || !fx_modules_has_name(&s->modules, moment, first->uint64))
		return;
	snprintf(room->object_word, sizeof(room->object_word), "%s_name", first->name.data);
	fx_modules_name(&s->modules, moment, first->uint64, room->object);
	record->args[record->nargs++] = marks_arg_text(room->object_word, room->object);
}

/* Whether the piece says where the lock that the call waits for was taken. */
static bool knows_taken(const struct fx_piece *piece, const struct fx_frame *frame)
{
	return piece->held_at >= FX_HELD_AT_MIN && fx_holder_of(piece->holder, frame->start);
}

static void add_taken(struct fx_stream *s, uint64_t at, struct open_room *room,
		      struct fxt_record *record)
{
	uint32_t moment = fx_modules_moment(&s->modules);

	record->args[record->nargs++] =
	    (struct fxt_arg){.type = FXT_ARG_POINTER, .name = marks_text("taken"), .uint64 = at};
	if (!fx_modules_has_name(&s->modules, moment, at - 1))
		return;
	fx_modules_caller(&s->modules, moment, at, room->taken);
	record->args[record->nargs++] = marks_arg_text("taken_name", room->taken);
}

/* Who had the lock that the call waits for, as the wait began, and since where. */
static void add_holder(struct fx_stream *s, const struct fx_piece *piece,
		       const struct fx_frame *frame, struct open_room *room,
		       struct fxt_record *record)
{
	uint32_t tid = fx_holder_of(piece->holder, frame->start);
	const struct fx_stream_thread *t = tid ? fx_stream_thread_known(s, tid) : NULL;

	if (!tid)
		return;
	record->args[record->nargs++] = (struct fxt_arg){.type = FXT_ARG_INT32,
							 .name = marks_text("holder"),
							 .int32 = (int32_t)(t ? t->shown : tid)};
	if (t)
		record->args[record->nargs++] =
		    marks_arg_text("holder_name", t->name[0] ? t->name : s->name);
	if (knows_taken(piece, frame))
		add_taken(s, piece->held_at, room, record);
}

static size_t frames_count(const struct fx_piece *piece)
{
	return piece->bytes / sizeof(struct fx_frame);
}

bool fx_marks_frames_are_named(struct fx_stream *s, const struct fx_piece *piece,
			       const struct fx_frame *frames)
{
	struct fxt_arg first;

	for (size_t i = 0; i < frames_count(piece); i++) {
		if (frames[i].id < HEADER_MIN)
			fx_modules_want(&s->modules, fx_modules_moment(&s->modules), frames[i].id);
		else if (first_of_call(s, &frames[i], &first) && is_object(&first))
			fx_modules_want_known(&s->modules, first.uint64);
		if (knows_taken(piece, &frames[i]))
			fx_modules_want_known(&s->modules, piece->held_at - 1);
	}
	return fx_modules_are_ready(&s->modules);
}

static bool is_unwanted(struct fx_stream *s, const struct fx_frame *frame)
{
	const char *functions = s->names.functions;

	return functions && frame->id < HEADER_MIN &&
	       !fx_modules_is_wanted(&s->modules, fx_modules_moment(&s->modules), frame->id,
				     functions);
}

/* `index': the frame's. */
static void open_call(struct fx_stream *s, struct fx_stream_thread *t, size_t index,
		      const struct fx_piece *piece, const struct fx_frame *frame, uint64_t start,
		      uint64_t end)
{
	char function[FX_MODULES_TEXT_MAX];
	struct fx_stashed_room stashed;
	struct open_room room;
	struct exec_room exec_room;
	struct fxt_record record;

	if (start > end || is_unwanted(s, frame) || !fx_stream_nests(s, t, &start, end))
		return;
	record = fx_stream_event(s, t, FXT_EVENT_DURATION_COMPLETE, start);
	record.event.end_time = end;
	name_call(s, frame, function, &record.event);
	fx_stashed_add(s, index, frame, &stashed, &record);
	/* The library's own calls stash nothing; of a provider that does, there might be no room for more. */
	if (record.nargs == 0) {
		add_first(s, frame, &room, &record);
		add_holder(s, piece, frame, &room, &record);
		add_exec(s->exec, t->tid, frame, &exec_room, &record);
	}
	fx_stream_unfinished(s, &record);
	s->counts.events++;
}

/* In pairs mode a function's begin stands in the archive already. */
static bool is_pair(const struct fx_stream *s, const struct fx_frame *frame)
{
	return s->shared->pairs && frame->id < HEADER_MIN;
}

/* How many frames lie inside one another, as an engine leaves them. */
static size_t count_nested(const struct fx_frame *frames, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (frames[i].start < frames[i - 1].start)
			return i;
	}
	return count;
}

/* A thread may be told of twice at one stop: its number was another's, who left without a word. */
static void stop_note(struct fx_stop *stop, uint64_t ticks, uint64_t ns)
{
	if (stop->ns && stop->ticks == ticks) {
		stop->ns = ns > stop->ns ? ns : stop->ns;
		return;
	}
	stop->before = stop->ns;
	stop->ticks = ticks;
	stop->ns = ns;
	stop->count++;
	memset(stop->told, 0, sizeof(stop->told));
}

void fx_marks_frames(struct fx_stream *s, const struct fx_piece *piece,
		     const struct fx_frame *frames, uint64_t end_ticks)
{
	struct fx_stream_thread *t = fx_stream_thread(s, piece->serial);
	uint64_t end = marks_to_ns(s, end_ticks);
	size_t count = count_nested(frames, frames_count(piece));

	if (!t || end > INT64_MAX)
		return;
	if (end < t->last_end)
		end = t->last_end;
	stop_note(&t->stop, end_ticks, end);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = marks_to_ns(s, frames[i].start);

		if (is_pair(s, &frames[i]) || is_recorded(t, &frames[i]) || start <= t->stop.before)
			continue;
		/* The first is a sentinel, and not told. */
		open_call(s, t, i + 1, piece, &frames[i], start, end);
		t->stop.told[t->stop.told_next++ % FX_RECENT] = start;
	}
	fx_stream_end_begun(s, t, 0, end);
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

	record.event.category = marks_text("heap");
	record.event.name = marks_text("heap");
	record.nargs = 2;
	record.args[0] = arg_int64("bytes", bytes);
	record.args[1] = arg_int64("blocks", blocks);
	fx_archive_record(&s->shared->archive, &record);
}

/* Of threads without a slot nobody knows who they were. */
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
	static const enum fx_cause causes[] = {FX_CAUSE_DEEP, FX_CAUSE_INVALID, FX_CAUSE_CROSSING,
					       FX_CAUSE_UNHELD};
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
	record.event.name = marks_text("tracing ends");
	record.nargs = 2;
	record.args[0] = marks_arg_text("cause", fx_loss_word(FX_CAUSE_GIVEN_UP));
	record.args[1] = marks_arg_text("cure", s->shared->cures[FX_CAUSE_GIVEN_UP]);
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
	/* Of who has never allocated anything there is nothing to tell. */
	if (!end->heap_bytes && !end->heap_blocks && !s->has_heap)
		return;
	t = some_thread(s);
	if (t)
		heap_counter(s, t, ns, end->heap_bytes, end->heap_blocks);
}
