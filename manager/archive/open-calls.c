/* SPDX-License-Identifier: MIT */
#include "manager/archive/open-calls.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "manager/archive/begun.h"
#include "manager/archive/firsts.h"
#include "manager/archive/loose-flows.h"
#include "manager/archive/own.h"
#include "manager/archive/scope.h"
#include "manager/archive/stashed.h"
#include "manager/archive/transfers.h"
#include "manager/archive/wording.h"

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

	return to < 0 ? fx_own_text(otherwise) : fx_string_indexed((unsigned)to);
}

/* What an open call was: its category and name, as the archive has them. */
static void name_call(struct fx_stream *s, const struct fx_frame *frame,
		      char function[FX_MODULES_TEXT_MAX], struct fxt_event *ret)
{
	if (frame->id < HEADER_MIN) {
		size_t length = fx_modules_name(&s->modules, fx_modules_moment(&s->modules),
						frame->id, function);

		ret->category = fx_own_text("function");
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
					     .name = fx_own_text(names[i]),
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
	char object_word[40], object[FX_MODULES_TEXT_MAX], taken[FX_MODULES_CALLER_MAX];
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
	record->args[record->nargs++] = fx_own_string(room->object_word, room->object);
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

	record->args[record->nargs++] = fx_own_pointer("taken", at);
	if (!fx_modules_has_name(&s->modules, moment, at - 1))
		return;
	fx_modules_caller(&s->modules, moment, at, room->taken);
	record->args[record->nargs++] = fx_own_string("taken_name", room->taken);
}

/* The thread that had the lock that the call waits for, as the wait began, and since where. */
static void add_holder(struct fx_stream *s, const struct fx_piece *piece,
		       const struct fx_frame *frame, struct open_room *room,
		       struct fxt_record *record)
{
	uint32_t tid = fx_holder_of(piece->holder, frame->start);
	const struct fx_stream_thread *t = tid ? fx_stream_thread_known(s, tid) : NULL;

	if (!tid)
		return;
	record->args[record->nargs++] = fx_own_pid("holder", t ? t->shown : tid);
	if (t)
		record->args[record->nargs++] =
		    fx_own_string("holder_name", t->name[0] ? t->name : s->name);
	if (knows_taken(piece, frame))
		add_taken(s, piece->held_at, room, record);
}

static size_t frames_count(const struct fx_piece *piece)
{
	return piece->bytes / sizeof(struct fx_frame);
}

bool fx_open_calls_are_named(struct fx_stream *s, const struct fx_piece *piece,
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

static struct fx_pattern_verdict verdict_of_open(struct fx_stream *s, const struct fx_frame *frame)
{
	const char *functions = s->shared->functions.text;

	if (!functions || frame->id >= HEADER_MIN)
		return (struct fx_pattern_verdict){.chosen = true};
	return fx_modules_judge(&s->modules, fx_modules_moment(&s->modules), frame->id, functions);
}

/* Writes an open call's record; whether it stays may depend on what the call lies in. */
static void open_call_write(struct fx_stream *s, const struct fx_stream_thread *t,
			    const struct fx_frame *frame, struct fx_pattern_verdict verdict,
			    struct fxt_record *record)
{
	struct fx_scope_call call = {
	    .start = record->event.timestamp,
	    .end = record->event.end_time,
	    .verdict = verdict,
	    .unfinished = true,
	};

	if (s->scope)
		call.at = fx_scope_held(s->scope);
	fx_stream_unfinished(s, record);
	s->counts.events++;
	if (s->scope && frame->id < HEADER_MIN && fx_scope_note(s->scope, t->tid, &call) < 0)
		fx_stream_lose(s, -ENOMEM);
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
	struct fx_pattern_verdict verdict = verdict_of_open(s, frame);

	if (start > end || verdict.spare || !fx_stream_nests(s, t, &start, end))
		return;
	fx_begun_end_within(s, t, start, end);
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
	open_call_write(s, t, frame, verdict, &record);
	if (s->loose_is_due)
		fx_loose_settle(s);
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

/* A thread may be told of twice at one stop: its number was another thread's, which left without a word. */
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

void fx_open_calls_write(struct fx_stream *s, const struct fx_piece *piece,
			 const struct fx_frame *frames, uint64_t end_ticks)
{
	struct fx_timebase *timebase = &s->shared->timebase;
	struct fx_stream_thread *t = fx_stream_thread(s, piece->serial);
	uint64_t end = fx_timebase_ns(timebase, end_ticks);
	size_t count = count_nested(frames, frames_count(piece));

	if (!t || end > INT64_MAX)
		return;
	if (end < t->last_end)
		end = t->last_end;
	stop_note(&t->stop, end_ticks, end);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = fx_timebase_ns(timebase, frames[i].start);

		if (is_pair(s, &frames[i]) || is_recorded(t, &frames[i]) || start <= t->stop.before)
			continue;
		if (frames[i].id >= HEADER_MIN)
			fx_transfers_open(s, (uint32_t)FXT_GET(frames[i].id, EVENT_NAME),
					  frames[i].key, start, end);
		/* The first is a sentinel, and not told. */
		open_call(s, t, i + 1, piece, &frames[i], start, end);
		t->stop.told[t->stop.told_next++ % FX_RECENT] = start;
	}
	fx_stream_end_begun(s, t, 0, end);
}

void fx_open_calls_look(struct fx_stream *s, const struct fx_piece *piece,
			const struct fx_frame *frames)
{
	size_t count = count_nested(frames, frames_count(piece));

	for (size_t i = 0; i < count; i++) {
		uint64_t start = fx_timebase_ns(&s->shared->timebase, frames[i].start);

		if (frames[i].id < HEADER_MIN &&
		    fx_scope_open(s->scope, (uint32_t)piece->serial, start, frames[i].id,
				  &s->modules) < 0)
			fx_stream_lose(s, -ENOMEM);
	}
}
