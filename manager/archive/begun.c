/* SPDX-License-Identifier: MIT */
#include "manager/archive/begun.h"

#include <stdlib.h>
#include <string.h>

uint64_t fx_begun_function(const struct fx_rewriting *w, uint64_t header)
{
	const struct fx_name *name =
	    fx_names_find(&w->s->names, fx_rewriting_locals(w), FXT_GET(header, EVENT_NAME));

	return w->s->shared->pairs && name && name->kind == FX_NAME_ADDRESS ? name->address : 0;
}

bool fx_begun_is_owed(const struct fx_rewriting *w, uint64_t header)
{
	return w->s->shared->pairs && FXT_GET(header, EVENT_NAME) == 0 &&
	       FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END &&
	       fx_rewriting_is_name(w, FXT_GET(header, EVENT_CATEGORY), "function");
}

/* What handlers have recorded may come later. */
void fx_begun_push(struct fx_stream_thread *t, struct fx_begun begun)
{
	uint32_t at = t->depth++;

	fx_peaks_note(&t->begun_levels, begun.ns, t->depth);
	if (at == t->begun_room && at < FX_BEGUN_MAX) {
		uint32_t room = at ? 2 * at : 8;
		struct fx_begun *begun = realloc(t->begun, room * sizeof(*begun));

		if (!begun)
			return;
		t->begun = begun;
		t->begun_room = room;
	}
	if (at >= t->begun_room)
		return;
	for (; at && t->begun[at - 1].ns > begun.ns; at--)
		t->begun[at] = t->begun[at - 1];
	t->begun[at] = begun;
}

/* What an end says of itself. */
struct ended {
	uint64_t ns, function;
	bool is_owed; /* by the innermost call */
	uint16_t category, name;
};

static bool is_ended(const struct fx_begun *begun, const struct ended *e)
{
	if (begun->ns > e->ns)
		return false;
	if (e->is_owed || e->function)
		return begun->address && (e->is_owed || begun->address == e->function);
	return !begun->address && begun->category == e->category && begun->name == e->name;
}

/* Which of the begins it ends, counted from 1; 0: none. A slice of the program's own ends no call. */
static uint32_t begun_find(const struct fx_stream_thread *t, const struct ended *e)
{
	uint32_t at = t->depth;

	if (at > t->begun_room)
		return at;
	for (; at; at--) {
		const struct fx_begun *begun = &t->begun[at - 1];

		if (is_ended(begun, e))
			return at;
		if (begun->address && begun->ns <= e->ns && !e->function && !e->is_owed)
			return 0;
	}
	return 0;
}

/* What lies in it, and the oldest, are forgotten. */
static void ended_note(struct fx_stream_thread *t, const struct fx_begun *begun, uint64_t ns)
{
	struct fx_ended *ended = &t->ended;

	while (ended->count && ended->slices[ended->count - 1].start >= begun->ns)
		ended->count--;
	if (ended->count == FX_ENDED_MAX) {
		ended->count--;
		memmove(&ended->slices[0], &ended->slices[1],
			ended->count * sizeof(ended->slices[0]));
	}
	ended->slices[ended->count++] = (struct fx_interval){begun->ns, ns};
}

/* Ends what lies inside and has begun before; what comes late and began after it goes on. */
static void begun_close(struct fx_rewriting *w, struct fx_stream_thread *t, uint32_t at,
			uint64_t ns)
{
	uint32_t inner = at;

	while (inner < t->depth && inner < t->begun_room && t->begun[inner].ns <= ns)
		inner++;
	if (at <= t->begun_room && !t->begun[at - 1].address)
		ended_note(t, &t->begun[at - 1], ns);
	if (inner == t->depth) {
		fx_stream_end_begun(w->s, t, at, ns);
		t->depth--;
		return;
	}
	t->depth--;
	if (t->depth < t->begun_room)
		memmove(&t->begun[at - 1], &t->begun[at], (t->depth - at + 1) * sizeof(*t->begun));
}

/*
 * An end is of the begin that it names, so that no slices cross whatever was lost. False: that one is lost, as was
 * counted then, or was left out as too deep, or has been ended with the call that it lies in.
 */
bool fx_begun_end(struct fx_rewriting *w, struct fx_stream_thread *t, uint64_t header, uint64_t ns)
{
	const struct ended e = {
	    .ns = ns,
	    .function = fx_begun_function(w, header),
	    .is_owed = fx_begun_is_owed(w, header),
	    .category = (uint16_t)FXT_GET(w->words[0], EVENT_CATEGORY),
	    .name = (uint16_t)FXT_GET(w->words[0], EVENT_NAME),
	};
	uint32_t at;

	if (t->depth > FX_BEGUN_MAX) {
		t->depth--;
		return false;
	}
	at = begun_find(t, &e);
	if (!at)
		return false;
	if (at <= t->begun_room && (e.is_owed || e.function)) {
		w->words[0] &= ~(FXT_PUT(EVENT_CATEGORY, ~0) | FXT_PUT(EVENT_NAME, ~0));
		w->words[0] |= FXT_PUT(EVENT_CATEGORY, t->begun[at - 1].category) |
			       FXT_PUT(EVENT_NAME, t->begun[at - 1].name);
	}
	begun_close(w, t, at, ns);
	return true;
}

/* The end of a slice whose begin is not there: it was overwritten in a circular buffer, or lost, or
 * came before tracing began. A slice that nobody can show is no loss of its own. */
bool fx_begun_is_end_alone(const struct fx_rewriting *w)
{
	uint64_t header = w->words[0];
	const struct fx_stream_thread *t = fx_rewriting_thread(w);

	return t && t->depth == 0 && FXT_GET(header, EVENT_TYPE) == FXT_EVENT_DURATION_END &&
	       FXT_GET(header, EVENT_THREAD) == FX_CHUNK_THREAD_INDEX;
}

/* Of what the program has begun; calls are cut where they were left. */
static void begun_count_cut(struct fx_stream *s, const struct fx_stream_thread *t, uint32_t first,
			    uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		s->counts.lost[FX_CAUSE_OUTLASTING] += !t->begun[i].address;
}

/* What comes late, from a handler, may lie before others that have begun since. */
void fx_begun_end_since(struct fx_stream *s, struct fx_stream_thread *t, uint64_t start,
			uint64_t end)
{
	uint32_t known = t->depth < t->begun_room ? t->depth : t->begun_room;
	uint32_t first, last = known, later;

	while (last && t->begun[last - 1].ns >= end)
		last--;
	for (first = last; first && t->begun[first - 1].ns > start;)
		first--;
	begun_count_cut(s, t, first, last);
	if (last == known) {
		fx_stream_end_begun(s, t, first, end);
		return;
	}
	later = t->depth - last;
	t->depth = last;
	fx_stream_end_begun(s, t, first, end);
	memmove(&t->begun[first], &t->begun[last], (known - last) * sizeof(*t->begun));
	t->depth = first + later;
}
